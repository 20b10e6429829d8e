// Reads the size of a Parquet file from its footer, since absurd ones make DuckDB very slow or crash it. The footer is a
// struct in Thrift's compact protocol, of which all but a few fields are skipped.

export interface Footer {
  /** Columns and the groups that they are nested in. */
  readonly nodes: number;
  /** The depth of their nesting; 1 for plain columns. */
  readonly depth: number;
  readonly groups: number;
  readonly rows: number;
  /** Bytes of all pages, encoded but not compressed. */
  readonly unpacked: number;
}

interface Cursor {
  readonly bytes: Buffer;
  at: number;
}

/** Types of Thrift's compact protocol. */
const [STOP, TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID] = [0, 1, 2, 3, 7, 8, 9, 10, 11, 12, 13];
const DEEPEST = 64;
const LONGEST_VARINT = 10;

/** Throws a RangeError if the bytes are not a footer. */
export function readFooter(bytes: Buffer): Footer {
  const cursor = { bytes, at: 0 };
  let [nodes, depth, groups, rows, unpacked] = [0, 0, 0, 0, 0];
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
    if (id === 2) readList(cursor, schemaElement);
    else if (id === 4) readList(cursor, rowGroup);
    return id === 2 || id === 4;
  });
  return { nodes: Math.max(0, nodes - 1), depth, groups, rows, unpacked };
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
