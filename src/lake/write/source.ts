// Opening a data engineer's file, of whatever format, as one relation of named columns.
import { constants } from "node:fs";
import { access, stat, symlink } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { extname, join, resolve } from "node:path";
import { CommandError } from "../../errors.js";
import type { Writer } from "../../engine/writer.js";
import { openCsv } from "./source-csv.js";
import { openJson } from "./source-json.js";
import { openParquet } from "./source-parquet.js";
import type { Source, SourceFile, SourceFormat } from "./source-types.js";

/** What the end of a file name says. */
const EXTENSIONS: readonly (readonly [string, SourceFormat, gzip: boolean])[] = [
  [".parquet", "parquet", false],
  [".csv.gz", "csv", true],
  [".csv", "csv", false],
  [".json", "json", false],
  [".ndjson", "ndjson", false],
  [".jsonl", "ndjson", false],
];

const OPENERS = {
  csv: openCsv,
  parquet: openParquet,
  json: (_: Writer, file: SourceFile) => openJson(_, file, "json"),
  ndjson: (_: Writer, file: SourceFile) => openJson(_, file, "ndjson"),
} as const satisfies Record<SourceFormat, (writer: Writer, file: SourceFile, gzip: boolean) => Promise<Source>>;

/** Opens a file; one that is missing, empty, of another kind than its name says, or not understood is a CommandError. */
export async function openSource(writer: Writer, path: string, label: string, scratch: string): Promise<Source> {
  const found = EXTENSIONS.find(([end]) => path.toLowerCase().endsWith(end));
  const size = await sizeOf(path, label);
  if (!found) {
    const known = EXTENSIONS.map(([end]) => end).join(", ");
    throw new CommandError(`${label} is of no known kind (${extname(path) || "no extension"}): known are ${known}`);
  }
  const [end, format, gzip] = found;
  const file = { path: await plainPath(path, end, scratch), label, size, scratch };
  return OPENERS[format](writer, file, gzip);
}

async function sizeOf(path: string, label: string): Promise<number> {
  const stats = await stat(path).catch((error: unknown) => {
    const code = (error as NodeJS.ErrnoException).code;
    throw new CommandError(`${label} ${code === "ENOENT" ? "does not exist" : `cannot be read: ${code}`}`);
  });
  if (stats.isDirectory()) throw new CommandError(`${label} is a folder, not a file`);
  if (!stats.isFile()) throw new CommandError(`${label} is not a plain file`);
  if (stats.size === 0) throw new CommandError(`${label} is empty: it has 0 bytes`);
  await access(path, constants.R_OK).catch(() => {
    throw new CommandError(`${label} cannot be read: permission denied`);
  });
  return stats.size;
}

/** DuckDB takes `*`, `?`, `[` for patterns and `x://` for an address: such a name is read through a link. */
async function plainPath(path: string, end: string, scratch: string): Promise<string> {
  if (!/[*?[\]{}~]|:\//.test(path)) return path;
  const link = join(scratch, randomUUID() + end);
  await symlink(resolve(path), link);
  return link;
}
