import { existsSync, readdirSync } from "node:fs";
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openScratch } from "../../src/processes/scratch.js";
import { temporaryFolder } from "../support/folders.js";

test("every worker has a folder of its own, and all are removed at the end", async () => {
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

test("what a crash left long ago is removed; what is in use, and what is not ours, stays", async () => {
  const root = await temporaryFolder();
  const longAgo = new Date(Date.now() - 3_600_000);
  for (const name of ["server-left", "server-running", "other"]) {
    await mkdir(join(root, name));
    await writeFile(join(root, name, "spilled"), "");
    if (name !== "server-running") await utimes(join(root, name), longAgo, longAgo);
  }
  const scratch = await openScratch(root);
  await scratch.close();
  expect(readdirSync(root).sort()).toEqual(["other", "server-running"]);
});
