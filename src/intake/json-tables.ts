// Tables that are written as one JSON object → a file of rows that can be read piece by piece.
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CommandError } from "../errors.js";
import { MOST_COLUMNS, tooManyColumns } from "./limits.js";
import { membersOf, offsetsOf, skipBlanks, skipValue, type Member } from "./json-slices.js";

/** Rows in a file of their own: an array, or one a line. */
export interface JsonRows {
  readonly path: string;
  readonly layout: "array" | "newline_delimited";
  /** The columns of rows that are lists; null where the rows are objects. */
  readonly names: readonly string[] | null;
}

const LARGEST = 2 ** 31 - 1;

/** Writes the rows of a table that is one object into `scratch`. What is no table, or malformed, is a CommandError. */
export async function unwrap(path: string, label: string, size: number, scratch: string): Promise<JsonRows> {
  if (size > LARGEST) {
    throw new CommandError(`${label} is one object of more than 2 GB: write Parquet, CSV, or one record a line`);
  }
  const bytes = await readFile(path);
  const target = join(scratch, randomUUID());
  try {
    return await rowsOf(bytes, target, label);
  } catch (error) {
    if (error instanceof SyntaxError) throw new CommandError(`${label} is not readable as JSON: ${error.message}`);
    throw error;
  }
}

async function rowsOf(bytes: Buffer, target: string, label: string): Promise<JsonRows> {
  const start = skipBlanks(bytes, bytes[0] === 0xef ? 3 : 0);
  const end = skipValue(bytes, start);
  if (skipBlanks(bytes, end) < bytes.length) {
    throw new CommandError(`${label} holds more than one JSON object, and they do not stand one a line`);
  }
  const members = membersOf(bytes, start, MOST_COLUMNS);
  if (members === null) throw tooManyColumns(label);
  const enveloped = envelopeIn(bytes, members);
  if (enveloped) {
    await writeFile(target, bytes.subarray(enveloped.rows.start, enveloped.rows.end));
    return { path: target, layout: "array", names: enveloped.names };
  }
  const kinds = new Set(members.map((member) => kindAt(bytes, member)));
  if (kinds.size === 1 && kinds.has("{")) return writeColumns(bytes, members, target, label);
  if (kinds.has("{") || kinds.has("[")) {
    throw new CommandError(`${label} is no table: known are records, {column: {row: value}} and {columns, data}`);
  }
  await writeFile(target, Readable.from([Buffer.from("["), bytes.subarray(start, end), Buffer.from("]")]));
  return { path: target, layout: "array", names: null };
}

/** How a value begins. */
const kindAt = (bytes: Buffer, { start }: Member): string => String.fromCharCode(bytes[start]!);

interface Envelope {
  readonly rows: Member;
  readonly names: readonly string[] | null;
}

/** {columns, data} of data frames, {data: {fields, items}} of a vendor, {columns: [{name}], rows} of this server, {data: records}. */
function envelopeIn(bytes: Buffer, members: readonly Member[]): Envelope | undefined {
  const find = (among: readonly Member[], key: string, kind: string): Member | undefined =>
    among.find((member) => member.key === key && kindAt(bytes, member) === kind);
  const inner = find(members, "data", "{");
  const nested = (inner && membersOf(bytes, inner.start, MOST_COLUMNS)) ?? [];
  const header = find(nested, "fields", "[") ?? find(members, "columns", "[");
  const rows = find(nested, "items", "[") ?? find(members, "data", "[") ?? find(members, "rows", "[");
  if (!rows) return undefined;
  const first = String.fromCharCode(bytes[skipBlanks(bytes, rows.start + 1)]!);
  if (first === "{") return { rows, names: null };
  if (!header || (first !== "[" && first !== "]")) return undefined;
  const columns = JSON.parse(bytes.toString("utf8", header.start, header.end)) as readonly unknown[];
  return { rows, names: columns.map(nameOf) };
}

/** Of a column that is a name, a number as data frames have them, or an object with its name. */
function nameOf(column: unknown): string {
  const name = column instanceof Object ? (column as { readonly name?: unknown }).name : column;
  if (typeof name === "string" || typeof name === "number") return String(name);
  throw new SyntaxError("a column has no name");
}

/** {column: {row: value}}: the values of one row, from every column, become a list on a line. */
async function writeColumns(
  bytes: Buffer,
  members: readonly Member[],
  target: string,
  label: string,
): Promise<JsonRows> {
  const columns = members.map(({ start }) => offsetsOf(bytes, start));
  const [lead] = columns as [Uint32Array];
  const odd = columns.findIndex((column) => !sameKeys(bytes, lead, column));
  if (odd >= 0) {
    throw new CommandError(
      `${label}: its columns ${members[0]!.key} and ${members[odd]!.key} do not have the same rows`,
    );
  }
  await pipeline(Readable.from(linesOf(bytes, columns, lead.length)), createWriteStream(target));
  return { path: target, layout: "newline_delimited", names: members.map(({ key }) => key) };
}

function sameKeys(bytes: Buffer, a: Uint32Array, b: Uint32Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 4) {
    if (bytes.compare(bytes, a[i], a[i + 1], b[i], b[i + 1]) !== 0) return false;
  }
  return true;
}

const BLOCK = 1 << 20;

function* linesOf(bytes: Buffer, columns: readonly Uint32Array[], length: number): Generator<string> {
  let block = "";
  for (let i = 0; i < length; i += 4) {
    let line = "";
    for (const column of columns) line += `,${bytes.toString("utf8", column[i + 2], column[i + 3])}`;
    block += `[${line.slice(1)}]\n`;
    if (block.length > BLOCK) {
      yield block;
      block = "";
    }
  }
  yield block;
}
