// Vacuum: removes old versions, and then the files that only they name. The retention policy says which versions stay.
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { chinaTime } from "../dates.js";
import { OperatorError, reasonOf } from "../errors.js";
import type { Mark } from "../lake/continuity.js";
import { openLake } from "../lake/lake.js";
import { mirrorOf } from "../lake/mirror/mirror.js";
import { layoutOf, listFile, nameOf, versionFile, type Layout } from "../lake/layout.js";
import { listsOf, namesOf, readList } from "../lake/lists.js";
import type { DataFile, Version } from "../lake/manifest.js";
import { addRemoved } from "../lake/kept-versions.js";
import { plural } from "../words.js";
import { syncPath } from "../durable.js";
import { isLakeFile, journal, openJournal } from "./journal.js";
import { withLakeLocked } from "./session.js";
import { editFile } from "./shared-file.js";
import { clearStaging } from "./staging.js";
import { vacuumBucket } from "./bucket-vacuum.js";
import { cleanTables, followTables } from "./tables.js";

/** Removes the oldest versions, or those that a policy does not keep. */
type VacuumOptions = (OldestFirst | { readonly policy: RetentionPolicy }) & {
  /** Report what would be removed, without removing it. */
  readonly dryRun?: boolean;
  /** The directory must continue this lake. */
  readonly after?: Mark;
  readonly now: Date;
};

interface OldestFirst {
  /**
   * Milliseconds that a version stays after a newer one replaced it, so that running reads can finish: removing a file
   * during a read makes the read fail.
   */
  readonly olderThan: number;
  /** How many of the newest versions stay regardless of age. The served version always stays. */
  readonly keep: number;
  /** The clock is right, even if the newest version was published long ago. */
  readonly trustClock?: boolean;
}

export interface VacuumReport {
  /** Each removed `data_version`, oldest first. */
  readonly removed: readonly string[];
  /** The number of versions that stay. */
  readonly kept: number;
  /** Files removed, versions and lists included. */
  readonly files: number;
  readonly bytes: number;
}

/**
 * A crash at any step leaves every version with its files: first the removed versions are recorded, then their manifest
 * files are removed, and then the data files that no other version needs. The next writer completes the vacuum.
 */
export async function vacuum(root: string, options: VacuumOptions): Promise<VacuumReport> {
  if (!options.dryRun) await clearStaging(layoutOf(root));
  const work = async (layout: Layout): Promise<VacuumReport> => {
    const versions = await (await openLake(root)).versions();
    const old =
      "policy" in options ? removableVersions(versions, options.policy, options.now) : findOld(versions, options);
    const gone = new Set(old);
    const kept = versions.filter((version) => !gone.has(version));
    const needed = await namedBy(layout, kept);
    const found = await filesOf(layout);
    if (versions.length === 0 && found.some((path) => path.startsWith(layout.lake))) {
      throw new OperatorError(
        `${layout.lake} holds files but no version names them: is ${layout.state} the right one?`,
      );
    }
    const garbage = found.filter((path) => !needed.has(path));
    const oldFiles = old.map((version) => join(layout.versions, versionFile(version.sequence)));
    const scratch = await filesBelow(layout.scratch);
    const freed = [...oldFiles, ...garbage, ...scratch];
    const bytes = await sizeOf(freed);
    if (!options.dryRun) {
      // Files that a table still names would otherwise be removed.
      await followTables(layout).catch((error: unknown) => {
        throw new OperatorError(`nothing was removed, since the Delta tables cannot be written: ${reasonOf(error)}`);
      });
      await removeVersions(layout, old, oldFiles);
      await cleanTables(layout);
      await journal(layout, garbage);
      await rm(layout.scratch, { recursive: true, force: true });
    }
    const removed = old.map((version) => version.data_version);
    const mirror = await mirrorOf(layout);
    if (mirror === null) return { removed, kept: kept.length, files: freed.length, bytes };
    const named = (versions: readonly Version[]) => namedBy(layout, versions);
    const inBucket = await vacuumBucket(mirror, layout, { kept, dryRun: options.dryRun ?? false, named });
    return { removed, kept: kept.length, ...inBucket };
  };
  return withLakeLocked(root, openJournal, work, options.after);
}

/**
 * The oldest versions up to the first one that must stay. A clock that runs ahead makes all versions look old: if
 * nothing has been published for long, an OperatorError asks the operator to confirm the clock.
 */
function findOld(
  versions: readonly Version[],
  { olderThan, keep, trustClock = false, now }: OldestFirst & { readonly now: Date },
): readonly Version[] {
  const most = Math.max(0, versions.length - Math.max(1, keep));
  const times = publishedAt(versions, now);
  const isOld = (i: number): boolean => times[i + 1]! + olderThan <= now.getTime();
  let count = 0;
  while (count < most && isOld(count)) count++;
  const idle = now.getTime() - (times.at(-1) ?? now.getTime());
  if (count > 0 && idle > Math.max(olderThan, LONG) && !trustClock) {
    throw new OperatorError(
      `the clock says ${chinaTime(now)}, ${plural(Math.floor(idle / DAY), "day")} after the newest version, so ` +
        `${plural(count, "version")} would be removed: set the clock, or say that it is right with --trust-clock`,
    );
  }
  return versions.slice(0, count);
}

const DAY = 86_400_000;
/** If nothing was published for longer than this, and for longer than `olderThan`, the clock may be wrong. */
const LONG = 7 * DAY;

/** Records the versions as removed, and then removes their files. */
export async function removeVersions(layout: Layout, old: readonly Version[], files: readonly string[]): Promise<void> {
  if (files.length === 0) return;
  const gone = old.map((version) => version.data_version);
  await editFile(layout, layout.removed, layout.removedLock, (text = "") => addRemoved(text, gone));
  for (const file of files) await rm(file, { force: true });
  await syncPath(layout.versions);
}

/** The lists, their parts and the data files that these versions need. */
async function namedBy(layout: Layout, versions: readonly Version[]): Promise<ReadonlySet<string>> {
  const named = new Set<string>();
  const files = new Set<DataFile>();
  for (const [sha, entity] of listsOf(versions)) {
    const list = await readList(layout, sha, entity);
    for (const one of namesOf(list, sha)) named.add(join(layout.lists, listFile(one)));
    // Lists share the files of their common parts.
    for (const file of [...list.byDate, ...list.byCode]) files.add(file);
  }
  for (const { path } of files) named.add(join(layout.lake, path));
  return named;
}

/** All existing lists, parts of lists and data files. */
async function filesOf(layout: Layout): Promise<readonly string[]> {
  const all = [...(await filesBelow(layout.lake)), ...(await filesBelow(layout.lists))];
  return all.filter((path) => isLakeFile(nameOf(layout, path)));
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function sizeOf(paths: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const path of paths) bytes += (await stat(path)).size;
  return bytes;
}

// Retention: all recent versions stay, the newest ones, and the last one of each hour and of each day.

export interface RetentionPolicy {
  /** Milliseconds that every version stays after it was replaced, since reads and pagers may still use it. */
  readonly grace: number;
  /** How many of the newest versions stay regardless of age. */
  readonly newest: number;
  /** Milliseconds that the last version of each calendar day in China stays; null keeps every version. */
  readonly retention: number | null;
}

/** How long the last version of each hour stays, in milliseconds. */
const HOURLY_FOR = 86_400_000;

/** Lengths of the prefixes of a data_version that name its day and its hour. */
const DAY_PREFIX = "1970-01-01".length;
const HOUR_PREFIX = "1970-01-01T00".length;

/** The versions that the policy does not keep. `versions` are the kept ones, oldest first; the last one is served. */
export function removableVersions(
  versions: readonly Version[],
  { grace, newest, retention }: RetentionPolicy,
  now: Date,
): readonly Version[] {
  if (retention === null) return [];
  const times = publishedAt(versions, now);
  const labels = times.map((time) => chinaTime(new Date(time)));
  return versions.slice(0, -Math.max(1, newest)).filter((_, i) => {
    const age = now.getTime() - times[i + 1]!;
    const endsIts = (length: number): boolean => labels[i]!.slice(0, length) !== labels[i + 1]!.slice(0, length);
    return age > grace && !(age <= HOURLY_FOR && endsIts(HOUR_PREFIX)) && !(age <= retention && endsIts(DAY_PREFIX));
  });
}

/**
 * When each version (oldest first) was published, in milliseconds, ascending. A `data_version` in the future comes from a
 * wrong clock, or follows one that does. Then `published` counts, and if that is wrong too, the next known time.
 */
export function publishedAt(versions: readonly Version[], now: Date): readonly number[] {
  let last = -Infinity;
  const known = versions.map(({ data_version, published }) => {
    const time = [data_version, published].map((text) => Date.parse(text ?? "")).find((ms) => ms <= now.getTime());
    if (time !== undefined) last = Math.max(last, time);
    return time === undefined ? undefined : last;
  });
  let next = now.getTime();
  return known.map((_, i) => (next = known.at(-1 - i) ?? next)).reverse();
}

/** If the clock is ahead by more than this, it was set, or the machine was suspended. In milliseconds. */
const JUMP = 60_000;
/** A jump is accepted after this many milliseconds. */
const BELIEVED_AFTER = 86_400_000;

/**
 * The clock by which versions are removed. It advances with `steady` (monotonic milliseconds) and accepts a jump of the
 * wall clock into the future only after a day, so that a clock that is wrong for a while makes no version look old.
 */
export function retentionClock(wall: () => Date, steady: () => number): () => Date {
  let offset = wall().getTime() - steady();
  let aheadSince: number | null = null;
  return () => {
    const at = steady();
    const ahead = wall().getTime() - at - offset;
    aheadSince = ahead > JUMP ? (aheadSince ?? at) : null;
    if (aheadSince === null || at - aheadSince >= BELIEVED_AFTER) {
      offset += ahead;
      aheadSince = null;
    }
    return new Date(at + offset);
  };
}
