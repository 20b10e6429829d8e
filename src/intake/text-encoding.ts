// Converts text files to plain UTF-8: unpacks gzip, decodes UTF-16 and GB18030, and refuses unknown encodings.
import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { OperatorError, fileFault } from "../errors.js";
import { piecesIn } from "../files.js";
import { requireUnpackedSize } from "./limits.js";
import type { SourceFile } from "./source-types.js";

const CR = 0x0d;
const LF = 0x0a;
const CRLF = Buffer.from([CR, LF]);

/** Up to `length` bytes starting at `position`. */
export const readAt = (path: string, position: number, length: number): Promise<Buffer> =>
  reading(path, (read) => read(position, length));

/** Reads up to `length` bytes of an open file, starting at `position`. */
export type ReadAt = (position: number, length: number) => Promise<Buffer>;

/** Opens a file for some reads. */
export async function reading<T>(path: string, use: (read: ReadAt) => Promise<T>): Promise<T> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    return await use(async (position, length) => {
      const wanted = Math.max(0, Math.min(length, size - position));
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(wanted), 0, wanted, position);
      return buffer.subarray(0, bytesRead);
    });
  } finally {
    await handle.close();
  }
}

/** Unpacks a gzip file into its scratch folder; resolves to the new path. Throws an OperatorError if it is damaged or too large. */
export async function gunzip({ path, label, size, scratch, limits }: SourceFile): Promise<string> {
  const target = join(scratch, randomUUID());
  async function* counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let unpacked = 0;
    for await (const chunk of chunks) {
      unpacked += chunk.length;
      requireUnpackedSize(unpacked, size, limits, label);
      yield chunk;
    }
  }
  try {
    const unzip = createGunzip({ chunkSize: 256 << 10 });
    await pipeline(piecesIn(path), unzip, counted, createWriteStream(target));
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`${label} cannot be unpacked: ${(fileFault(error) as Error).message}`);
  }
  return target;
}

interface Utf8File {
  readonly path: string;
  /** The original encoding; null if it was UTF-8 already and `path` is the given file. */
  readonly decodedFrom: "UTF-16" | "GB18030" | null;
}

/** The file itself where it is UTF-8, else a UTF-8 copy in `scratch`. A file in an unknown encoding is an OperatorError. */
export async function asUtf8(path: string, label: string, scratch: string): Promise<Utf8File> {
  const [first, second] = await readAt(path, 0, 2);
  if (first === 0xff && second === 0xfe) return decode(path, label, scratch, "utf-16le");
  if (first === 0xfe && second === 0xff) return decode(path, label, scratch, "utf-16be");
  const survey = await surveyBytes(path);
  if (survey.nul) {
    throw new OperatorError(
      `${label} is not text in UTF-8, UTF-16 with a byte order mark, or GB18030: it contains NUL bytes`,
    );
  }
  if (survey.utf8) return { path, decodedFrom: null };
  if (!survey.chinese) throw unknownEncoding(label);
  return decode(path, label, scratch, "gb18030");
}

const ENCODINGS = { "utf-16le": "UTF-16", "utf-16be": "UTF-16", gb18030: "GB18030" } as const;

const unknownEncoding = (label: string): OperatorError =>
  new OperatorError(
    `${label} is not UTF-8 and is not recognized as GB18030 text, or is damaged: save it as UTF-8` +
      `, e.g. with iconv -f GB18030 -t UTF-8`,
  );

/** Characters that occur only in wrongly decoded text. */
const NOT_TEXT = /[\u0080-\u009f\ue000-\uf8ff\ufffd]/;

async function decode(
  path: string,
  label: string,
  scratch: string,
  encoding: keyof typeof ENCODINGS,
): Promise<Utf8File> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const target = join(scratch, randomUUID());
  async function* text(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
    for await (const chunk of bytes) yield checked(decoder.decode(chunk, { stream: true }));
    yield checked(decoder.decode());
  }
  function checked(part: string): string {
    if (NOT_TEXT.test(part)) throw unknownEncoding(label);
    return part;
  }
  try {
    await pipeline(piecesIn(path), text, createWriteStream(target));
  } catch (error) {
    throw error instanceof TypeError ? unknownEncoding(label) : error;
  }
  return { path: target, decodedFrom: ENCODINGS[encoding] };
}

interface Survey {
  readonly utf8: boolean;
  readonly nul: boolean;
  /** As GB18030, the characters beyond ASCII would be those of Chinese text. */
  readonly chinese: boolean;
}

/** Surveys the bytes in one pass over the file. */
async function surveyBytes(path: string): Promise<Survey> {
  let utf8 = true;
  let nul = false;
  const counts = { common: 0, other: 0, rare: 0 };
  /** The first byte of an incomplete pair; 0 if there is none. */
  let lead = 0;
  for await (const bytes of wholeCharacters(path)) {
    nul ||= bytes.includes(0);
    utf8 &&= isUtf8(bytes);
    for (let i = 0; !utf8 && i < bytes.length; i++) {
      const byte = bytes[i]!;
      if (lead === 0) {
        if (byte >= 0x80) lead = byte;
        continue;
      }
      if (!isHalf(byte)) counts[kindOf(lead, byte)]++;
      lead = 0;
    }
  }
  if (lead !== 0) counts.rare++;
  return { utf8, nul, chinese: isChinese(counts) };
}

/** Characters of two bytes by their kind. Those of four bytes, two halves of two bytes each, say nothing. */
type Counts = Readonly<Record<"common" | "other" | "rare", number>>;

/** GB 2312 has punctuation and 6,763 characters. Text in other encodings is rarely all in this range. */
function isChinese({ common, other, rare }: Counts): boolean {
  const known = common + other;
  if (known > 0 && known >= (known + rare) * 0.9) return true;
  // In a few names, one rare character is a large share. Text in other encodings seldom has common ones alone beside it.
  return other === 0 && common >= LEAST_COMMON && rare <= common / RARE_AMONG;
}

const LEAST_COMMON = 3;
const RARE_AMONG = 3;

/** Common: the 3,755 characters that GB 2312 orders by their sound, and Chinese punctuation. */
function kindOf(lead: number, trail: number): keyof Counts {
  if (trail < 0xa1 || trail === 0xff) return "rare";
  if (lead === 0xa1 || lead === 0xa3 || (lead >= 0xb0 && lead <= 0xd7)) return "common";
  return (lead >= 0xa2 && lead <= 0xa9) || (lead >= 0xd8 && lead <= 0xf7) ? "other" : "rare";
}

/** Whether a second byte is that of half of a character of four bytes. */
const isHalf = (trail: number): boolean => trail >= 0x30 && trail <= 0x39;

/** The file in chunks. If it is UTF-8, none except the last one ends within a character. */
async function* wholeCharacters(path: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of piecesIn(path)) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.length - lengthOfBeginning(bytes);
    yield bytes.subarray(0, end);
    rest = bytes.subarray(end);
  }
  if (rest.length > 0) yield rest;
}

/** The number of bytes at the end that begin an incomplete UTF-8 character: at most three. */
function lengthOfBeginning(bytes: Buffer): number {
  for (let length = 1; length <= 3 && length <= bytes.length; length++) {
    const byte = bytes[bytes.length - length]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return length < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? length : 0;
  }
  return 0;
}

/** The file itself where its lines all end alike, else a copy in `scratch` whose lines all end with a line feed. */
export async function oneNewline(path: string, scratch: string): Promise<string> {
  if (!(await mixesNewlines(path))) return path;
  const target = join(scratch, randomUUID());
  async function* unified(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let rest = "";
    for await (const chunk of bytes) {
      const text = (rest + chunk.toString("latin1")).replaceAll("\r\n", "\n");
      rest = text.endsWith("\r") ? "\r" : "";
      yield Buffer.from(rest ? text.slice(0, -1) : text, "latin1");
    }
    yield Buffer.from(rest, "latin1");
  }
  await pipeline(piecesIn(path), unified, createWriteStream(target));
  return target;
}

/** Whether some lines end with CR LF and others with LF, as when a tool has appended to the file of another. */
async function mixesNewlines(path: string): Promise<boolean> {
  let [crlf, bare, previous] = [false, false, 0];
  for await (const chunk of piecesIn(path)) {
    const bytes = chunk;
    crlf ||= (previous === CR && bytes[0] === LF) || (bytes.includes(CR) && bytes.includes(CRLF));
    for (let at = bytes.indexOf(LF); at >= 0 && !bare; at = bytes.indexOf(LF, at + 1)) {
      bare = (at === 0 ? previous : bytes[at - 1]) !== CR;
    }
    if (crlf && bare) return true;
    previous = bytes.at(-1) ?? previous;
  }
  return false;
}
