// Folders of other table systems: only their log knows which of the files still count, and which rows were deleted.
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";

interface TableSystem {
  readonly called: string;
  /** The folder of its log, beside the data files or above them. */
  readonly log: string;
  /** What a folder of this name holds if it is such a log. */
  readonly holds: RegExp;
}

const SYSTEMS: readonly TableSystem[] = [
  { called: "Delta Lake", log: "_delta_log", holds: /./ },
  { called: "Apache Hudi", log: ".hoodie", holds: /./ },
  { called: "Apache Iceberg", log: "metadata", holds: /\.metadata\.json$|^version-hint\.text$/ },
];

/** The answers for folders, so that files which lie together are looked up once. */
export type KnownFolders = Map<string, Promise<string | null>>;

/** Why the file `path` below the folder `root` must not be read by itself; null if no log lies in a folder above it. */
export function tableAround(root: string, path: string, known: KnownFolders = new Map()): Promise<string | null> {
  const folder = dirname(path);
  const found = known.get(folder) ?? tableIn(root, folder, known);
  known.set(folder, found);
  return found;
}

async function tableIn(root: string, folder: string, known: KnownFolders): Promise<string | null> {
  for (const { called, log, holds } of SYSTEMS) {
    const names = await readdir(join(root, folder, log)).catch((): string[] => []);
    if (names.some((name) => holds.test(name))) {
      return (
        `it belongs to a table of ${called}, and only its log says which rows were deleted: ` +
        `export the table as Parquet or CSV with the tools of ${called}`
      );
    }
  }
  return folder === "." || dirname(folder) === folder ? null : tableAround(root, folder, known);
}
