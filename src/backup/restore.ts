// Restores a backup into an empty data directory. The pointer is written last: until then nothing opens the directory.
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { OperatorError } from "../errors.js";
import { isAbsent, namesIn, readOrNone, unreadable } from "../files.js";
import { DamagedFileError } from "../lake/damaged-file.js";
import { layoutOf, type Layout } from "../lake/layout.js";
import { RESTORING } from "../lake/kept-versions.js";
import { makeFolderIn, syncPath, temporaryOf, writeDurably } from "../durable.js";
import { isLakeFile } from "../store/journal.js";
import { withLock } from "../lock.js";
import { isBucketAddress } from "../objects/address.js";
import { mirrorOf } from "../lake/mirror/mirror.js";
import { realPathOf } from "./backup.js";
import { fetchBackup } from "./bucket.js";
import { restoreIntoBucket } from "./into-bucket.js";
import { explainCopying, placeFile, problemOf, syncFolders, type CopyTarget } from "./copy.js";
import { isBackupPath, MANIFEST, placeOf, readManifest, type BackupManifest } from "./format.js";
import { entriesOf } from "./tar.js";

export interface RestoreReport {
  readonly data_version: string;
  readonly versions: number;
  /** Data files, and the bytes of all files. */
  readonly files: number;
  readonly bytes: number;
  /** ISO 8601: when the backup was made. */
  readonly created: string;
}

/** Gets the file that is restored, the bytes done, and all of them; 0 if unknown. */
type OnRestore = (what: string, bytes: number, total: number) => void;

/** Gets the path of each data file when it is in the data directory; may take it away. */
type OnDataFile = (path: string) => Promise<void>;

/**
 * Restores a backup, a folder or a tar archive, into a data directory that is missing or empty, or that an earlier
 * restore did not finish. `input` is read if `source` is `-`.
 */
export async function restore(
  source: string,
  root: string,
  input: NodeJS.ReadStream,
  onFile: OnRestore = () => undefined,
  onDataFile: OnDataFile = async () => undefined,
): Promise<RestoreReport> {
  const layout = layoutOf(root);
  const mirror = await mirrorOf(layout);
  const into = (folder: string, send: OnDataFile): Promise<RestoreReport> =>
    restore(source, folder, input, onFile, send);
  if (mirror !== null) return restoreIntoBucket(mirror, layout, into);
  if (isBucketAddress(source)) return restoreFromBucket(source, root, input, onFile, onDataFile);
  const archive = await openSource(source, input);
  await requireEmpty(layout);
  const [backup, data] = [await realPathOf(resolve(source)), await realPathOf(resolve(root))];
  if (!archive && !/^\.\.($|[\\/])/.test(relative(backup, data)))
    throw new OperatorError(`${root} is within the backup: name another data directory`, 2);
  const work = async (): Promise<RestoreReport> => {
    await requireEmpty(layout);
    await syncPath(dirname(resolve(root)));
    await writeDurably(layout.pointer, RESTORING);
    const unpacked = join(root, UNPACKED);
    for (const name of await leftovers(layout)) await rm(name, { recursive: true, force: true });
    await mkdir(unpacked);
    const folder = archive ? unpacked : source;
    if (archive) await unpack(archive, source, unpacked, onFile);
    const manifest = await requireManifest(folder, source);
    const from = { folder, source, moves: archive !== null };
    const report = await copyFiles(manifest, from, layout, onFile, onDataFile);
    await rm(unpacked, { recursive: true });
    await writeDurably(layout.pointer, `${manifest.sequence}\n`);
    return report;
  };
  return withLock(layout.writeLock, work, 0).catch((error: unknown) => {
    throw explainCopying(error, root);
  });
}

/** Fetches the backup into a folder beside the data directory first. */
async function restoreFromBucket(
  source: string,
  root: string,
  input: NodeJS.ReadStream,
  onFile: OnRestore,
  onDataFile: OnDataFile,
): Promise<RestoreReport> {
  const folder = `${resolve(root)}.backup`;
  await mkdir(folder, { recursive: true });
  await fetchBackup(source, folder, onFile);
  const report = await restore(folder, root, input, onFile, onDataFile);
  await rm(folder, { recursive: true });
  return report;
}

/** Where an archive is unpacked, and copies are made. */
const UNPACKED = ".restoring";

type Archive = AsyncIterable<Uint8Array>;

/** Resolves to the content of an archive; to null for a folder, whose manifest was then checked. */
async function openSource(source: string, input: NodeJS.ReadStream): Promise<Archive | null> {
  if (source === "-") return input;
  const found = await stat(source).catch((error: unknown) => {
    if (isAbsent(error)) throw new OperatorError(`there is no backup ${source}`);
    throw unreadable(source, error);
  });
  if (!found.isDirectory()) {
    await (await open(source)).close();
    return createReadStream(source, { highWaterMark: 1 << 20 });
  }
  const manifest = await requireManifest(source, source);
  for (const file of manifest.files) {
    const size = await stat(join(source, file.path)).then(
      (stats) => stats.size,
      () => null,
    );
    if (size === null) throw damaged(source, file.path, "the file is missing");
    if (size !== file.bytes) throw damaged(source, file.path, `the file has ${size} bytes instead of ${file.bytes}`);
  }
  return null;
}

async function requireManifest(folder: string, source: string): Promise<BackupManifest> {
  const manifest = await readManifest(folder);
  if (manifest) return manifest;
  const { pointer } = layoutOf(folder);
  if ((await readOrNone(pointer)) !== undefined)
    throw new OperatorError(`${source} is a data directory, not a backup: it can be served as it is, with --data`);
  throw new OperatorError(`${source} holds no complete backup: ${MANIFEST} is missing`);
}

const damaged = (source: string, path: string, reason: string): OperatorError =>
  new OperatorError(`${path} of the backup ${source} is damaged (${reason}): use another backup`);

/** What may be in a directory that counts as empty: the inbox is no part of a backup. */
const ALLOWED = new Set(["inbox", "lost+found"]);

async function requireEmpty({ root, state, pointer, writeLock }: Layout): Promise<void> {
  const names = await readdir(root).catch((error: unknown): string[] => {
    if (isAbsent(error)) return [];
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") throw new OperatorError(`${root} is a file, not a folder`);
    throw unreadable(root, error);
  });
  const others = names.filter((name) => !ALLOWED.has(name));
  if (others.length === 0 || (await readOrNone(pointer)) === RESTORING) return;
  // A restore that was interrupted before it wrote the pointer.
  const isOurs = (path: string): boolean => path.startsWith(writeLock) || path === temporaryOf(pointer);
  const isBegun = others.join() === "state" && (await namesIn(state)).every((name) => isOurs(join(state, name)));
  if (isBegun) return;
  throw new OperatorError(
    `${root} is not empty (it holds ${others.slice(0, 3).join(", ")}): restore into a new directory with --data, ` +
      `or move ${root} away first`,
  );
}

/** What an interrupted restore left, except for data files, which need not be copied again. */
async function leftovers({ root, state, pointer, writeLock }: Layout): Promise<readonly string[]> {
  const paths = (await namesIn(state)).map((name) => join(state, name));
  return [join(root, UNPACKED), ...paths.filter((path) => path !== pointer && !path.startsWith(writeLock))];
}

/** Unpacks the files of a backup. What else is in the archive is skipped. */
async function unpack(archive: Archive, source: string, folder: string, onFile: OnRestore): Promise<void> {
  let bytes = 0;
  for await (const { name, size, content } of entriesOf(archive, source)) {
    if (name !== MANIFEST && !isBackupPath(name)) continue;
    onFile(`unpacking ${name}`, bytes, 0);
    const path = join(folder, name);
    if (name !== MANIFEST) await makeFolderIn(folder, relative(folder, dirname(path)));
    const handle = await open(path, "w");
    try {
      for await (const piece of content) await handle.writeFile(piece);
    } finally {
      await handle.close();
    }
    bytes += size;
  }
}

interface From {
  /** The folder with the files of the backup. */
  readonly folder: string;
  /** Its name in messages. */
  readonly source: string;
  /** Whether the files are moved out of the folder. */
  readonly moves: boolean;
}

async function copyFiles(
  manifest: BackupManifest,
  { folder, source, moves }: From,
  layout: Layout,
  onFile: OnRestore,
  onDataFile: OnDataFile,
): Promise<RestoreReport> {
  const { root } = layout;
  const target: CopyTarget = { root, incoming: join(root, UNPACKED), folders: new Set() };
  const total = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  let bytes = 0;
  for (const file of manifest.files) {
    onFile(`restoring ${file.path}`, bytes, total);
    const to = placeOf(manifest, file.path);
    const isThere = (await problemOf(join(root, to), file).catch(() => "missing")) === null;
    if (!isThere) {
      await placeFile(target, join(folder, file.path), to, file, moves).catch((error: unknown) => {
        throw error instanceof DamagedFileError ? damaged(source, error.path, error.reason) : error;
      });
    }
    if (isDataFile(file)) await onDataFile(join(root, to));
    bytes += file.bytes;
  }
  await removeOthers(layout, new Set(manifest.files.map(({ path }) => placeOf(manifest, path))));
  await syncFolders(target);
  await syncPath(layout.state);
  const { data_version, versions, created } = manifest;
  return { data_version, versions, files: manifest.files.filter(isDataFile).length, bytes, created };
}

const isDataFile = ({ path }: { readonly path: string }): boolean => path.endsWith(".parquet");

/** Removes data files that an interrupted restore of another backup left. */
async function removeOthers({ root, lake }: Layout, named: ReadonlySet<string>): Promise<void> {
  await mkdir(lake, { recursive: true });
  const entries = await readdir(lake, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = relative(root, join(entry.parentPath, entry.name)).replaceAll("\\", "/");
    if (entry.isFile() && isLakeFile(path) && !named.has(path)) await rm(join(root, path));
  }
}
