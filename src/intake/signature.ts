// What a file really holds, by its first bytes: the name of a file is not always true.
import { CommandError } from "../errors.js";

const SIGNATURES: readonly (readonly [string, RegExp])[] = [
  ["Parquet", /^PAR[1E]/],
  ["gzip", /^\x1f\x8b/],
  ["a zip archive or an Excel workbook", /^PK\x03\x04/],
  ["an old Excel workbook", /^\xd0\xcf\x11\xe0/],
  ["zstd", /^\x28\xb5\x2f\xfd/],
  ["xz", /^\xfd7zXZ/],
  ["bzip2", /^BZh[1-9]/],
  ["Arrow IPC (Feather)", /^(ARROW1|FEA1|\xff\xff\xff\xff)/],
  ["ORC", /^ORC/],
  ["HDF5", /^\x89HDF/],
  ["SQLite", /^SQLite format 3/],
  ["a DuckDB database", /^.{8}DUCK/s],
  ["a Python pickle", /^\x80[\x02-\x05]/],
  ["PDF", /^%PDF/],
];

/** Kinds of text; a byte order mark and blanks may stand before them. */
const TEXT_SIGNATURES: readonly (readonly [string, RegExp])[] = [
  ["HTML or XML", /^<[!?a-z]/i],
  ["JSON", /^(\{\s*["}]|\[\s*[[{\]"])/],
];

/** What the first bytes of a file show it to be; null where they show nothing, as plain text does. */
function contentOf(head: Buffer): string | null {
  const bytes = head.toString("latin1");
  const binary = SIGNATURES.find(([, pattern]) => pattern.test(bytes));
  if (binary) return binary[0];
  const start = head.toString("utf8").replace(/^\ufeff?\s*/, "");
  return TEXT_SIGNATURES.find(([, pattern]) => pattern.test(start))?.[0] ?? null;
}

/** Refuses a file whose content shows it to be something else than `expected`. */
export function requireContent(head: Buffer, expected: string, allowed: string | null, label: string): void {
  const content = contentOf(head);
  if (content === allowed) return;
  const holds = content === null ? "" : `: it holds ${content}`;
  throw new CommandError(`${label} is not ${expected}${holds}`);
}
