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

/** Why the file `path` below the folder `root` must not be read by itself; null if no log lies in a folder above it. */
export async function tableAround(root: string, path: string): Promise<string | null> {
  let folder = dirname(path);
  for (;;) {
    for (const { called, log, holds } of SYSTEMS) {
      const names = await readdir(join(root, folder, log)).catch((): string[] => []);
      if (names.some((name) => holds.test(name))) {
        return (
          `it is part of a table of ${called}, whose log knows which rows were deleted: ` +
          `export the table as Parquet or CSV with the tools of ${called}`
        );
      }
    }
    const above = dirname(folder);
    if (above === folder || folder === ".") return null;
    folder = above;
  }
}
