// Vacuum: removes old versions, and then the files that only they name.
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { chinaTime } from "../dates.js";
import { OperatorError } from "../errors.js";
import type { Mark } from "../lake/continuity.js";
import { openLake } from "../lake/lake.js";
import { layoutOf, listFile, versionFile, type Layout } from "../lake/layout.js";
import { decodeList, type Version } from "../lake/manifest.js";
import { encodeRemoved, readRemoved } from "../lake/kept-versions.js";
import { plural } from "../words.js";
import { syncPath, writeDurably } from "./durable.js";
import { isLakeFile, journal, nameOf, openJournal } from "./journal.js";
import { publishedAt, removableVersions, type RetentionPolicy } from "./retention.js";
import { withLakeLocked } from "./session.js";
import { clearStaging } from "./staging.js";

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
      await removeVersions(layout, old, oldFiles);
      await journal(layout, garbage);
      await rm(layout.scratch, { recursive: true, force: true });
    }
    return { removed: old.map((version) => version.data_version), kept: kept.length, files: freed.length, bytes };
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
  const { versions } = await readRemoved(layout.removed);
  const removed = new Set([...versions, ...old.map((version) => version.data_version)]);
  await writeDurably(layout.removed, encodeRemoved([...removed].sort()));
  for (const file of files) await rm(file, { force: true });
  await syncPath(layout.versions);
}

/** The lists and data files that these versions need. */
async function namedBy(layout: Layout, versions: readonly Version[]): Promise<ReadonlySet<string>> {
  const named = new Set<string>();
  for (const sha of new Set(versions.flatMap((version) => Object.values(version.lists)))) {
    const path = join(layout.lists, listFile(sha));
    const list = decodeList(await readFile(path, "utf8"), sha);
    named.add(path);
    for (const file of [...list.byDate, ...list.byCode]) named.add(join(layout.lake, file.path));
  }
  return named;
}

/** All existing lists and data files. */
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
