// Opens a foreign file of any format as one relation of named columns.
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { extname, join } from "node:path";
import { OperatorError, isTransientError } from "../errors.js";
import { linkOrCopy } from "../files.js";
import type { Writer } from "../engine/writer.js";
import { openCsv } from "./source-csv.js";
import { openJson } from "./source-json.js";
import { openParquet } from "./source-parquet.js";
import { type Source, type SourceFile, type SourceFormat, requireContent } from "./source-types.js";

interface Format {
  /** The end of a file name. */
  readonly end: string;
  readonly format: SourceFormat;
  readonly gzip: boolean;
  /** The required content (see `requireContent`), and the name of the format in messages. */
  readonly content: string | null;
  readonly called: string;
}

const FORMATS: readonly Format[] = [
  { end: ".parquet", format: "parquet", gzip: false, content: "Parquet", called: "Parquet" },
  { end: ".csv.gz", format: "csv", gzip: true, content: "gzip", called: "gzip" },
  { end: ".csv", format: "csv", gzip: false, content: null, called: "CSV" },
  { end: ".json", format: "json", gzip: false, content: "JSON", called: "JSON" },
  { end: ".ndjson", format: "ndjson", gzip: false, content: "JSON", called: "NDJSON" },
  { end: ".jsonl", format: "ndjson", gzip: false, content: "JSON", called: "NDJSON" },
];

const OPENERS = {
  csv: openCsv,
  parquet: openParquet,
  json: (_: Writer, file: SourceFile) => openJson(_, file, "json"),
  ndjson: (_: Writer, file: SourceFile) => openJson(_, file, "ndjson"),
} as const satisfies Record<SourceFormat, (writer: Writer, file: SourceFile, gzip: boolean) => Promise<Source>>;

/** Opens a file. Throws an OperatorError if it is missing, empty, of another format than its name says, or malformed. */
export async function openSource(
  writer: Writer,
  path: string,
  { label, scratch, limits, described }: Pick<SourceFile, "label" | "scratch" | "limits" | "described">,
): Promise<Source> {
  const size = await sizeOf(path, label);
  const { end, format, gzip } = formatOf(path, label);
  const file = { path: await plainPath(path, end, scratch), label, size, scratch, limits, described };
  return OPENERS[format](writer, file, gzip);
}

/** What to do with files of other formats. */
const WAYS_OUT: readonly (readonly [readonly string[], string])[] = [
  [[".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"], "save the sheet as CSV UTF-8"],
  [
    [".tsv", ".txt", ".tab", ".psv", ".dat"],
    "if it is a table with a header line, rename it to .csv: tabs are recognised",
  ],
  [[".zip", ".7z", ".rar", ".tar", ".tgz", ".bz2", ".xz", ".zst"], "unpack it"],
  [[".gz"], "unpack it; only .csv.gz is read packed"],
  [[".feather", ".arrow", ".ipc", ".orc", ".avro", ".h5", ".hdf", ".hdf5", ".pkl", ".pickle"], "save it as Parquet"],
  [[".db", ".sqlite", ".sqlite3", ".duckdb"], "export the table as Parquet or CSV"],
];

/** The format of a file by its name. Throws an OperatorError for other names. */
export function formatOf(path: string, label: string): Format {
  const found = FORMATS.find(({ end }) => path.toLowerCase().endsWith(end));
  if (found) return found;
  const known = FORMATS.map(({ end }) => end).join(", ");
  const end = extname(path).toLowerCase();
  const way = WAYS_OUT.find(([ends]) => ends.includes(end))?.[1];
  throw new OperatorError(
    `${label} has an unknown format (${extname(path) || "no extension"}): ` +
      `${way === undefined ? "" : `${way}; `}supported are ${known}`,
  );
}

/** Refuses a file whose first bytes do not fit its name. */
export function requireContentOf(path: string, head: Buffer, label: string): void {
  const { content, called } = formatOf(path, label);
  requireContent(head, called, content, label);
  const isText = content === null || content === "JSON";
  // UTF-16, which has a byte order mark here, is full of zero bytes.
  const isWide = head[0] === 0xff ? head[1] === 0xfe : head[0] === 0xfe && head[1] === 0xff;
  if (isText && !isWide && head.includes(0))
    throw new OperatorError(`${label} is not ${called}: it contains NUL bytes`);
}

async function sizeOf(path: string, label: string): Promise<number> {
  const stats = await stat(path).catch((error: unknown) => {
    if (isTransientError(error)) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    throw new OperatorError(`${label} ${code === "ENOENT" ? "does not exist" : `cannot be read: ${code}`}`);
  });
  if (stats.isDirectory())
    throw new OperatorError(`${label} is a folder, not a file: name its files, e.g. ${join(label, "*.csv")}`);
  if (!stats.isFile()) throw new OperatorError(`${label} is not a regular file`);
  if (stats.size === 0) throw new OperatorError(`${label} is empty: it has 0 bytes`);
  await access(path, constants.R_OK).catch((error: unknown) => {
    if (isTransientError(error)) throw error;
    throw new OperatorError(`${label} cannot be read: permission denied`);
  });
  return stats.size;
}

/**
 * Replaces a path that DuckDB would misread by a link: it treats `*`, `?`, `[` as patterns and `x://` as a URL, and quotes
 * the name in its one-line messages.
 */
async function plainPath(path: string, end: string, scratch: string): Promise<string> {
  if (!/[*?[\]{}~\p{Cc}]|:\//u.test(path)) return path;
  const link = join(scratch, randomUUID() + end);
  await linkOrCopy(path, link);
  return link;
}
