// Publishes in a bucket. Creating the object of the version is the commit: of several writers one succeeds, and the others
// publish on top of it if they changed other entities, or begin again.
import { join } from "node:path";
import { OperatorError } from "../errors.js";
import { openLake, type Snapshot } from "../lake/lake.js";
import { nameOf, versionFile, type Layout } from "../lake/layout.js";
import { encodeVersion, type DataFile, type FileList, type Version } from "../lake/manifest.js";
import type { Mirror } from "../lake/mirror/mirror.js";
import { LostRaceError } from "./contention.js";
import { journalVersion } from "./journal.js";

export interface Publication {
  readonly base: Snapshot;
  /** The lists that differ from the base. */
  readonly changes: readonly FileList[];
  /** Paths of the files that were written for the lists. */
  readonly written: readonly string[];
  /** The version on top of a parent. */
  readonly versionOn: (parent: Version) => Version;
  /** When the base was the newest version, by the monotonic clock. */
  readonly began: number;
}

/**
 * Vacuum removes the objects of versions that are older than a day. A publication that takes longer might create the one
 * after its base again. Milliseconds.
 */
const LONGEST = 12 * 3_600_000;

/** Objects that are sent at the same time. */
const AT_ONCE = 4;

/**
 * Sends the files of a publication, and then its version. Data files are sent even if the
 * bucket has them: a vacuum may be about to remove those that no version names. Throws LostRaceError if one of the
 * entities has changed since `base`.
 */
export async function commit(mirror: Mirror, layout: Layout, publication: Publication): Promise<Version> {
  const { base, changes, written, versionOn, began } = publication;
  const { objects, pull } = mirror;
  const dataFiles = changes.flatMap((list) => newFiles(list, base.files(list.entity)));
  const paths = [...dataFiles.map(({ path }) => join(layout.lake, path)), ...written];
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    await Promise.all(paths.slice(at, at + AT_ONCE).map((path) => objects.put(nameOf(layout, path), { path })));
  }
  for (let parent = base.version; ;) {
    if (performance.now() - began > LONGEST)
      throw new OperatorError("this took more than 12 hours; nothing was changed");
    const version = versionOn(parent);
    await journalVersion(layout, version.sequence);
    const path = join(layout.versions, versionFile(version.sequence));
    const text = encodeVersion(version);
    if ((await objects.create(nameOf(layout, path), Buffer.from(text))) !== undefined) {
      await pull.adopt(version, text);
      return version;
    }
    await pull.versions(true);
    const newest = (await openLake(layout.root)).current().version;
    const isSame = ({ entity }: FileList): boolean => newest.lists[entity] === base.version.lists[entity];
    if (newest.sequence < version.sequence || !changes.every(isSame)) throw new LostRaceError();
    parent = newest;
  }
}

/** The files of a list that the list before it lacks. */
function newFiles(list: FileList, before: FileList): readonly DataFile[] {
  const known = new Set([...before.byDate, ...before.byCode].map(({ path }) => path));
  return [...list.byDate, ...list.byCode].filter(({ path }) => !known.has(path));
}
