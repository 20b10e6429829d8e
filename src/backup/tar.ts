// Tar archives: headers as POSIX describes them (ustar), and reading what other programs wrote, long names included.
import { OperatorError } from "../errors.js";

const BLOCK = 512;
/** The end of an archive. */
export const END = Buffer.alloc(2 * BLOCK);

/** Field → its offset and its length. */
const FIELDS = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  magic: [257, 8],
  prefix: [345, 155],
} as const;
type Field = keyof typeof FIELDS;

/** Bytes that the size field can express in octal digits. */
const MOST_BYTES = 8 ** 11 - 1;

/** The header of a regular file. */
export function header(name: string, size: number, mtime: Date): Buffer {
  const block = Buffer.alloc(BLOCK);
  const put = (field: Field, text: string): void =>
    void block.write(text, FIELDS[field][0], FIELDS[field][1], "latin1");
  const putNumber = (field: Field, value: number): void =>
    put(field, value.toString(8).padStart(FIELDS[field][1] - 1, "0"));
  if (Buffer.byteLength(name) > FIELDS.name[1]) throw new Error(`${name} is too long for a tar archive`);
  if (size > MOST_BYTES) throw new OperatorError(`${name} is too large for a tar archive: make a backup in a folder`);
  put("name", name);
  putNumber("mode", 0o644);
  putNumber("uid", 0);
  putNumber("gid", 0);
  putNumber("size", size);
  putNumber("mtime", Math.floor(mtime.getTime() / 1000));
  put("type", "0");
  put("magic", "ustar\x0000");
  put("checksum", `${sumOf(block).toString(8).padStart(6, "0")}\0 `);
  return block;
}

/** The zeros after the content of a file. */
export const padding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

/** The sum of the bytes of a header, its own field counted as blanks. */
function sumOf(block: Buffer): number {
  const [at, length] = FIELDS.checksum;
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) sum += i >= at && i < at + length ? 0x20 : block[i]!;
  return sum;
}

export interface TarEntry {
  readonly name: string;
  readonly size: number;
  /** The content. What is not read is skipped. */
  readonly content: AsyncIterable<Buffer>;
}

/** Types of entries: a regular file, and the extended headers of POSIX and GNU. All others are skipped. */
const TYPES = { file: new Set(["0", "\0", "7"]), pax: "x", longName: "L" };
/** Bytes of an extended header. */
const LONGEST_HEADER = 1 << 20;

/** The regular files of an archive. Throws an OperatorError if it is damaged or ends early. */
export async function* entriesOf(source: AsyncIterable<Uint8Array>, label: string): AsyncGenerator<TarEntry> {
  const reader = createReader(source, label);
  let pax: Readonly<Record<string, string>> = {};
  for (;;) {
    const block = await reader.read(BLOCK);
    if (block.every((byte) => byte === 0)) return;
    if (sumOf(block) !== Number.parseInt(textOf(block, "checksum"), 8))
      throw new OperatorError(`${label} is damaged or no tar archive: use another backup`);
    const type = block.toString("latin1", FIELDS.type[0], FIELDS.type[0] + 1);
    const size = Number(pax["size"] ?? sizeOf(block));
    if (type === TYPES.pax || type === TYPES.longName) {
      if (size > LONGEST_HEADER) throw new OperatorError(`${label} is damaged: a header has ${size} bytes`);
      const content = await reader.read(size);
      pax = type === TYPES.pax ? recordsOf(content) : { path: content.toString().replace(/\0.*$/s, "") };
      await reader.skip(padding(size).length);
      continue;
    }
    const content = reader.pieces(size);
    const name =
      pax["path"] ?? [textOf(block, "prefix"), textOf(block, "name")].filter((part) => part !== "").join("/");
    if (TYPES.file.has(type)) yield { name: name.replace(/^(\.\/)+/, ""), size, content };
    await drain(content);
    await reader.skip(padding(size).length);
    pax = {};
  }
}

const textOf = (block: Buffer, field: Field): string => {
  const [at, length] = FIELDS[field];
  return block
    .toString("utf8", at, at + length)
    .replace(/\0.*$/s, "")
    .trim();
};

/** Octal digits or, for large files, a binary number. */
function sizeOf(block: Buffer): number {
  const [at, length] = FIELDS.size;
  if ((block[at]! & 0x80) !== 0) return Number(block.readBigUInt64BE(at + length - 8));
  return Number.parseInt(textOf(block, "size") || "0", 8);
}

/** The records of an extended header: `LENGTH KEY=VALUE`, a line each. */
function recordsOf(content: Buffer): Readonly<Record<string, string>> {
  const records: Record<string, string> = {};
  for (let at = 0; at < content.length;) {
    const length = Number.parseInt(content.toString("latin1", at, at + 20), 10);
    if (!(length > 0)) break;
    const [, key, value] = /^\d+ ([^=]+)=(.*)\n$/s.exec(content.toString("utf8", at, at + length)) ?? [];
    if (key !== undefined) records[key] = value!;
    at += length;
  }
  return records;
}

interface Reader {
  read(bytes: number): Promise<Buffer>;
  skip(bytes: number): Promise<void>;
  /** The next bytes, in pieces. A second loop goes on where the first one stopped. */
  pieces(bytes: number): AsyncIterable<Buffer>;
}

function createReader(source: AsyncIterable<Uint8Array>, label: string): Reader {
  const iterator = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const next = async (most: number): Promise<Buffer> => {
    while (rest.length === 0) {
      const { value, done } = (await iterator.next()) as IteratorResult<Uint8Array, undefined>;
      if (done) throw new OperatorError(`${label} ends early: it is not complete, so use another backup`);
      rest = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
    const piece = rest.subarray(0, most);
    rest = rest.subarray(piece.length);
    return piece;
  };
  const pieces = (bytes: number): AsyncIterable<Buffer> => {
    let left = bytes;
    return {
      async *[Symbol.asyncIterator]() {
        while (left > 0) {
          const piece = await next(left);
          left -= piece.length;
          yield piece;
        }
      },
    };
  };
  return {
    async read(bytes) {
      const parts: Buffer[] = [];
      for await (const piece of pieces(bytes)) parts.push(piece);
      return Buffer.concat(parts);
    },
    async skip(bytes) {
      await drain(pieces(bytes));
    },
    pieces,
  };
}

async function drain(content: AsyncIterable<Buffer>): Promise<void> {
  const iterator = content[Symbol.asyncIterator]();
  while (!(await iterator.next()).done);
}
