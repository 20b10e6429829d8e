// Makes a backup of a lake while others read and write it. It takes no lock of the lake.
import { randomUUID } from "node:crypto";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { OperatorError } from "../errors.js";
import { isAbsent } from "../files.js";
import { readIdentity, UnavailableError, type Mark } from "../lake/continuity.js";
import { DamagedFileError } from "../lake/damaged-file.js";
import { createIntegrity } from "../lake/integrity.js";
import { openLake, type Lake } from "../lake/lake.js";
import { layoutOf, listFile } from "../lake/layout.js";
import { listsOf } from "../lake/lists.js";
import { DamagedManifestError, type DataFile, type Version } from "../lake/manifest.js";
import { bindingOf, placeOf } from "../lake/mirror/binding.js";
import { mirrorOf } from "../lake/mirror/mirror.js";
import { isBucketAddress } from "../objects/address.js";
import { withBucket } from "./bucket.js";
import { withArchive, withStream } from "./archive.js";
import { isKept, MissingListError, readLists, readState, type Lists } from "./contents.js";
import { explainCopying } from "./copy.js";
import { entryOf, withFolder } from "./folder.js";
import { dataPath, listPath, statePath, type BackupFile, type BackupManifest, type Target } from "./format.js";

export interface BackupOptions {
  /** Check the files that an earlier backup copied into the folder. */
  readonly verify: boolean;
  readonly now: Date;
}

export interface BackupReport {
  /** The served version of the backup. */
  readonly data_version: string;
  readonly versions: number;
  readonly files: number;
  readonly bytes: number;
  /** Data files that were copied this time. */
  readonly copied: { readonly files: number; readonly bytes: number };
  /** Data files of earlier backups that were removed. */
  readonly removed: number;
}

/** Gets the file that is copied, the bytes done, and all of them. */
export type OnBackup = (what: string, bytes: number, total: number) => void;

/** Standard output as the place of a backup. */
export const STDOUT = "-";

/** Makes a backup of the lake in `root` in a folder, in a file that ends in `.tar`, or as an archive on `out`. */
export async function backup(
  root: string,
  place: string,
  options: BackupOptions,
  out: NodeJS.WriteStream,
  onFile: OnBackup = () => undefined,
): Promise<BackupReport> {
  const work = (target: Target): Promise<BackupReport> => copyLake(root, place, target, options.now, onFile);
  if (place === STDOUT) return withStream(out, options.now, work);
  if (isBucketAddress(place)) {
    await requireOtherBucket(root, place);
    return withBucket(place, options.verify, work);
  }
  await requireApart(root, place);
  try {
    return isArchive(place)
      ? await withArchive(place, options.now, work)
      : await withFolder(place, options.verify, work);
  } catch (error) {
    throw explainCopying(error, place);
  }
}

export const isArchive = (place: string): boolean => place.endsWith(".tar");

/** A backup within the data directory, or around it, would be lost with it. */
async function requireApart(root: string, place: string): Promise<void> {
  const [data, other] = [await realPathOf(resolve(root)), await realPathOf(resolve(place))];
  const isWithin = (inner: string, outer: string): boolean => !/^\.\.($|[\\/])/.test(relative(outer, inner));
  if (!isWithin(data, other) && !isWithin(other, data)) return;
  throw new OperatorError(`${place} and the data directory ${root} lie within each other: name another place`, 2);
}

async function requireOtherBucket(root: string, place: string): Promise<void> {
  const mirrored = (await bindingOf(layoutOf(root)))?.address;
  const isWithin = (inner: string, outer: string): boolean => `${inner}/`.startsWith(`${outer}/`);
  if (mirrored === undefined || (!isWithin(mirrored, place) && !isWithin(place, mirrored))) return;
  throw new OperatorError(`${place} and the lake in ${mirrored} lie within each other: name another place`, 2);
}

/** A path without links, even if its last parts do not exist. */
export const realPathOf = (path: string): Promise<string> =>
  realpath(path).catch(async (error: unknown) => {
    if (!isAbsent(error) || dirname(path) === path) throw error;
    return join(await realPathOf(dirname(path)), basename(path));
  });

/** How often the versions are chosen again, because a vacuum removed the newest of them meanwhile. */
const ROUNDS = 5;

/**
 * Copies the kept versions. Their files never change, so only a vacuum can interfere: a version that it removes while it
 * is copied is left out. If that was the newest one, the versions are chosen again, and what was copied is not copied again.
 */
async function copyLake(
  root: string,
  place: string,
  target: Target,
  now: Date,
  onFile: OnBackup,
): Promise<BackupReport> {
  const lake = await openSuccessor(root, place, target.previous);
  const adding = createAdding(lake, target, onFile);
  for (let round = 0; round < ROUNDS; round++) {
    await lake.refresh();
    const versions = await lake.versions();
    if (versions.length === 0)
      throw new OperatorError(
        `the lake in ${await placeOf(lake.layout)} has no version yet, so there is nothing to back up`,
      );
    const chosen = await copyFiles(lake, versions, adding);
    if (!chosen) continue;
    const files = await copyState(lake, chosen, target);
    // The directory must still hold the lake that was opened.
    await lake.requireState();
    const { sequence, data_version } = chosen.versions.at(-1)!;
    const manifest: BackupManifest = {
      ...{ format: 1, lake: lake.mark().id, sequence, data_version, versions: chosen.versions.length },
      ...{ created: now.toISOString(), ...files },
    };
    const data = chosen.files;
    const bytes = data.reduce((sum, file) => sum + file.bytes, 0);
    const removed = await target.complete(manifest);
    return { data_version, versions: manifest.versions, files: data.length, bytes, copied: adding.copied(), removed };
  }
  throw new OperatorError(
    `old versions of the lake are removed faster than they can be copied: wait until vacuum has ended, and try again`,
  );
}

/** Opens the lake if it continues the one in an earlier backup. */
async function openSuccessor(root: string, place: string, previous: BackupManifest | null): Promise<Lake> {
  if (!previous) return openLake(root);
  const { lake, sequence, data_version } = previous;
  const id = await readIdentity(layoutOf(root));
  if (lake !== null && id !== null && lake !== id)
    throw new OperatorError(`${place} holds a backup of another lake: name another folder`);
  const after: Mark = { id: lake, sequence, data_version };
  return openLake(root, { after }).catch(async (error: unknown) => {
    if (!(error instanceof UnavailableError)) throw error;
    throw new OperatorError(
      `${place} holds version ${data_version}, which the lake in ${await placeOf(layoutOf(root))} does not continue: if the backup is the better ` +
        `one, restore it; otherwise name another folder`,
    );
  });
}

interface Chosen {
  /** Oldest first. */
  readonly versions: readonly Version[];
  readonly lists: Lists;
  /** Every data file of these versions, once. */
  readonly files: readonly DataFile[];
}

/** Copies the data files, those of the newest version first. Resolves to null if that version was removed meanwhile. */
async function copyFiles({ layout }: Lake, versions: readonly Version[], adding: Adding): Promise<Chosen | null> {
  const lists = await readLists(layout, versions).catch((error: unknown) => {
    throw describeDamage(error);
  });
  const left: Version[] = [];
  const files = new Map<string, DataFile>();
  // A version without its lists is reported when its turn comes.
  const whole = versions.filter((version) => Object.values(version.lists).every((sha) => lists.texts.has(sha)));
  adding.expect(whole.flatMap((version) => lists.filesOf(version)));
  for (const version of versions.toReversed()) {
    try {
      const own = lists.filesOf(version);
      for (const file of own) await adding.add(file);
      for (const file of own) files.set(file.path, file);
      left.unshift(version);
    } catch (error) {
      const mayBeVacuum = error instanceof MissingListError || (error instanceof DamagedFileError && error.isMissing);
      if (!mayBeVacuum || (await isKept(layout, version))) throw describeDamage(error);
      if (left.length === 0) return null;
    }
  }
  return { versions: left, lists, files: [...files.values()] };
}

/** Adds data files to a backup, each of them once in all rounds, and reports the progress. */
interface Adding {
  /** Starts a round, in which these files are added; a file may occur several times. */
  expect(files: readonly DataFile[]): void;
  add(file: DataFile): Promise<void>;
  /** The files that were not in the backup before. */
  copied(): BackupReport["copied"];
}

function createAdding({ layout }: Lake, target: Target, onFile: OnBackup): Adding {
  const integrity = createIntegrity(layout);
  const done = new Set<string>();
  let copied = { files: 0, bytes: 0 };
  let progress = { bytes: 0, total: 0 };
  return {
    expect(files) {
      const sizes = [...new Map(files.map(({ path, bytes }) => [path, bytes]))];
      const sum = (some: typeof sizes): number => some.reduce((total, [, bytes]) => total + bytes, 0);
      progress = { bytes: sum(sizes.filter(([path]) => done.has(path))), total: sum(sizes) };
    },
    async add(file) {
      if (done.has(file.path)) return;
      onFile(`copying ${file.path}`, progress.bytes, progress.total);
      progress.bytes += file.bytes;
      const held = (await mirrorOf(layout)) === null ? null : await integrity.hold([file]);
      const isNew = await target.addFile(file, join(layout.lake, file.path)).finally(() => held?.leave());
      if (isNew) copied = { files: copied.files + 1, bytes: copied.bytes + file.bytes };
      done.add(file.path);
    },
    copied: () => copied,
  };
}

function describeDamage(error: unknown): unknown {
  if (error instanceof DamagedFileError) {
    const path = error.path.startsWith("lake/") ? error.path : dataPath(error.path);
    return new OperatorError(
      `${path} is damaged (${error.reason}), so no backup was made: run tapehouse verify --repair; if only old versions ` +
        `need the file, remove them with tapehouse vacuum`,
    );
  }
  return error instanceof DamagedManifestError
    ? new OperatorError(`${error.problem}; see: tapehouse verify --repair`)
    : error;
}

/** Copies lists, versions and state files. Resolves to what the manifest says of all files. */
async function copyState(
  lake: Lake,
  { versions, lists, files: data }: Chosen,
  target: Target,
): Promise<Pick<BackupManifest, "state" | "files">> {
  const files: BackupFile[] = data.map(({ path, bytes, sha256 }) => ({ path: dataPath(path), bytes, sha256 }));
  const add = async (path: string, text: string): Promise<void> => {
    files.push(entryOf(path, text));
    await target.addText(path, text);
  };
  const texts = new Map([...listsOf(versions).keys()].flatMap((sha) => [...lists.texts.get(sha)!]));
  for (const [sha, text] of texts) await add(listPath(listFile(sha)), text);
  const state = statePath(`${versions.at(-1)!.sequence}-${randomUUID().slice(0, 8)}`);
  for (const [name, text] of await readState(lake, versions)) await add(`${state}/${name}`, text);
  return { state, files };
}
