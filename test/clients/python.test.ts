// Every file of pytest is a test here: the Python client, and what the pages for its users show.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { demoLake } from "../support/demo.js";
import { noPython, python } from "../support/python.js";
import { serve, TOKEN } from "../support/server.js";

const root = join(import.meta.dirname, "../..");
const files = ["clients/python/tests", "test/python"].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => /^test_.*\.py$/.test(name))
    .map((name) => `${folder}/${name}`),
);

describe.skipIf(noPython !== null)(`pytest${noPython === null ? "" : ` (${noPython})`}`, () => {
  let env: Record<string, string>;

  beforeAll(async () => {
    const lake = await demoLake({ days: 500 });
    const server = await serve(lake);
    const limited = await serve(lake, { defaultLimit: "500" });
    env = { TAPEHOUSE_URL: server.url, TAPEHOUSE_LIMITED_URL: limited.url, TAPEHOUSE_TOKEN: TOKEN };
  });

  test.each(files)("passes %s", { timeout: 300_000 }, async (file: string) => {
    const told = await python(["-m", "pytest", "-p", "no:cacheprovider", file], env);
    expect(told).toMatch(/\d+ passed/);
    expect(told).not.toMatch(/failed|error|skipped/);
  });
});
