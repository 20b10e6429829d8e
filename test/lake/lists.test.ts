import { mkdir, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { layoutOf, listFile, type Layout } from "../../src/lake/layout.js";
import { FILES_PER_PART, inspectList, isSameList, listFiles, namesOf, readList } from "../../src/lake/lists.js";
import { fileList, sha256, type DataFile, type FileList } from "../../src/lake/manifest.js";
import { rangesWithout } from "../../src/lake/ordered.js";
import { temporaryFolder } from "../support/folders.js";
import { dayFile, longList, withChangedDay } from "../support/file-lists.js";

async function emptyLake(): Promise<Layout> {
  const layout = layoutOf(await temporaryFolder());
  await mkdir(layout.lists, { recursive: true });
  return layout;
}

/** Writes what a publication would write. Resolves to the checksum of the list, and the bytes written. */
async function store({ lists }: Layout, list: FileList, most?: number): Promise<{ sha: string; bytes: number }> {
  const files = listFiles(list, most);
  let bytes = 0;
  for (const { sha256: name, text } of files) {
    if (text === null) continue;
    await writeFile(join(lists, listFile(name)), text);
    bytes += Buffer.byteLength(text);
  }
  return { sha: files.at(-1)!.sha256, bytes };
}

/** A change of a list: days that get new content, and whether a new code copy of this many files follows. */
interface Step {
  readonly from: number;
  readonly count: number;
  readonly what: "write" | "remove" | "join";
  readonly codeFiles: number;
}

const DAYS = 40;
const steps: fc.Arbitrary<Step> = fc.record({
  from: fc.integer({ min: 0, max: DAYS - 1 }),
  count: fc.integer({ min: 1, max: 12 }),
  what: fc.constantFrom("write", "remove", "join"),
  codeFiles: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 20 })),
});

function changed(list: FileList, { from, count, what, codeFiles }: Step, content: string): FileList {
  const days = Array.from({ length: Math.min(count, DAYS - from) }, (_, i) => dayFile("daily", from + i, content));
  const [first, last] = [days[0]!.first!, days.at(-1)!.last!];
  const left = list.byDate.filter((file) => file.first === null || file.last! < first || file.first > last);
  const joined: DataFile = { ...days[0]!, last, path: `daily/${first}-${last}-${content}`, sha256: sha256(content) };
  const fresh = { write: days, remove: [], join: [joined] }[what];
  const byDate = [...left, ...fresh].sort((a, b) => (a.first! < b.first! ? -1 : 1));
  if (codeFiles === 0 || byDate.length === 0)
    return fileList("daily", byDate, list.byCode, rangesWithout(list.codeRanges, days));
  const byCode = Array.from({ length: codeFiles }, (_, i) => dayFile("daily/by_code", i, content));
  return fileList(
    "daily",
    byDate,
    byCode,
    byDate.map((file) => [file.first!, file.last!]),
  );
}

describe("a list in parts", () => {
  test("has the same files as one that is stored in one file, after any history of changes", async () => {
    const layout = await emptyLake();
    const history = fc.array(steps, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(history, fc.integer({ min: 1, max: 8 }), async (taken, most) => {
        let list = fileList("daily", []);
        for (const [i, step] of taken.entries()) {
          const next = changed(list, step, `${i}`);
          const { sha } = await store(layout, next, most);
          list = await readList(layout, sha, "daily");
          expect(list).toEqual(next);
          expect(namesOf(list, sha)).toEqual([
            sha,
            ...listFiles(next, most)
              .slice(0, -1)
              .map((file) => file.sha256),
          ]);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("depends on its files alone, not on how they came to be", async () => {
    const layout = await emptyLake();
    const list = longList("daily", 3_000);
    const { sha } = await store(layout, list);
    const detour = withChangedDay(await readList(layout, sha, "daily"), 1_500, "other");
    const other = await readList(layout, (await store(layout, detour)).sha, "daily");
    const back = fileList("daily", list.byDate, other.byCode, list.codeRanges);
    expect(isSameList(other, list)).toBe(false);
    expect(isSameList(back, list)).toBe(true);
    expect((await store(layout, structuredClone(back))).sha).toBe(sha);
  });

  test("has no part with too many files, and no more parts than needed", () => {
    const parts = listFiles(longList("daily", 20_000))
      .slice(0, -1)
      .map(({ text }) => (JSON.parse(text!) as { files: readonly DataFile[] }).files.length);
    expect(Math.max(...parts)).toBeLessThanOrEqual(FILES_PER_PART);
    expect(parts.length).toBeLessThan(4 * (22_000 / FILES_PER_PART));
  });

  test("writes only the parts that a change of a few files touches, wherever they are", async () => {
    const layout = await emptyLake();
    const { sha, bytes } = await store(layout, longList("daily", 20_000));
    const list = await readList(layout, sha, "daily");
    const written: number[] = [];
    for (const day of [0, 7, 9_999, 12_345, 19_999]) {
      const next = withChangedDay(list, day, "other");
      const files = listFiles(next).filter(({ text }) => text !== null);
      expect(files.length).toBeLessThanOrEqual(4);
      written.push((await store(layout, next)).bytes);
    }
    expect(Math.max(...written)).toBeLessThan(bytes / 8);
    const grown = fileList("daily", [...list.byDate, dayFile("daily", 20_000)], list.byCode, list.codeRanges);
    expect(listFiles(grown).filter(({ text }) => text !== null).length).toBeLessThanOrEqual(3);
  });

  test("shares its unchanged files with other versions in memory", async () => {
    const layout = await emptyLake();
    const list = await readList(layout, (await store(layout, longList("daily", 5_000))).sha, "daily");
    const next = withChangedDay(list, 100, "other");
    const read = await readList(layout, (await store(layout, next)).sha, "daily");
    const own = read.byDate.filter((file, i) => file !== list.byDate[i]);
    expect(own.length).toBeGreaterThan(0);
    expect(own.length).toBeLessThanOrEqual(2 * FILES_PER_PART);
  });

  test("is read again where a file of it has changed on the disk", async () => {
    const layout = await emptyLake();
    const { sha } = await store(layout, longList("daily", 3_000));
    const list = await readList(layout, sha, "daily");
    const [, part] = namesOf(list, sha);
    const path = join(layout.lists, listFile(part!));
    await writeFile(path, "{}");
    await utimes(path, 1, 1);
    const { faults } = await inspectList(layout, sha, "daily");
    expect(faults.map((fault) => fault.sha256)).toEqual([part]);
    await expect(readList(layout, sha, "daily")).rejects.toThrow(
      `part ${part!.slice(0, 12)} of the file list of daily is damaged; see: tapehouse verify`,
    );
    await rm(path);
    await expect(readList(layout, sha, "daily")).rejects.toThrow(
      `part ${part!.slice(0, 12)} of the file list of daily is gone; see: tapehouse verify`,
    );
  });
});

describe("a short list", () => {
  test("is one file, as in earlier releases", async () => {
    const layout = await emptyLake();
    const list = longList("daily", 900);
    expect(list.byDate.length + list.byCode.length).toBeLessThanOrEqual(FILES_PER_PART);
    const { sha } = await store(layout, list);
    expect(await readdir(layout.lists)).toEqual([listFile(sha256(JSON.stringify(list)))]);
    expect(await readList(layout, sha, "daily")).toEqual(list);
  });

  test("and a long one of an earlier release, in one file, are the same as lists in parts", async () => {
    const layout = await emptyLake();
    const list = longList("daily", 4_000);
    const text = JSON.stringify(list);
    await writeFile(join(layout.lists, listFile(sha256(text))), text);
    const read = await readList(layout, sha256(text), "daily");
    expect(read).toEqual(list);
    expect(isSameList(read, list)).toBe(true);
    const next = withChangedDay(read, 17, "other");
    expect(await readList(layout, (await store(layout, next)).sha, "daily")).toEqual(next);
    expect((await stat(join(layout.lists, listFile(sha256(text))))).size).toBe(text.length);
  });
});
