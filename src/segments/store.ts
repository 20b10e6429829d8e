// The cache of encoded rows of immutable files: segments on disk, named by their content.
import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { LRUCache } from "lru-cache";
import { takeBuffer } from "../buffers.js";
import { makeOwnFolder } from "../files.js";
import type { Extent } from "./packer.js";

/** What a segment contains. */
interface SegmentInfo {
  readonly rows: number;
  readonly extent: Extent;
}

export interface Segment extends SegmentInfo {
  /** The bytes in pieces, each verified. Throws DamagedSegmentError; earlier pieces were correct. */
  pieces(): AsyncGenerator<Uint8Array>;
  /** Must be called if `pieces` is not. */
  close(): Promise<void>;
}

/** Receives the bytes of a segment as they are produced. Never throws: a segment that cannot be written is dropped. */
export interface SegmentWriter {
  write(pieces: readonly Uint8Array[]): Promise<void>;
  /** Adds the segment to the cache. */
  finish(info: SegmentInfo): Promise<void>;
  /** Discards the segment. Does nothing after `finish`. */
  abandon(): Promise<void>;
}

export interface SegmentStore {
  open(key: readonly unknown[]): Promise<Segment | null>;
  /**
   * Null if nothing is cached, or the same segment is being written. Unless `atOnce`, a segment is written when it is
   * missing for the second time: the first response would take twice as long, and many are never requested again.
   */
  create(key: readonly unknown[], atOnce: boolean): Promise<SegmentWriter | null>;
  figures(): StoreFigures;
}

/** Hits and misses of this process since its start; entries and bytes of the folder when it was last tidied. */
export interface StoreFigures {
  readonly hits: number;
  readonly misses: number;
  readonly entries: number;
  readonly bytes: number;
}

export class DamagedSegmentError extends Error {
  override readonly name = "DamagedSegmentError";
}

/** A CRC, for each piece that is read at once and for the index after them. */
const CHECKSUM = 4;
/**
 * The end of a file: rows, plain bytes and their CRC, number of pieces, and the checksum of everything after the last
 * piece.
 */
const TAIL = 8 + 8 + 4 + 4 + CHECKSUM;
const SUFFIX = ".segment";
/** Names of segments that were missing, which are remembered. */
const MOST_MISSED = 10_000;
/** A temporary file that was not written to for this long was left by a process that died. */
const ABANDONED_AFTER = 10 * 60_000;

/** Caches up to `capacity` bytes in `folder`, which processes may share; nothing if it is 0. */
export async function openSegmentStore(folder: string, capacity: number): Promise<SegmentStore> {
  if (capacity === 0) return NO_STORE;
  await makeOwnFolder(folder);
  const beingWritten = new Set<string>();
  const missed = new LRUCache<string, true>({ max: MOST_MISSED });
  let [hits, misses] = [0, 0];
  let kept = await tidy(folder, capacity);
  let tidying = Promise.resolve();

  return {
    async open(key) {
      const path = join(folder, nameOf(key));
      const segment = await readSegment(path);
      if (segment) hits++;
      else misses++;
      return segment;
    },
    async create(key, atOnce) {
      const name = nameOf(key);
      const isFirst = !missed.has(name);
      missed.set(name, true);
      if (beingWritten.has(name) || (isFirst && !atOnce)) return null;
      beingWritten.add(name);
      const writer = await startSegment(folder, name, () => {
        beingWritten.delete(name);
        tidying = tidying.then(async () => void (kept = await tidy(folder, capacity)));
      });
      if (writer === null) beingWritten.delete(name);
      return writer;
    },
    figures: () => ({ hits, misses, ...kept }),
  };
}

const NO_STORE: SegmentStore = {
  open: async () => null,
  create: async () => null,
  figures: () => ({ hits: 0, misses: 0, entries: 0, bytes: 0 }),
};

const nameOf = (key: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(key)).digest("hex").slice(0, 40) + SUFFIX;

/** Removes abandoned files, then the least recently used segments until the rest fits. */
async function tidy(folder: string, capacity: number): Promise<Pick<StoreFigures, "entries" | "bytes">> {
  const files: { path: string; size: number; used: number }[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (!found) continue;
    if (name.endsWith(SUFFIX)) files.push({ path, size: found.size, used: found.mtimeMs });
    else if (Date.now() - found.mtimeMs > ABANDONED_AFTER) await rm(path, { force: true }).catch(() => undefined);
  }
  let bytes = files.reduce((sum, { size }) => sum + size, 0);
  let entries = files.length;
  for (const { path, size } of files.sort((a, b) => a.used - b.used)) {
    if (bytes <= capacity) break;
    await rm(path, { force: true }).catch(() => undefined);
    bytes -= size;
    entries--;
  }
  return { entries, bytes };
}

/** Null if there is none, or none that can be trusted. */
async function readSegment(path: string): Promise<Segment | null> {
  const file = await open(path, "r").catch(() => null);
  if (file === null) return null;
  const index = await readIndex(file).catch(() => null);

  const read = async (i: number, { bytes, checksums }: Index): Promise<Uint8Array> => {
    const length = Math.min(PIECE, bytes - i * PIECE);
    const piece = takeBuffer(length);
    const { bytesRead } = await file.read(piece, 0, length, i * PIECE);
    if (bytesRead === length && crc32(piece) === checksums[i]) return piece;
    await rm(path, { force: true });
    throw new DamagedSegmentError("a cached segment is damaged");
  };

  const first = index && (await read(0, index).catch(() => null));
  if (index === null || first === null) {
    await file.close();
    await rm(path, { force: true });
    return null;
  }
  const now = new Date();
  void utimes(path, now, now).catch(() => undefined);
  return {
    ...index.info,
    close: () => file.close(),
    async *pieces() {
      let ahead: Promise<Uint8Array> | undefined = Promise.resolve(first);
      try {
        for (let i = 1; ahead; i++) {
          const piece: Uint8Array = await ahead;
          ahead = i < index.checksums.length ? read(i, index) : undefined;
          ahead?.catch(() => undefined); // errors are thrown at the await
          yield piece;
        }
      } finally {
        await ahead?.catch(() => undefined);
        await file.close();
      }
    },
  };
}

interface Index {
  readonly info: SegmentInfo;
  /** The size of the content. */
  readonly bytes: number;
  readonly checksums: Uint32Array;
}

async function readIndex(file: FileHandle): Promise<Index | null> {
  const { size } = await file.stat();
  const tail = Buffer.alloc(TAIL);
  await file.read(tail, 0, TAIL, size - TAIL);
  const pieces = tail.readUInt32LE(20);
  const bytes = size - TAIL - pieces * CHECKSUM;
  if (bytes <= 0 || Math.ceil(bytes / PIECE) !== pieces) return null;
  const end = Buffer.alloc(pieces * CHECKSUM + TAIL);
  await file.read(end, 0, end.length, bytes);
  if (crc32(end.subarray(0, -CHECKSUM)) !== end.readUInt32LE(end.length - CHECKSUM)) return null;
  const checksums = Uint32Array.from({ length: pieces }, (_, i) => end.readUInt32LE(i * CHECKSUM));
  const extent = { bytes: tail.readDoubleLE(8), crc: tail.readUInt32LE(16) };
  return { info: { rows: tail.readDoubleLE(0), extent }, bytes, checksums };
}

async function startSegment(folder: string, name: string, onEnd: () => void): Promise<SegmentWriter | null> {
  const temporary = join(folder, `${randomUUID()}.part`);
  const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600).catch(
    () => null,
  );
  if (file === null) return null;
  const checksums: number[] = [];
  let checksum = 0;
  let bytes = 0;
  let ended = false;

  const end = async (kept: boolean): Promise<void> => {
    if (ended) return;
    ended = true;
    await file.close().catch(() => undefined);
    if (!kept) await rm(temporary, { force: true }).catch(() => undefined);
    onEnd();
  };
  const addChecksums = (piece: Uint8Array): void => {
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + PIECE - (bytes % PIECE));
      checksum = crc32(part, checksum);
      bytes += part.length;
      at += part.length;
      if (bytes % PIECE > 0) continue;
      checksums.push(checksum);
      checksum = 0;
    }
  };

  return {
    async write(pieces) {
      if (ended || pieces.length === 0) return;
      for (const piece of pieces) addChecksums(piece);
      await file.writev(pieces).catch(() => end(false));
    },
    async finish({ rows, extent }) {
      if (ended) return;
      if (bytes % PIECE > 0) checksums.push(checksum);
      const index = Buffer.alloc(checksums.length * CHECKSUM + TAIL);
      for (const [i, one] of checksums.entries()) index.writeUInt32LE(one, i * CHECKSUM);
      const tail = index.subarray(checksums.length * CHECKSUM);
      tail.writeDoubleLE(rows, 0);
      tail.writeDoubleLE(extent.bytes, 8);
      tail.writeUInt32LE(extent.crc, 16);
      tail.writeUInt32LE(checksums.length, 20);
      tail.writeUInt32LE(crc32(index.subarray(0, -CHECKSUM)), 24);
      const kept = await file
        .writev([index])
        .then(() => rename(temporary, join(folder, name)))
        .then(() => true)
        .catch(() => false);
      await end(kept);
    },
    abandon: () => end(false),
  };
}

/** Bytes that are read at once. */
const PIECE = 1 << 20;
