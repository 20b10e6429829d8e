// CSV files: detects header, delimiter, encoding and line ends, then reads strictly, with every cell as text.
import { randomUUID } from "node:crypto";
import { copyFile, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { createReadStream } from "node:fs";
import { OperatorError } from "../errors.js";
import type { Writer } from "../engine/writer.js";
import { quoteText } from "../sql-text.js";
import { count } from "../words.js";
import { reasonOf } from "./source-parquet.js";
import { type Footnote, type Source, type SourceFile, requireContent } from "./source-types.js";
import { requireFewColumns } from "./limits.js";
import { asUtf8, gunzip, oneNewline, readAt } from "./text-encoding.js";

const DELIMITERS = [",", ";", "\t", "|"] as const;
const NEW_LINES = ["\r\n", "\r", "\n"] as const;
const TAIL = 1 << 16;

/** In bytes. DuckDB refuses longer records, but silently drops a last one that fills its buffer of 16 times this size. */
const LONGEST_LINE = 2_000_000;
const TOO_LONG = `has more than ${count(LONGEST_LINE)} bytes: is a quote not closed?`;

/** Opens a CSV file, gzipped or not. Throws an OperatorError if it holds something else or has no header. */
export async function openCsv(_: Writer, file: SourceFile, gzip: boolean): Promise<Source> {
  const { label, scratch } = file;
  if (gzip) requireContent(await readAt(file.path, 0, 16), "gzip", "gzip", label);
  const plain = gzip ? await gunzip(file) : file.path;
  requireContent(await readAt(plain, 0, 256), "CSV", null, label);
  const { path: decoded, decodedFrom } = await asUtf8(plain, label, scratch);
  const unified = await oneNewline(decoded, scratch);
  const header = headerOf(await readAt(unified, 0, LONGEST_LINE + 1), label);
  const { path, footnotes } = await withoutFootnotes(unified, scratch, header);
  if (await endsWithLineBeyond(path, LONGEST_LINE)) throw new OperatorError(`${label}: the last line ${TOO_LONG}`);
  const openEnd = !(await endsLine(unified));
  if (openEnd) await requireNoBlock(plain, label);
  const explain = async (error: unknown): Promise<OperatorError> =>
    new OperatorError(`${label}${await explainCsv(error, path, header)}`);
  const relation =
    `read_csv($1, auto_detect = false, hive_partitioning = false, header = true, skip = ${header.skip}, max_line_size = ${LONGEST_LINE}, ` +
    `delim = ${quoteText(header.delimiter)}, quote = '"', escape = '"', ` +
    // DuckDB's own detection would use a line end within a quoted name, and find no rows.
    `new_line = '${JSON.stringify(header.newline).slice(1, -1)}', ` +
    `columns = {${header.names.map((_name, i) => `c${i}: 'VARCHAR'`).join(", ")}})`;
  return {
    format: "csv",
    columns: header.names.map((name, i) => ({ name, sql: `c${i}`, kind: "text" })),
    relation,
    values: [path],
    shape: footnotes.length > 0 ? null : JSON.stringify([relation, header.names]),
    bytes: (await stat(path)).size,
    text: null,
    row: null,
    locate: async (row) => {
      const line = await lineOfRecord(path, row + 1, header, header.names.length === 1);
      return line === null ? `row ${row}` : `row ${row} (line ${line})`;
    },
    explain,
    footnotes,
    openEnd: openEnd && footnotes.length === 0,
    warnings: decodedFrom === null ? [] : [`the text was decoded from ${decodedFrom}`],
  };
}

/** Whether the last line has a line end. */
async function endsLine(path: string): Promise<boolean> {
  const { size } = await stat(path);
  return /[\r\n]/.test((await readAt(path, Math.max(0, size - 1), 1)).toString("latin1"));
}

/** Copying tools write blocks of this many bytes, or of a multiple. */
const BLOCK = 4096;

/** Refuses a file that ends with a block, as an interrupted copy does. */
async function requireNoBlock(path: string, label: string): Promise<void> {
  const { size } = await stat(path);
  if (size % BLOCK !== 0) return;
  throw new OperatorError(
    `${label} is cut short or still being written: it has ${size} bytes, whole blocks of ${BLOCK}, ` +
      `and its last line has no line end. If it is complete, add the line end`,
  );
}

interface Header extends Dialect {
  readonly names: readonly string[];
  /** Blank lines above it. */
  readonly skip: number;
}

/** Parses the header from the first bytes of a file: all of it, or more than a header may have. */
function headerOf(head: Buffer, label: string): Header {
  const isCut = head.length > LONGEST_LINE;
  const text = head.toString("utf8").replace(/^\ufeff/, "");
  const blank = /^(?:\r?\n|\r(?!\n))*/.exec(text)![0];
  const body = text.slice(blank.length);
  if (body.trim() === "") {
    const range = isCut ? `its first ${count(LONGEST_LINE)} bytes are` : "it holds only";
    throw new OperatorError(`${label} has no header line: ${range} blank lines`);
  }
  const { delimiter, record } = DELIMITERS.map((one) => ({ delimiter: one, record: splitRecord(body, one) })).reduce(
    (best, other) => (other.record.cells.length > best.record.cells.length ? other : best),
  );
  requireFewColumns(record.cells.length, label);
  if (record.isQuoteOpen) throw new OperatorError(`${label}: a quote in the header is not closed`);
  if (isCut && record.end === body.length) {
    const wayOut = "shorten its names, or write one row for each code and day, and one column for each value";
    throw new OperatorError(`${label}: the header does not end within ${count(LONGEST_LINE)} bytes: ${wayOut}`);
  }
  const newline = NEW_LINES.find((one) => body.startsWith(one, record.end)) ?? "\n";
  const names = record.cells.map((name) => name.trim());
  return { names, delimiter, newline, skip: blank.split(newline).length - 1 };
}

/** If lines at the end hold only a note, such as the source of the data, makes a copy of the file without them. */
async function withoutFootnotes(
  path: string,
  scratch: string,
  header: Header,
): Promise<{ path: string; footnotes: readonly Footnote[] }> {
  const { text, end } = await tailOf(path);
  const lines = text.split(header.newline);
  const notes: Footnote[] = [];
  let kept = lines.length;
  for (let i = lines.length - 1; i > 0 && header.names.length > 1; i--) {
    const line = lines[i]!;
    const cells = line.split(header.delimiter).map((cell) => cell.trim());
    const filled = cells.flatMap((cell, column) => (cell === "" ? [] : [{ text: cell, column }]));
    if (line.includes('"') || cells.length > header.names.length || filled.length > 1) break;
    if (filled.length === 0) continue;
    if (!looksLikeNote(filled[0]!.text)) break;
    notes.unshift(filled[0]!);
    kept = i;
  }
  if (notes.length === 0) return { path, footnotes: [] };
  const cut = join(scratch, randomUUID());
  await copyFile(path, cut);
  await truncate(cut, end - Buffer.byteLength(lines.slice(kept).join(header.newline)));
  return { path: cut, footnotes: notes };
}

/** Whether a text is a note, not the beginning of a code, a date or a number that was cut short. */
const looksLikeNote = (text: string): boolean => /^[^\d.+-]/.test(text) && /[^\x20-\x7e]|[\s:]/.test(text);

/** The end of the file as text. Its first line may be incomplete. */
async function tailOf(path: string): Promise<{ text: string; end: number }> {
  const { size: end } = await stat(path);
  const start = Math.max(0, end - TAIL);
  return { text: (await readAt(path, start, end - start)).toString("utf8"), end };
}

/** Turns an error of DuckDB into a message. DuckDB counts records and blank lines, so its number is converted to a line. */
async function explainCsv(error: unknown, path: string, header: Header): Promise<string> {
  const message = String(error);
  const record = /CSV Error on Line: (\d+)/.exec(message)?.[1];
  const line = record === undefined ? null : await lineOfRecord(path, Number(record), header, true);
  const at = line === null ? ": " : ` line ${line}: `;
  const cells = /Expected Number of Columns: (\d+) Found: (\d+)/.exec(message);
  if (cells) return `${at}it has ${cells[2]} cells, but the header has ${cells[1]}`;
  if (message.includes("unterminated quote")) return `${at}a quote is not closed, or is inside a cell`;
  if (message.includes("Maximum line size")) return `${at}the line ${TOO_LONG}`;
  return ` is not readable as CSV: ${reasonOf(error, path)}`;
}

// What DuckDB does not report of a CSV file: the names in the header, and the line of a record.

interface Dialect {
  readonly delimiter: string;
  readonly newline: "\n" | "\r" | "\r\n";
}

const QUOTE = 0x22;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

/** The first record of a text. */
interface FirstRecord {
  /** Without their quotes. */
  readonly cells: readonly string[];
  /** The position of its line end, or of the end of the text. */
  readonly end: number;
  /** The text ends within quotes. */
  readonly isQuoteOpen: boolean;
}

function splitRecord(text: string, delimiter: string): FirstRecord {
  const marks = new RegExp(`["\\r\\n\\${delimiter}]`, "g");
  const cells: string[] = [];
  let [cell, start, quoted] = ["", 0, false];
  for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
    const [char] = mark;
    const end = mark.index;
    if (char === '"' && !(quoted || (cell === "" && start === end))) continue;
    if (char !== '"' && quoted) continue;
    cell += text.slice(start, end);
    start = end + 1;
    if (char === '"' && quoted && text[start] === '"') marks.lastIndex = start + 1;
    else if (char === '"') quoted = !quoted;
    else if (char === delimiter) {
      cells.push(cell);
      cell = "";
    } else return { cells: [...cells, cell], end, isQuoteOpen: false };
  }
  return { cells: [...cells, cell + text.slice(start)], end: text.length, isQuoteOpen: quoted };
}

/**
 * The 1-based line on which the `wanted`-th record begins; the header is the first. Null if there are fewer records.
 * `countBlank`: whether blank lines count as records.
 */
async function lineOfRecord(
  path: string,
  wanted: number,
  { delimiter, newline }: Dialect,
  countBlank: boolean,
): Promise<number | null> {
  const [comma, end] = [delimiter.charCodeAt(0), newline.charCodeAt(newline.length - 1)];
  let [line, start, record, length] = [1, 1, 0, 0];
  let [quoted, previous] = [false, end];
  for await (const chunk of createReadStream(path)) {
    for (const byte of chunk as Buffer) {
      const opens = previous === comma || previous === end || previous === QUOTE;
      if (byte === QUOTE && (quoted || opens)) quoted = !quoted;
      if (byte === end) line++;
      if (byte === end && !quoted) {
        if ((length > 0 || countBlank) && ++record === wanted) return start;
        start = line;
        length = 0;
      } else if (byte !== CARRIAGE_RETURN) length++;
      previous = byte;
    }
  }
  return length > 0 && record + 1 === wanted ? start : null;
}

const STEP = 1 << 16;

/** Whether the last line that is not blank has more than `limit` bytes. Reads only the end of the file. */
async function endsWithLineBeyond(path: string, limit: number): Promise<boolean> {
  let position = (await stat(path)).size;
  let length = 0;
  while (position > 0 && length <= limit) {
    const start = Math.max(0, position - STEP);
    const bytes = await readAt(path, start, position - start);
    let end = bytes.length;
    while (length === 0 && end > 0 && (bytes[end - 1] === LINE_FEED || bytes[end - 1] === CARRIAGE_RETURN)) end--;
    const line = bytes.subarray(0, end);
    const newline = Math.max(line.lastIndexOf(LINE_FEED), line.lastIndexOf(CARRIAGE_RETURN));
    length += end - newline - 1;
    if (newline >= 0) break;
    position = start;
  }
  return length > limit;
}
