// A backup in a folder. Data files stay from one backup to the next; the manifest is replaced last, in one step.
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { OperatorError } from "../errors.js";
import { isAbsent, readOrNone } from "../files.js";
import { sha256 } from "../lake/manifest.js";
import { makeFolderIn, syncPath, writeDurably } from "../durable.js";
import { withLock } from "../lock.js";
import { placeFile, problemOf, syncFolders, type CopyTarget } from "./copy.js";
import {
  dataPath,
  encodeManifest,
  isBackupPath,
  MANIFEST,
  MARKER,
  MARKER_TEXT,
  readManifest,
  type BackupFile,
  type BackupManifest,
  type Target,
} from "./format.js";

/** Opens a folder for a backup, as the only one that writes it. With `verify`, the files in it are read and checked. */
export async function withFolder<T>(path: string, verify: boolean, work: (target: Target) => Promise<T>): Promise<T> {
  const root = resolve(path);
  await requireBackupOrEmpty(root, path);
  await mkdir(root, { recursive: true });
  await syncPath(dirname(root));
  await writeFile(join(root, MARKER), MARKER_TEXT);
  let began = false;
  const inside = async (): Promise<T> => {
    began = true;
    const copies: CopyTarget = { root, incoming: join(root, "incoming"), folders: new Set() };
    await rm(copies.incoming, { recursive: true, force: true });
    await mkdir(copies.incoming);
    try {
      return await work(folderTarget(copies, (await readManifest(root)) ?? null, verify));
    } finally {
      await rm(copies.incoming, { recursive: true, force: true });
    }
  };
  return withLock(join(root, "backup.lock"), inside, 0).catch((error: unknown) => {
    if (began || !(error instanceof OperatorError)) throw error;
    throw new OperatorError(`another backup is being made in ${path}; try again when it has ended`);
  });
}

async function requireBackupOrEmpty(root: string, path: string): Promise<void> {
  const names = await readdir(root).catch((error: unknown): string[] => {
    if (isAbsent(error)) return [];
    if ((error as NodeJS.ErrnoException).code !== "ENOTDIR") throw error;
    throw new OperatorError(`${path} is a file: name a folder, or a new file that ends in .tar`);
  });
  const others = names.filter((name) => name !== "lost+found");
  if (others.length === 0 || names.includes(MARKER)) return;
  throw new OperatorError(`${path} is not empty and holds no backup: name another folder, which need not exist`);
}

function folderTarget(copies: CopyTarget, previous: BackupManifest | null, verify: boolean): Target {
  const { root } = copies;
  const isThere = async (file: BackupFile): Promise<boolean> => {
    const path = join(root, file.path);
    const found = await stat(path).catch(() => undefined);
    return found?.size === file.bytes && (!verify || (await problemOf(path, file)) === null);
  };
  return {
    previous,
    async addFile({ path, bytes, sha256: sum }, from) {
      const file = { path: dataPath(path), bytes, sha256: sum };
      if (await isThere(file)) return false;
      await placeFile(copies, from, file.path, file);
      return true;
    },
    async addText(path, text) {
      const full = join(root, path);
      if ((await readOrNone(full).catch(() => undefined)) === text) return;
      await makeFolderIn(root, relative(root, dirname(full)));
      await writeDurably(full, text);
    },
    async complete(manifest) {
      await syncFolders(copies);
      await writeDurably(join(root, MANIFEST), encodeManifest(manifest));
      return removeOthers(root, manifest);
    },
  };
}

/** Removes the files of earlier backups that this one does not name. Resolves to the number of data files among them. */
async function removeOthers(root: string, manifest: BackupManifest): Promise<number> {
  const named = new Set(manifest.files.map(({ path }) => path));
  let removed = 0;
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, "/");
    const isOther = entry.isFile() && !named.has(path) && isBackupPath(path.replace(/\.tmp$/, ""));
    if (!isOther) continue;
    await rm(join(root, path), { force: true });
    if (path.endsWith(".parquet")) removed++;
  }
  for (const name of await readdir(join(root, "states"))) {
    if (`states/${name}` !== manifest.state) await rm(join(root, "states", name), { recursive: true, force: true });
  }
  return removed;
}

/** The manifest's entry of a text. */
export const entryOf = (path: string, text: string): BackupFile => ({
  path,
  bytes: Buffer.byteLength(text),
  sha256: sha256(text),
});
