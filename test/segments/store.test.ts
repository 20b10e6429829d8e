import { chmod, mkdir, readdir, readFile, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DamagedSegmentError, openSegmentStore, type SegmentStore } from "../../src/segments/store.js";
import { temporaryFolder } from "../support/folders.js";

const MEGABYTE = 1 << 20;
const info = { rows: 7, extent: { bytes: 9, crc: 4_000_000_000 } };

/** Bytes that differ at every position. */
const bytesOf = (length: number): Buffer =>
  Buffer.from(Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 9)) % 251));

async function keep(store: SegmentStore, key: string, pieces: readonly Buffer[]): Promise<void> {
  const writer = (await store.create([key], true))!;
  for (const piece of pieces) await writer.write([piece]);
  await writer.finish(info);
}

async function contentOf(store: SegmentStore, key: string): Promise<Buffer | null> {
  const segment = await store.open([key]);
  if (segment === null) return null;
  const pieces: Uint8Array[] = [];
  for await (const piece of segment.pieces()) pieces.push(piece);
  return Buffer.concat(pieces);
}

test.each([1, 701, MEGABYTE - 1, MEGABYTE, MEGABYTE + 1, 3 * MEGABYTE, 2_500_000])(
  "%i bytes are read as they were written, with their extent",
  async (length) => {
    const store = await openSegmentStore(join(await temporaryFolder(), "segments"), 1e9);
    const content = bytesOf(length);
    await keep(store, "a", [content.subarray(0, 700), content.subarray(700)]);
    const segment = (await store.open(["a"]))!;
    expect({ rows: segment.rows, extent: segment.extent }).toEqual(info);
    await segment.close();
    expect((await contentOf(store, "a"))!.equals(content)).toBe(true);
    expect(await store.open(["b"])).toBeNull();
  },
);

test("another process with the same folder finds cached segments", async () => {
  const folder = join(await temporaryFolder(), "segments");
  await keep(await openSegmentStore(folder, 1e9), "a", [bytesOf(100)]);
  expect((await contentOf(await openSegmentStore(folder, 1e9), "a"))!.length).toBe(100);
});

test("a segment that was abandoned or not finished is absent and leaves no file", async () => {
  const folder = join(await temporaryFolder(), "segments");
  const store = await openSegmentStore(folder, 1e9);
  const writer = (await store.create(["a"], true))!;
  await writer.write([bytesOf(100)]);
  expect(await store.open(["a"])).toBeNull();
  expect(await store.create(["a"], true)).toBeNull();
  await writer.abandon();
  await writer.finish(info);
  expect(await store.open(["a"])).toBeNull();
  expect(await readdir(folder)).toEqual([]);
});

test("one wrong bit anywhere is found before its bytes are handed out, and the segment goes", async () => {
  for (const at of [MEGABYTE + 5, 2 * MEGABYTE + 1]) {
    const folder = join(await temporaryFolder(), "segments");
    const store = await openSegmentStore(folder, 1e9);
    const content = bytesOf(2 * MEGABYTE + 10);
    await keep(store, "a", [content]);
    const [name] = await readdir(folder);
    const damaged = await readFile(join(folder, name!));
    damaged[at]! ^= 4;
    await writeFile(join(folder, name!), damaged);
    const got: Uint8Array[] = [];
    const segment = (await store.open(["a"]))!;
    await expect(
      (async () => {
        for await (const piece of segment.pieces()) got.push(piece);
      })(),
    ).rejects.toThrow(DamagedSegmentError);
    const sent = Buffer.concat(got);
    expect(sent.equals(content.subarray(0, sent.length))).toBe(true);
    expect(sent.length).toBeLessThanOrEqual(at);
    expect(await store.open(["a"])).toBeNull();
  }
});

test("a file that is cut short, or whose index is damaged, counts as absent", async () => {
  for (const length of [0, 3, 20, 90, 128]) {
    const folder = join(await temporaryFolder(), "segments");
    const store = await openSegmentStore(folder, 1e9);
    await keep(store, "a", [bytesOf(100)]);
    const [name] = await readdir(folder);
    await truncate(join(folder, name!), length);
    expect(await store.open(["a"])).toBeNull();
    expect(await readdir(folder)).toEqual([]);
  }
});

test("a wrong bit at its start counts as absence", async () => {
  const folder = join(await temporaryFolder(), "segments");
  const store = await openSegmentStore(folder, 1e9);
  await keep(store, "a", [bytesOf(MEGABYTE + 10)]);
  const [name] = await readdir(folder);
  const damaged = await readFile(join(folder, name!));
  damaged[3]! ^= 4;
  await writeFile(join(folder, name!), damaged);
  expect(await store.open(["a"])).toBeNull();
  expect(await readdir(folder)).toEqual([]);
});

test("the least recently used segments are removed when the cache is full", async () => {
  const folder = join(await temporaryFolder(), "segments");
  const store = await openSegmentStore(folder, 250_000);
  await keep(store, "a", [bytesOf(100_000)]);
  await keep(store, "b", [bytesOf(100_000)]);
  for (const name of await readdir(folder)) await utimes(join(folder, name), 1000, 1000);
  await contentOf(store, "a");
  await keep(store, "c", [bytesOf(100_000)]);
  await expect.poll(async () => (await readdir(folder)).length).toBe(2);
  expect(await contentOf(store, "b")).toBeNull();
  expect([await contentOf(store, "a"), await contentOf(store, "c")].every((found) => found !== null)).toBe(true);
  await expect.poll(() => store.figures().entries).toBe(2);
});

test("unless it is stored at once, a segment is stored when it is missing for the second time", async () => {
  const store = await openSegmentStore(join(await temporaryFolder(), "segments"), 1e9);
  expect(await store.create(["a"], false)).toBeNull();
  expect(await store.create(["b"], false)).toBeNull();
  const writer = await store.create(["a"], false);
  expect(writer).not.toBeNull();
  await writer!.abandon();
});

test("a folder that others can write to is not used", async () => {
  const folder = join(await temporaryFolder(), "segments");
  await mkdir(folder);
  await chmod(folder, 0o777);
  await expect(openSegmentStore(folder, 1e9)).rejects.toThrow("can be written by others");
});

test("a store without capacity caches nothing", async () => {
  const folder = join(await temporaryFolder(), "segments");
  const store = await openSegmentStore(folder, 0);
  expect(await store.create(["a"], true)).toBeNull();
  expect(await store.open(["a"])).toBeNull();
});
