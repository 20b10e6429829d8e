// A folder as a store: what its files are like, and what happens if it is missing, full of leftovers or closed.
import { spawnSync } from "node:child_process";
import { chmod, mkdir, readdir, rename, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { OperatorError } from "../../src/errors.js";
import { UnreachableError } from "../../src/objects/errors.js";
import type { ObjectStore } from "../../src/objects/object-store.js";
import { openObjects } from "../../src/objects/open.js";
import { collect } from "../support/collect.js";
import { temporaryFolder } from "../support/folders.js";
import { canHideLinks, withoutLinks } from "../support/no-links.js";

const text = (value: string): Buffer => Buffer.from(value);

const keysOf = async (store: ObjectStore): Promise<string[]> => (await collect(store.list(""))).map(({ key }) => key);

test("keeps each object as a file at the path of its key", async () => {
  const folder = await temporaryFolder();
  const store = await openObjects(folder);
  await store.put("lake/daily/a.parquet", text("x"));
  await writeFile(join(folder, "lake/daily/b.parquet"), "yy");
  expect(await keysOf(store)).toEqual(["lake/daily/a.parquet", "lake/daily/b.parquet"]);
  expect((await store.get("lake/daily/b.parquet"))!.bytes.toString()).toBe("yy");
});

test("leaves no unfinished files behind, and lists none", async () => {
  const folder = await temporaryFolder();
  const store = await openObjects(folder);
  await store.create("a", text("1"));
  await store.create("a", text("2"));
  await store.replaceIf("a", text("3"), "none");
  await expect(store.put("b", { path: join(folder, "absent") })).rejects.toThrow("absent");
  expect(await readdir(join(folder, ".objects/incoming"))).toEqual([]);
  expect(await readdir(join(folder, ".objects/locks"))).toEqual([]);
  await writeFile(join(folder, ".objects/incoming/unfinished"), "");
  expect(await keysOf(store)).toEqual(["a"]);
});

test("removes what a crash left a day ago, and nothing that is being written", async () => {
  const folder = await temporaryFolder();
  const incoming = join(folder, ".objects/incoming");
  await mkdir(incoming, { recursive: true });
  for (const name of ["old", "new"]) await writeFile(join(incoming, name), "");
  const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000);
  await utimes(join(incoming, "old"), twoDaysAgo, twoDaysAgo);
  await (await openObjects(folder)).put("a", text("1"));
  expect(await readdir(incoming)).toEqual(["new"]);
});

test("is unreachable while it is missing, and used again when it is back", async () => {
  const folder = join(await temporaryFolder(), "disk");
  await mkdir(folder);
  const store = await openObjects(folder);
  await store.put("a", text("1"));
  await rename(folder, `${folder}-away`);
  const message = `the folder ${folder} is missing: is its disk mounted?`;
  for (const work of [
    () => store.get("a"),
    () => store.put("a", text("2")),
    () => store.create("b", text("2")),
    () => store.remove(["a"]),
    () => keysOf(store),
  ]) {
    const error = await work().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(UnreachableError);
    expect((error as Error).message).toBe(message);
  }
  await expect(stat(folder)).rejects.toThrow("ENOENT");
  await rename(`${folder}-away`, folder);
  expect((await store.get("a"))!.bytes.toString()).toBe("1");
  await store.put("a", text("2"));
});

test("does not overwrite a folder, nor write below a file", async () => {
  const folder = await temporaryFolder();
  const store = await openObjects(folder);
  await store.put("a/b", text("1"));
  for (const key of ["a", "a/b/c"]) {
    const error = await store.put(key, text("2")).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(OperatorError);
    expect(error).not.toBeInstanceOf(UnreachableError);
  }
  await store.remove(["a", "a/b/c"]);
  expect((await store.get("a/b"))!.bytes.toString()).toBe("1");
});

test("follows no link to a folder while it lists, and ignores links to nothing", async () => {
  const folder = await temporaryFolder();
  const store = await openObjects(folder);
  await store.put("a/b", text("1"));
  await symlink("..", join(folder, "a/loop"));
  await symlink("nothing", join(folder, "a/dangling"));
  expect(await keysOf(store)).toEqual(["a/b"]);
  expect(await store.get("a/dangling")).toBeUndefined();
});

test("says that a file which is to be sent is gone, not that the folder is at fault", async () => {
  const objects = await openObjects(await temporaryFolder());
  const path = join(await temporaryFolder(), "gone.parquet");
  const error = await objects.put("a", { path }).catch((reason: unknown) => reason as Error);
  expect(error).not.toBeInstanceOf(UnreachableError);
  expect((error as Error).message).toBe(`${path} cannot be sent: the file is gone; try again`);
});

test.runIf(process.getuid?.() !== 0)("says which permission is missing", async () => {
  const folder = await temporaryFolder();
  const store = await openObjects(folder);
  await chmod(folder, 0o500);
  await expect(store.put("a", text("1"))).rejects.toThrow(/may not write to/);
  await chmod(folder, 0o700);
});

test.skipIf(!canHideLinks)("creates an object once where the file system has no hard links", async () => {
  const folder = await temporaryFolder();
  const script = join(import.meta.dirname, "../support/object-creators.mjs");
  const env = (await withoutLinks())(95);
  const args = ["--import", import.meta.resolve("tsx"), script, folder];
  const { stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  expect({ stdout, stderr }).toEqual({ stdout: "1 of 20\n", stderr: "" });
  await rm(folder, { recursive: true });
});
