import { existsSync, readdirSync } from "node:fs";
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openScratch } from "../../src/processes/scratch.js";
import { temporaryFolder } from "../support/folders.js";

test("every worker has its own folder, and all are removed at the end", async () => {
  const root = join(await temporaryFolder(), "new");
  const [one, other] = [await openScratch(root), await openScratch(root)];
  const folders = [one.folder(), one.folder(), other.folder()];
  expect(new Set(folders).size).toBe(3);
  for (const folder of folders) await mkdir(folder);
  await one.close();
  expect(folders.map((folder) => existsSync(folder))).toEqual([false, false, true]);
  await other.close();
  expect(readdirSync(root)).toEqual([]);
});

describe("while a server runs for ten minutes", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  test("leftovers of a crash are removed, whatever their time; folders that are touched or not ours stay", async () => {
    const root = await temporaryFolder();
    const times = {
      "server-left": -3_600,
      "server-future": 73 * 365 * 86_400,
      "server-running": -3_600,
      other: -3_600,
    };
    for (const [name, seconds] of Object.entries(times)) {
      await mkdir(join(root, name));
      await writeFile(join(root, name, "spilled"), "");
      const time = new Date(Date.now() + seconds * 1000);
      await utimes(join(root, name), time, time);
    }
    const scratch = await openScratch(root);
    const [own] = readdirSync(root).filter((name) => !(name in times));
    await vi.advanceTimersByTimeAsync(599_000);
    expect(readdirSync(root).sort()).toEqual([...Object.keys(times), own!].sort());
    await utimes(join(root, "server-running"), new Date(), new Date());
    await vi.advanceTimersByTimeAsync(1_000);
    await vi.waitFor(() => expect(readdirSync(root).sort()).toEqual(["other", own!, "server-running"].sort()));
    await scratch.close();
    expect(readdirSync(root).sort()).toEqual(["other", "server-running"]);
  });
});
