// The DuckDB of commands that write.
import { join } from "node:path";
import { expect, test } from "vitest";
import { openWriter } from "../../src/engine/writer.js";
import { temporaryFolder } from "../support/folders.js";

test("work on one thread runs one after another, and the threads are as before when it ends or fails", async () => {
  const writer = await openWriter({
    memory: "100MB",
    tempDirectory: join(await temporaryFolder(), "spill"),
    threads: 3,
  });
  const threads = async () => (await writer.rows("SELECT current_setting('threads') AS n"))[0]!["n"];
  const seen: string[] = [];
  const work = (name: string) => async () => {
    seen.push(`${name} begins`);
    seen.push(`${name} has ${String(await threads())}`);
    if (name === "b") throw new Error("failed");
    return name;
  };
  const done = await Promise.allSettled(["a", "b", "c"].map((name) => writer.onOneThread(work(name))));
  expect(done.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(seen).toEqual(["a begins", "a has 1", "b begins", "b has 1", "c begins", "c has 1"]);
  expect(await threads()).toBe(3);
  writer.close();
});
