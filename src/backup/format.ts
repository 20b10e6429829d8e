// The form of a backup: which files it has, and the manifest that names them and is written last.
import { join } from "node:path";
import { OperatorError } from "../errors.js";
import { readOrNone } from "../files.js";
import { sha256, type DataFile } from "../lake/manifest.js";

export interface BackupFile {
  /** Relative to the backup, with `/`: below `lake/`, `lists/` or the folder of the state. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface BackupManifest {
  readonly format: typeof FORMAT;
  /** The id of the lake; null for a lake of an earlier release. */
  readonly lake: string | null;
  /** The served version. */
  readonly sequence: number;
  readonly data_version: string;
  /** How many versions it holds. */
  readonly versions: number;
  /** ISO 8601. */
  readonly created: string;
  /** The folder of the state files, relative to the backup. */
  readonly state: string;
  readonly files: readonly BackupFile[];
}

const FORMAT = 1;

/** Where a backup goes: a folder, or a tar archive. */
export interface Target {
  /** The complete backup that is there already. */
  readonly previous: BackupManifest | null;
  /** Adds a data file from a path; resolves to false if it was there already. Throws DamagedFileError. */
  addFile(file: DataFile, from: string): Promise<boolean>;
  addText(path: string, text: string): Promise<void>;
  /** Makes the backup valid. Resolves to the number of data files that it no longer needs, which were removed. */
  complete(manifest: BackupManifest): Promise<number>;
}

export const MANIFEST = "backup.json";
/** Marks a folder as a backup, even before the first one in it is complete. */
export const MARKER = "TAPEHOUSE-BACKUP.txt";
export const MARKER_TEXT =
  "A backup of a Tapehouse data directory. backup.json names its files and is written last.\n" +
  "Restore it with: tapehouse restore BACKUP --data DIR\n";

const FOLDERS = { lake: "lake", lists: "lists", states: "states" } as const;

export const dataPath = (path: string): string => `${FOLDERS.lake}/${path}`;
export const listPath = (name: string): string => `${FOLDERS.lists}/${name}`;
export const statePath = (id: string): string => `${FOLDERS.states}/${id}`;

/** Whether a path has the form of a file of a backup besides its manifest. No other file is removed or restored. */
export const isBackupPath = (path: string): boolean =>
  /^(lake\/\w+\/(by_code\/)?[\w-]+\.parquet|lists\/[0-9a-f]{64}\.json|states\/[\w-]+\/(versions\/)?\w[\w.-]*)$/.test(
    path,
  );

/** Where a file of a backup belongs in a data directory, relative to it. */
export function placeOf({ state }: BackupManifest, path: string): string {
  if (path.startsWith(`${FOLDERS.lake}/`)) return path;
  return path.startsWith(`${state}/`) ? `state/${path.slice(state.length + 1)}` : `state/${path}`;
}

export const encodeManifest = (manifest: BackupManifest): string =>
  JSON.stringify({ ...manifest, checksum: sha256(JSON.stringify(manifest)) });

/** The manifest of the backup in a folder; undefined if there is none. Throws an OperatorError if it is damaged. */
export async function readManifest(folder: string): Promise<BackupManifest | undefined> {
  const path = join(folder, MANIFEST);
  const text = await readOrNone(path, LARGEST);
  return text === undefined ? undefined : decodeManifest(text, path);
}

/** Bytes of a manifest: enough for some millions of files. */
const LARGEST = 1 << 29;

export function decodeManifest(text: string, path: string): BackupManifest {
  const { checksum, ...manifest } = parse(text) as unknown as BackupManifest & { readonly checksum: string };
  if (sha256(JSON.stringify(manifest)) !== checksum || !manifest.files.every((file) => isBackupPath(file.path))) {
    throw new OperatorError(`${path} is damaged: use another backup`);
  }
  if (manifest.format === FORMAT) return manifest;
  throw new OperatorError(`${path} was written by a later release: use that release`);
}

function parse(text: string): object {
  try {
    return { ...(JSON.parse(text) as object) };
  } catch {
    return {};
  }
}
