// Backups of a lake that is written, compacted and vacuumed all the time, and copies of it made by hand.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { compact } from "../../src/store/compact.js";
import { vacuum } from "../../src/store/vacuum.js";
import { repair } from "../../src/repair/repair.js";
import { verify } from "../../src/repair/verify.js";
import { backUp, restored } from "../support/backup.js";
import { temporaryFolder } from "../support/folders.js";
import { size } from "../support/size.js";
import { dropFactors, MEMORY, servedRows } from "../support/upkeep.js";

vi.setConfig({ testTimeout: 300_000 });

const BACKUPS = size("BACKUPS", 3, 12);

const line = (i: number): string => `00000${1 + (i % 5)}.SZ,${20230101 + (i % 7) * 10_000},${i}`;

/** Runs `work` again and again until `isOver`. Resolves to how often. */
async function repeat(isOver: () => boolean, work: (i: number) => Promise<unknown>): Promise<number> {
  let i = 0;
  while (!isOver()) await work(i++);
  return i;
}

interface Writers {
  /** The rows since each import, oldest first. Compaction changes none. */
  readonly known: readonly (readonly [data_version: string, rows: readonly string[]])[];
  /** Ends the writers. Resolves to how often the least busy one has written. */
  end(): Promise<number>;
}

/** Imports, compacts and vacuums until it is ended. A vacuum keeps the newest versions. */
async function write(root: string, keep: number): Promise<Writers> {
  const known: [string, readonly string[]][] = [];
  const importOne = async (i: number): Promise<void> => {
    const { version } = await dropFactors(root, [line(i), line(i + 3)]);
    // Only this loop changes rows.
    if (version) known.push([version.data_version, await servedRows(root)]);
  };
  await importOne(0);
  let over = false;
  const isOver = (): boolean => over;
  const work = Promise.all([
    repeat(isOver, (i) => importOne(i + 1)),
    repeat(isOver, () => compact(root, MEMORY)),
    repeat(isOver, () => vacuum(root, { olderThan: 0, keep, now: new Date() })),
  ]);
  return {
    known,
    async end() {
      over = true;
      return Math.min(...(await work));
    },
  };
}

/** Resolves when two further imports have ended: what a copy holds is then known. */
const untilKnown = ({ known }: Writers): Promise<void> => {
  const before = known.length;
  return vi.waitFor(() => expect(known.length).toBeGreaterThan(before + 1), { timeout: 60_000 });
};

test("every backup holds exactly the rows of its version, whatever is imported, joined and removed meanwhile", async () => {
  const [root, places] = [await temporaryFolder(), await temporaryFolder()];
  const writers = await write(root, 2);
  const made = new Set<string>();
  try {
    for (let i = 0; i < BACKUPS; i++) {
      const place = i % 2 === 0 ? join(places, "folder") : join(places, `${i}.tar`);
      const { data_version } = await backUp(root, place);
      made.add(data_version);
      const again = await restored(place);
      expect((await openLake(again)).current().version.data_version).toBe(data_version);
      await untilKnown(writers);
      const rows = writers.known.findLast(([version]) => version <= data_version)![1];
      expect(await servedRows(again)).toEqual(rows);
    }
  } finally {
    expect(await writers.end()).toBeGreaterThan(0);
  }
  expect(made.size).toBeGreaterThan(1);
  expect((await verify(root, { deep: true, ...MEMORY })).faults).toEqual([]);
});

test("a copy by hand in the documented order is whole after a repair", async () => {
  const root = await temporaryFolder();
  const writers = await write(root, 1_000);
  // Files may vanish while they are copied: temporary ones, and those of the journal.
  const copy = (script: string): Promise<unknown> => promisify(execFile)("sh", ["-c", script]).catch(() => undefined);
  try {
    for (let i = 0; i < BACKUPS; i++) {
      const to = await temporaryFolder();
      await copy(`cp -a '${root}/lake' '${to}/'`);
      await copy(`cp -a '${root}/state' '${to}/'; rm -f '${to}'/state/*.lock*`);
      await copy(`cp -a '${root}/lake' '${to}/'`);
      await repair(to, { ...MEMORY, deep: false, giveUp: false });
      expect((await verify(to, { deep: true, ...MEMORY })).faults).toEqual([]);
      await untilKnown(writers);
      expect(writers.known.map(([, rows]) => rows)).toContainEqual(await servedRows(to));
    }
  } finally {
    await writers.end();
  }
});
