// Converts a table that is one JSON object into a file of rows, which can be read in pieces.
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { OperatorError } from "../errors.js";
import { MOST_COLUMNS, tooManyColumns } from "./limits.js";

/** A file of rows: an array, or one row a line. */
export interface JsonRows {
  readonly path: string;
  readonly layout: "array" | "newline_delimited";
  /** The columns of rows that are lists; null if the rows are objects. */
  readonly names: readonly string[] | null;
  /** The file says of itself that rows are missing. */
  readonly isPart?: boolean;
}

/** The maximum bytes of a table that is one object, since it is read into memory. */
const LARGEST = 512 << 20;

/** Bytes and members that are scanned without a pause, so that other lots of this process can proceed. */
const BYTES_AT_ONCE = 4 << 20;
const MEMBERS_AT_ONCE = 20_000;

/** Writes the rows of a table that is one object into `scratch`. Throws an OperatorError if it is malformed or no table. */
export async function unwrap(path: string, label: string, size: number, scratch: string): Promise<JsonRows> {
  if (size > LARGEST) {
    throw new OperatorError(`${label} is one object of more than 512 MiB: write Parquet, CSV, or one record a line`);
  }
  const bytes = await readFile(path);
  const target = join(scratch, randomUUID());
  try {
    return await rowsOf(bytes, target, label);
  } catch (error) {
    if (error instanceof SyntaxError) throw new OperatorError(`${label} is not readable as JSON: ${error.message}`);
    throw error;
  }
}

async function rowsOf(bytes: Buffer, target: string, label: string): Promise<JsonRows> {
  const start = skipWhitespace(bytes, bytes[0] === 0xef ? 3 : 0);
  const end = await skipValue(bytes, start);
  if (skipWhitespace(bytes, end) < bytes.length) {
    throw new OperatorError(`${label} holds several JSON objects, but not one on each line`);
  }
  const members = await membersOf(bytes, start, MOST_COLUMNS);
  if (members === null) throw tooManyColumns(label);
  const enveloped = await envelopeIn(bytes, members);
  if (enveloped) {
    await writeFile(target, bytes.subarray(enveloped.rows.start, enveloped.rows.end));
    return { path: target, layout: "array", names: enveloped.names, isPart: enveloped.isPart };
  }
  const kinds = new Set(members.map((member) => kindAt(bytes, member)));
  if (kinds.size === 1 && kinds.has("{")) return writeColumns(bytes, members, target, label);
  if (kinds.has("{") || kinds.has("[")) {
    throw new OperatorError(
      `${label} is not a table: supported are records, {column: {row: value}} and {columns, data}`,
    );
  }
  await writeFile(target, Readable.from([Buffer.from("["), bytes.subarray(start, end), Buffer.from("]")]));
  return { path: target, layout: "array", names: null };
}

/** The first character of a value. */
const kindAt = (bytes: Buffer, { start }: Member): string => String.fromCharCode(bytes[start]!);

interface Envelope {
  readonly rows: Member;
  readonly names: readonly string[] | null;
  readonly isPart: boolean;
}

/** What answers say if there are more rows: a vendor's flag, and the flag and the cursor of this server. */
const MORE = /^(has_more|truncated)$/;
const NEXT = "next_cursor";

const saysMore = (bytes: Buffer, { key, start, end }: Member): boolean => {
  const value = bytes.toString("latin1", start, Math.min(end, start + 5));
  return MORE.test(key) ? value === "true" : key === NEXT && value.startsWith('"');
};

/** {columns, data} of data frames, {data: {fields, items}} of a vendor, {columns: [{name}], rows} of this server, {data: records}. */
async function envelopeIn(bytes: Buffer, members: readonly Member[]): Promise<Envelope | undefined> {
  const find = (among: readonly Member[], key: string, kind: string): Member | undefined =>
    among.find((member) => member.key === key && kindAt(bytes, member) === kind);
  const inner = find(members, "data", "{");
  const nested = (inner && (await membersOf(bytes, inner.start, MOST_COLUMNS))) ?? [];
  const header = find(nested, "fields", "[") ?? find(members, "columns", "[");
  const rows = find(nested, "items", "[") ?? find(members, "data", "[") ?? find(members, "rows", "[");
  if (!rows) return undefined;
  const first = String.fromCharCode(bytes[skipWhitespace(bytes, rows.start + 1)]!);
  const isPart = [...members, ...nested].some((member) => saysMore(bytes, member));
  if (first === "{") return { rows, names: null, isPart };
  if (!header || (first !== "[" && first !== "]")) return undefined;
  const columns = JSON.parse(bytes.toString("utf8", header.start, header.end)) as readonly unknown[];
  return { rows, names: columns.map(nameOf), isPart };
}

/** The name of a column: text, a number as in data frames, or an object with a name. */
function nameOf(column: unknown): string {
  const name = column instanceof Object ? (column as { readonly name?: unknown }).name : column;
  if (typeof name === "string" || typeof name === "number") return String(name);
  throw new SyntaxError("a column has no name");
}

/** Converts {column: {row: value}}: the values of each row become a list on one line. */
async function writeColumns(
  bytes: Buffer,
  members: readonly Member[],
  target: string,
  label: string,
): Promise<JsonRows> {
  const columns: Uint32Array[] = [];
  for (const { key, start } of members) {
    const column = await offsetsOf(bytes, start);
    columns.push(column);
    if (!(await sameKeys(bytes, columns[0]!, column))) {
      throw new OperatorError(`${label}: the columns ${members[0]!.key} and ${key} do not have the same rows`);
    }
  }
  await pipeline(Readable.from(linesOf(bytes, columns, columns[0]!.length)), createWriteStream(target));
  return { path: target, layout: "newline_delimited", names: members.map(({ key }) => key) };
}

async function sameKeys(bytes: Buffer, a: Uint32Array, b: Uint32Array): Promise<boolean> {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 4) {
    if (i % (4 * MEMBERS_AT_ONCE) === 0) await setImmediate();
    if (bytes.compare(bytes, a[i], a[i + 1], b[i], b[i + 1]) !== 0) return false;
  }
  return true;
}

const BLOCK = 1 << 16;

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

// Finds the positions of values in a JSON text without creating objects, so that a table of millions of values stays
// bytes. Values are only separated, not validated: DuckDB does that later.

interface Member {
  readonly key: string;
  /** The value is the bytes from `start` to before `end`. */
  readonly start: number;
  readonly end: number;
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The members of the object at `at`; null if there are more than `most`. Throws a SyntaxError with the position. */
export async function membersOf(bytes: Buffer, at: number, most: number): Promise<readonly Member[] | null> {
  const offsets = await offsetsOf(bytes, at, most + 1);
  if (offsets.length > 4 * most) return null;
  const members: Member[] = [];
  for (let i = 0; i < offsets.length; i += 4) {
    const key = JSON.parse(bytes.toString("utf8", offsets[i], offsets[i + 1])) as string;
    members.push({ key, start: offsets[i + 2]!, end: offsets[i + 3]! });
  }
  return members;
}

/**
 * Four numbers for each of the first `most` members of the object at `at`: start and end of its key, including quotes, and
 * of its value.
 */
async function offsetsOf(bytes: Buffer, at: number, most = Infinity): Promise<Uint32Array> {
  let offsets = new Uint32Array(64);
  let count = 0;
  let position = skipWhitespace(bytes, expect(bytes, at, OPEN_BRACE));
  while (bytes[position] !== CLOSE_BRACE && count < 4 * most) {
    if (count > 0) position = skipWhitespace(bytes, expect(bytes, position, COMMA));
    const keyEnd = skipString(bytes, position);
    const start = skipWhitespace(bytes, expect(bytes, skipWhitespace(bytes, keyEnd), COLON));
    const end = isNested(bytes[start]) ? await skipNested(bytes, start) : skipScalar(bytes, start);
    if (count % (4 * MEMBERS_AT_ONCE) === 0) await setImmediate();
    if (count + 4 > offsets.length) {
      const larger = new Uint32Array(offsets.length * 2);
      larger.set(offsets);
      offsets = larger;
    }
    offsets[count++] = position;
    offsets[count++] = keyEnd;
    offsets[count++] = start;
    offsets[count++] = end;
    position = skipWhitespace(bytes, end);
  }
  return offsets.subarray(0, count);
}

/** The first byte at or after `at` that is not whitespace. */
export function skipWhitespace(bytes: Buffer, at: number): number {
  let position = at;
  while (bytes[position]! <= 0x20) position++;
  return position;
}

/** The end of the value that begins at `at`. */
export async function skipValue(bytes: Buffer, at: number): Promise<number> {
  return isNested(bytes[at]) ? skipNested(bytes, at) : skipScalar(bytes, at);
}

const isNested = (first: number | undefined): boolean => first === OPEN_BRACE || first === OPEN_BRACKET;

function skipScalar(bytes: Buffer, at: number): number {
  if (bytes[at] === QUOTE) return skipString(bytes, at);
  let position = at;
  while (position < bytes.length && !endsScalar(bytes[position]!)) position++;
  return position > at ? position : malformed(at);
}

const endsScalar = (byte: number): boolean =>
  byte <= 0x20 || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET;

async function skipNested(bytes: Buffer, at: number): Promise<number> {
  let depth = 0;
  let pause = at + BYTES_AT_ONCE;
  for (let position = at; position < bytes.length; position++) {
    const byte = bytes[position];
    if (position > pause) {
      pause = position + BYTES_AT_ONCE;
      await setImmediate();
    }
    if (byte === QUOTE) position = skipString(bytes, position) - 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return position + 1;
  }
  return malformed(bytes.length);
}

function skipString(bytes: Buffer, at: number): number {
  let position = bytes.indexOf(QUOTE, expect(bytes, at, QUOTE));
  while (position > 0 && isEscaped(bytes, position)) position = bytes.indexOf(QUOTE, position + 1);
  return position > 0 ? position + 1 : malformed(bytes.length);
}

/** Whether an odd number of backslashes precedes a quote. */
function isEscaped(bytes: Buffer, quote: number): boolean {
  let start = quote;
  while (bytes[start - 1] === BACKSLASH) start--;
  return (quote - start) % 2 === 1;
}

const expect = (bytes: Buffer, at: number, byte: number): number => (bytes[at] === byte ? at + 1 : malformed(at));

function malformed(at: number): never {
  throw new SyntaxError(`malformed at byte ${at + 1}`);
}
