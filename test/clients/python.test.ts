// The Python client, and what the pages for its users show, as pytest tests them.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { addGap, excuseGaps } from "../../src/store/gaps.js";
import { createToken } from "../../src/store/tokens.js";
import { demoLake } from "../support/demo.js";
import { noPython, python } from "../support/python.js";
import { serve, TOKEN } from "../support/server.js";
import { isLong } from "../support/size.js";

const root = join(import.meta.dirname, "../..");
const files = ["clients/python/tests", "test/python"].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => /^test_.*\.py$/.test(name))
    .map((name) => `${folder}/${name}`),
);

/** What only the long run needs: packages and types, all ways in which a response may be wrong, processes, examples. */
const SLOW = /test_(?:package|hostile|processes|examples|recipes)\.py$/;

describe.skipIf(noPython !== null)(`pytest${noPython === null ? "" : ` (${noPython})`}`, () => {
  let env: Record<string, string>;

  beforeAll(async () => {
    const lake = await demoLake({ days: 500 });
    // Of a stock that is delisted by then, so that nothing fills it.
    const gap = { start: "20251230", end: "20251231", code: "603288.SH", kind: "timeout" };
    await addGap(lake, entityNamed("daily")!, gap, new Date(0));
    await addGap(lake, entityNamed("weekly")!, gap, new Date(0));
    await excuseGaps(lake, entityNamed("weekly")!, { ...gap, reason: "no trades" }, new Date(0));
    const server = await serve(lake);
    const limited = await serve(lake, { defaultLimit: "500" });
    const other = await createToken(lake, "other", { entities: null, expires: null }, new Date());
    const daily = await createToken(lake, "daily", { entities: ["daily"], expires: null }, new Date());
    env = {
      TAPEHOUSE_URL: server.url,
      TAPEHOUSE_LIMITED_URL: limited.url,
      TAPEHOUSE_TOKEN: TOKEN,
      TAPEHOUSE_OTHER_TOKEN: other,
      TAPEHOUSE_DAILY_TOKEN: daily,
    };
  });

  // To load the packages takes seconds, so one process runs the files that are quick.
  const quick = files.filter((file) => !SLOW.test(file)).join(" ");
  const runs = isLong ? [quick, ...files.filter((file) => SLOW.test(file))] : [quick];

  test.each(runs)("passes %s", { timeout: 300_000 }, async (paths) => {
    const told = await python(["-m", "pytest", "-p", "no:cacheprovider", ...paths.split(" ")], env);
    expect(told).toMatch(/\d+ passed/);
    expect(told).not.toMatch(/failed|error|skipped/);
  });
});
