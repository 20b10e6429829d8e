// Keeps the serving copies of a lake: makes those that are missing, and removes those that are not needed or do not fit.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openReader, type Reader } from "../engine/reader.js";
import { OperatorError, reasonOf } from "../errors.js";
import { describeRefusal, stampAt } from "../files.js";
import type { Mark } from "../lake/continuity.js";
import { DamagedFileError } from "../lake/damaged-file.js";
import { createIntegrity } from "../lake/integrity.js";
import { type Lake, openLake } from "../lake/lake.js";
import { mirrorOf } from "../lake/mirror/mirror.js";
import { freeSpaceAt } from "../lake/status.js";
import { tryLock } from "../lock.js";
import { claimFolder, makeCopy, makeFolder, removeCopy, removeLeftovers, storedCopies } from "./folder.js";
import { estimatedSize, planCopies, type Source, sourcesOf, totalBytes } from "./plan.js";

export interface CopierOptions {
  readonly folder: string;
  /** Bytes that all copies may have; `auto`: half of what is free or theirs. */
  readonly size: number | "auto";
  /** The lake from which to continue. */
  readonly after?: Mark;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface CopyCount {
  readonly made: number;
  readonly removed: number;
  /** Data files of the served version that still have no copy. */
  readonly missing: number;
  /** Those of them that could not be copied. */
  readonly failed: number;
  readonly bytes: number;
}

/** Milliseconds. */
const LOOK_EVERY = 1_000;
const RETRY_EVERY = 10_000;
const STEP = 5_000;
/** Without a new version, the folder is looked at after this. */
const LOOK_AGAIN_AFTER = 10_000;
/** A file that could not be copied is tried again after this. */
const AGAIN_AFTER = 300_000;

/** Until the signal fires. Whatever fails is logged once and tried again. */
export async function keepCopies(root: string, options: CopierOptions): Promise<void> {
  const { log, signal } = options;
  const rest = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal }).catch(() => undefined);
  let reported = "";
  while (!signal.aborted) {
    try {
      await underLock(root, options, async (step) => {
        while (!signal.aborted) {
          const { made } = await step();
          reported = "";
          if (made === 0) await rest(LOOK_EVERY);
        }
      });
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== reported && !signal.aborted) log(`no serving copies are made: ${reason}`);
      reported = reason;
    }
    // Another process keeps the copies of this folder, or something is in the way.
    await rest(RETRY_EVERY);
  }
}

/** Once, or until the signal fires. Throws an OperatorError if the folder cannot be written, or if another process keeps its copies. */
export async function makeCopies(root: string, options: CopierOptions): Promise<CopyCount> {
  let [made, removed] = [0, 0];
  let last: CopyCount | null = null;
  const ran = await underLock(root, options, async (step) => {
    do {
      last = await step();
      made += last.made;
      removed += last.removed;
    } while (last.made > 0 && !options.signal.aborted);
  });
  if (!ran || last === null) throw new OperatorError(`another process keeps the copies in ${options.folder}`);
  return { ...(last as CopyCount), made, removed };
}

/** Makes copies for a few seconds at most. */
type Step = () => Promise<CopyCount>;

async function underLock(root: string, options: CopierOptions, work: (step: Step) => Promise<void>): Promise<boolean> {
  const { folder, after } = options;
  const lake = await openLake(root, after === undefined ? {} : { after });
  try {
    await makeFolder(folder);
    const keep = async (): Promise<void> => {
      await claimFolder(folder, lake.layout);
      await removeLeftovers(folder);
      const reader = await openReader({
        ...{
          readable: { folder: lake.layout.lake },
          memory: "256MB",
          tempDirectory: join(folder, ".spill"),
          spill: "1GB",
        },
        ...{ threads: 1, concurrency: 1, streams: 1, queue: 0 },
        integrity: createIntegrity(lake.layout, lake.requireState),
      });
      try {
        await work(stepper(lake, reader, (await mirrorOf(lake.layout)) !== null, options));
      } finally {
        await reader.close();
      }
    };
    return await tryLock(join(folder, "lock"), keep, false);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (error instanceof OperatorError || syscall === undefined) throw error;
    throw new OperatorError(describeRefusal(error) ?? `serving copies cannot be kept in ${folder} (${code})`);
  }
}

function stepper(lake: Lake, reader: Reader, isMirror: boolean, { folder, size, log, signal }: CopierOptions): Step {
  /** Bytes of copies that were made, by the checksum of the data file: they may have been removed since. */
  const sizes = new Map<string, number>();
  /** When a data file could not be copied, by its checksum. */
  const failures = new Map<string, number>();
  const hasFailed = ({ file }: Source): boolean =>
    performance.now() - (failures.get(file.sha256) ?? -Infinity) < AGAIN_AFTER;

  const isAvailable = (): Promise<boolean> =>
    lake.refresh().then(
      () => true,
      () => false,
    );

  const tryToMake = async (source: Source): Promise<boolean> => {
    try {
      sizes.set(source.file.sha256, await makeCopy(folder, source, reader, signal));
      return true;
    } catch (error) {
      await spaceOf(folder);
      // Without the data directory no file can be read: that says nothing about this one.
      if (signal.aborted || !(await isAvailable())) return false;
      // Vacuum may have removed the file since.
      if (!(error instanceof DamagedFileError && error.isMissing)) {
        const reason = error instanceof DamagedFileError ? error.reason : reasonOf(error);
        log(`no serving copy of ${source.file.path}: ${reason}`);
      }
      failures.set(source.file.sha256, performance.now());
      return false;
    }
  };

  let looked = { at: -Infinity, sequence: -1 };
  let count: CopyCount = { made: 0, removed: 0, missing: 0, failed: 0, bytes: 0 };

  return async () => {
    const canRead = await isAvailable();
    const { sequence } = lake.current().version;
    const isDue = sequence !== looked.sequence || performance.now() - looked.at > LOOK_AGAIN_AFTER;
    if (count.made === 0 && !isDue) return count;
    looked = { at: performance.now(), sequence };
    const sources = canRead ? sourcesOf(lake.current()) : [];
    const stored = await storedCopies(folder, lake.layout.lake);
    const bytes = totalBytes(stored);
    if (!canRead) return { made: 0, removed: 0, missing: 0, failed: 0, bytes };
    const space = await spaceOf(folder);
    const room = Math.max(0, space.free + bytes - space.reserve);
    const most = size === "auto" ? room / 2 : Math.min(size, room);
    const { missing, removable } = planCopies(
      sources,
      stored,
      most,
      (source) => sizes.get(source.file.sha256) ?? estimatedSize(source),
    );
    for (const copy of removable) await removeCopy(folder, copy);
    const freed = totalBytes(removable);
    let [made, added] = [0, 0];
    const began = performance.now();
    for (const source of missing) {
      if (performance.now() - began > STEP || signal.aborted) break;
      // No file is fetched for its copy.
      if (isMirror && (await stampAt(join(lake.layout.lake, source.file.path))) === "") continue;
      if (hasFailed(source) || !(await tryToMake(source))) continue;
      made++;
      added += sizes.get(source.file.sha256)!;
    }
    const copied = new Set(stored.filter((copy) => !removable.includes(copy)).map(({ path }) => path));
    const without = sources.filter(({ file }) => !copied.has(file.path)).length;
    count = {
      made,
      removed: removable.length,
      missing: without - made,
      failed: missing.filter(hasFailed).length,
      bytes: bytes - freed + added,
    };
    return count;
  };
}

/** Throws an OperatorError if the folder is gone. */
async function spaceOf(folder: string): Promise<NonNullable<Awaited<ReturnType<typeof freeSpaceAt>>>> {
  const space = await freeSpaceAt(folder);
  if (space === undefined) throw new OperatorError(`the folder ${folder} is gone`);
  return space;
}
