// Several processes that write the same object.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openObjects } from "../../src/objects/open.js";
import { temporaryFolder } from "../support/folders.js";
import { hasVersitygw, startBucket } from "../support/versitygw.js";

const PROGRAM = join(import.meta.dirname, "../support/object-process.mjs");
const PROCESSES = 4;
const TIMES = 25;

const PLACES: Readonly<Record<string, () => Promise<readonly [address: string, env: NodeJS.ProcessEnv]>>> = {
  "a folder": async () => [await temporaryFolder(), {}],
  "a bucket": async () => {
    const { name, env } = await startBucket();
    return [`s3://${name}/races`, env];
  },
};

async function count(address: string, key: string, env: NodeJS.ProcessEnv): Promise<void> {
  const args = ["--import", import.meta.resolve("tsx"), PROGRAM, address, key, String(TIMES)];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (piece: string) => (errors += piece));
  const exitCode = await new Promise((resolve) => child.once("close", resolve));
  expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: "" });
}

for (const [kind, place] of Object.entries(PLACES)) {
  describe.skipIf(kind === "a bucket" && !hasVersitygw)(kind, () => {
    test("loses no addition of several processes", async () => {
      const [address, env] = await place();
      const store = await openObjects(address, { env: { ...process.env, ...env } });
      await store.put("count", Buffer.from("0"));
      await Promise.all(Array.from({ length: PROCESSES }, () => count(address, "count", env)));
      expect((await store.get("count"))!.bytes.toString()).toBe(String(PROCESSES * TIMES));
    });
  });
}
