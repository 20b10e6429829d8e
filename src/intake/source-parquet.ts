// Parquet files: columns of any type. Names of folders above the file add no columns.
import { OperatorError, fileFault } from "../errors.js";
import type { Writer } from "../engine/writer.js";
import { quoteName } from "../sql-text.js";
import { count } from "../words.js";
import { requireFewColumns, requireFewRows, requireUnpackedSize } from "./limits.js";
import { type Source, type SourceColumn, type SourceFile, kindOf, requireContent } from "./source-types.js";
import { reading, type ReadAt } from "./text-encoding.js";

const SMALLEST = 12;
/** Columns that DuckDB adds: the row and the file of a value. */
const [ROW, FILE] = ["file_row_number", "file_index"];

/** Opens a Parquet file. Throws an OperatorError if it is cut short, encrypted or damaged. */
export async function openParquet(writer: Writer, file: SourceFile): Promise<Source> {
  const { label, size, limits } = file;
  const { schema, unpacked } = await reading(file.path, async (read) => {
    await requireComplete(file, read);
    return reasonableFooter(file, read);
  });
  const damaged = (error: unknown): OperatorError =>
    new OperatorError(`${label} is not readable as Parquet and may be damaged: ${reasonOf(error, file.path)}`);
  const columns =
    file.described.get(schema) ??
    (await describe(writer, file.path).catch((error: unknown) => {
      throw damaged(fileFault(error));
    }));
  file.described.set(schema, columns);
  const names = columns.map(({ name }) => name.toLowerCase());
  const numbered = !names.includes(ROW);
  const text = columns.filter(({ kind }) => kind === "text").map(({ sql }) => `coalesce(strlen(${sql}), 0)`);
  return {
    format: "parquet",
    columns,
    relation: read(numbered ? ", file_row_number = true" : ""),
    values: [file.path],
    shape: numbered && !names.includes(FILE) ? schema : null,
    bytes: unpacked,
    // The footer counts a value that a dictionary repeats once.
    text:
      text.length === 0 || !Number.isFinite(limits.unpacked)
        ? null
        : {
            bytes: `(${text.join(" + ")})::DOUBLE`,
            requireFew: (total) => requireUnpackedSize(total, size, limits, label),
          },
    row: numbered ? `${ROW} + 1` : null,
    locate: async (row) => `row ${row}`,
    explain: async (error) => damaged(error),
    footnotes: [],
    openEnd: false,
    warnings: [],
  };
}

const read = (options: string): string =>
  `read_parquet($1, hive_partitioning = false, binary_as_string = true${options})`;

async function describe(writer: Writer, path: string): Promise<readonly SourceColumn[]> {
  const described = await writer.rows(`DESCRIBE SELECT * FROM ${read("")}`, [path]);
  const schema = "SELECT name, num_children AS children, precision FROM parquet_schema($1)";
  const tops = topColumns(await writer.rows(schema, [path]));
  return described.map(({ column_name: name, column_type: type }, i): SourceColumn => {
    const top = tops.length === described.length ? tops[i]! : { name: String(name), isWide: false };
    return {
      name: top.name,
      sql: quoteName(String(name)),
      kind: top.isWide ? "wide decimal" : kindOf(String(type)),
    };
  });
}

interface TopColumn {
  readonly name: string;
  /** A decimal with more digits than DuckDB can hold. */
  readonly isWide: boolean;
}

const MOST_DIGITS = 38;

/** The columns as the file has them. DuckDB renames names that differ only in case. */
function topColumns(nodes: Awaited<ReturnType<Writer["rows"]>>): readonly TopColumn[] {
  const columns: TopColumn[] = [];
  let below = 0;
  for (const { name, children, precision } of nodes.slice(1)) {
    if (below === 0) columns.push({ name: String(name), isWide: Number(precision ?? 0) > MOST_DIGITS });
    else below--;
    below += Number(children ?? 0);
  }
  return columns;
}

/** Refuses a file without its end, as writers leave it that died or are still working. */
async function requireComplete({ label, size }: SourceFile, readAt: ReadAt): Promise<void> {
  requireContent(await readAt(0, 16), "Parquet", "Parquet", label);
  const end = (await readAt(size - 4, 4)).toString("latin1");
  if (end === "PARE") throw encrypted(label);
  if (size < SMALLEST || end !== "PAR1") {
    throw new OperatorError(`${label} is cut short or still being written: its Parquet end is missing`);
  }
}

const encrypted = (label: string): OperatorError =>
  new OperatorError(`${label} is encrypted Parquet, which cannot be read: write it without encryption`);

/** In bytes. Footers of real files have kilobytes, or a few megabytes for thousands of row groups. */
const LARGEST_FOOTER = 64 << 20;
const MOST_GROUPS = 100_000;
/** How deep columns may be nested, and structures within the footer. */
const DEEPEST = 64;

/** The footer. Refuses a file that is, or unpacks to, absurdly large before DuckDB opens it. */
async function reasonableFooter({ label, size, limits }: SourceFile, readAt: ReadAt): Promise<Footer> {
  const length = (await readAt(size - 8, 4)).readUInt32LE();
  if (length > Math.min(size - SMALLEST, LARGEST_FOOTER)) {
    throw new OperatorError(`${label} is not readable as Parquet: its footer claims to have ${count(length)} bytes`);
  }
  const footer = footerOf(await readAt(size - 8 - length, length), label);
  const { nodes, depth, groups, rows, unpacked } = footer;
  if (footer.isEncrypted) throw encrypted(label);
  requireFewColumns(nodes, label);
  if (depth > DEEPEST) throw new OperatorError(`${label} has columns that are nested ${count(depth)} levels deep`);
  if (groups > MOST_GROUPS) {
    throw new OperatorError(`${label} has ${count(groups)} row groups: write about 100,000 rows into each`);
  }
  requireFewRows(rows, limits, label);
  requireUnpackedSize(unpacked, size, limits, label);
  return footer;
}

function footerOf(bytes: Buffer, label: string): Footer {
  try {
    return readFooter(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new OperatorError(`${label} is not readable as Parquet and may be damaged: ${error.message}`);
  }
}

/** The first line of DuckDB's message, without the class of the error and the path. */
export function reasonOf(error: unknown, path: string): string {
  return String(error)
    .replaceAll(`file "${path}"`, "the file")
    .replaceAll(`file '${path}'`, "the file")
    .replaceAll(path, "the file")
    .split("\n")[0]!
    .replace(/^(Error: )?(\w+ ){1,3}(Error|Exception): /, "")
    .trim();
}

// The size of a file, from its footer, since absurd ones make DuckDB very slow or crash it. The footer is a struct in
// Thrift's compact protocol, of which all but a few fields are skipped.

interface Footer {
  /** The bytes of the schema, each as a character. */
  readonly schema: string;
  /** Columns and the groups that they are nested in. */
  readonly nodes: number;
  /** The depth of their nesting; 1 for plain columns. */
  readonly depth: number;
  readonly groups: number;
  readonly rows: number;
  /** Bytes of all pages, encoded but not compressed. */
  readonly unpacked: number;
  /** Columns are encrypted, although the footer is not. */
  readonly isEncrypted: boolean;
}

interface Cursor {
  readonly bytes: Buffer;
  at: number;
}

/** Types of Thrift's compact protocol. */
const [STOP, TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID] = [0, 1, 2, 3, 7, 8, 9, 10, 11, 12, 13];
const LONGEST_VARINT = 10;

/** Throws a RangeError if the bytes are not a footer. */
function readFooter(bytes: Buffer): Footer {
  const cursor = { bytes, at: 0 };
  let [nodes, depth, groups, rows, unpacked] = [0, 0, 0, 0, 0];
  let isEncrypted = false;
  let schema = "";
  /** The number of missing children of each node that is still incomplete. */
  const open: number[] = [];
  const schemaElement = (): void => {
    let children = 0;
    readStruct(cursor, (id) => {
      if (id !== 5) return false;
      children = readInteger(cursor);
      return true;
    });
    if (nodes++ > 0 && open.length > 0) open[open.length - 1]!--;
    if (children > 0) open.push(children);
    else while (open.at(-1) === 0) open.pop();
    depth = Math.max(depth, open.length);
  };
  const rowGroup = (): void => {
    groups++;
    readStruct(cursor, (id) => {
      if (id === 2) unpacked += Math.max(0, readInteger(cursor));
      else if (id === 3) rows += Math.max(0, readInteger(cursor));
      return id === 2 || id === 3;
    });
  };
  readStruct(cursor, (id) => {
    const start = cursor.at;
    if (id === 2) {
      readList(cursor, schemaElement);
      schema = bytes.toString("latin1", start, cursor.at);
    } else if (id === 4) readList(cursor, rowGroup);
    else if (id === 8) isEncrypted = true;
    return id === 2 || id === 4;
  });
  return { schema, nodes: Math.max(0, nodes - 1), depth, groups, rows, unpacked, isEncrypted };
}

function readByte(cursor: Cursor): number {
  const byte = cursor.bytes[cursor.at++];
  return byte ?? broken();
}

function readVarint(cursor: Cursor): number {
  let [value, scale] = [0, 1];
  for (let i = 0; i < LONGEST_VARINT; i++) {
    const byte = readByte(cursor);
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
    scale *= 0x80;
  }
  return broken();
}

function readInteger(cursor: Cursor): number {
  const value = readVarint(cursor);
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/** `read` consumes the value of a field and returns true, or returns false to skip it. */
function readStruct(cursor: Cursor, read: (id: number) => boolean, depth = 0): void {
  let id = 0;
  for (;;) {
    const head = readByte(cursor);
    const type = head & 0x0f;
    if (type === STOP) return;
    id = head < 0x10 ? readInteger(cursor) : id + (head >> 4);
    if (!read(id)) skip(cursor, type, depth, false);
  }
}

function readList(cursor: Cursor, read: () => void): void {
  const head = readByte(cursor);
  if ((head & 0x0f) !== STRUCT) broken();
  const length = head >> 4 === 15 ? readVarint(cursor) : head >> 4;
  for (let i = 0; i < length; i++) read();
}

const SKIP_ALL = (): boolean => false;

function skip(cursor: Cursor, type: number, depth: number, isElement: boolean): void {
  if (depth > DEEPEST) broken();
  if (type === TRUE || type === FALSE) cursor.at += isElement ? 1 : 0;
  else if (type === BYTE) cursor.at += 1;
  else if (type > BYTE && type < DOUBLE) readVarint(cursor);
  else if (type === DOUBLE) cursor.at += 8;
  else if (type === UUID) cursor.at += 16;
  else if (type === BINARY) skipBytes(cursor, readVarint(cursor));
  else if (type === STRUCT) readStruct(cursor, SKIP_ALL, depth + 1);
  else if (type === LIST || type === SET) {
    const head = readByte(cursor);
    skipMany(cursor, head >> 4 === 15 ? readVarint(cursor) : head >> 4, [head & 0x0f], depth);
  } else if (type === MAP) {
    const length = readVarint(cursor);
    const types = length === 0 ? 0 : readByte(cursor);
    skipMany(cursor, length, [types >> 4, types & 0x0f], depth);
  } else broken();
}

const skipBytes = (cursor: Cursor, length: number): void => void (cursor.at += length);

function skipMany(cursor: Cursor, length: number, types: readonly number[], depth: number): void {
  for (let i = 0; i < length; i++) {
    for (const type of types) skip(cursor, type, depth + 1, true);
    if (cursor.at > cursor.bytes.length) broken();
  }
}

function broken(): never {
  throw new RangeError("the footer is damaged");
}
