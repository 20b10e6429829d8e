// Compresses a body while it is produced: gzip in independent blocks, so that compressed bytes of an earlier body can
// be inserted; zstd as one frame, because several programs take the first frame for the whole body.
import { once } from "node:events";
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { giveBuffer } from "../buffers.js";
import { hasZstd, zstdStream } from "../zstd.js";

/** The plain size of some packed bytes, and the CRC-32 of the plain bytes. */
export interface Extent {
  readonly bytes: number;
  readonly crc: number;
}

export interface Packer {
  /** Adds plain bytes, which are not the caller's any more; resolves to bytes that can be sent, possibly none. */
  add(bytes: Uint8Array): Promise<readonly Uint8Array[]>;
  /** Resolves to the rest of what was added. Packed bytes from elsewhere may follow. */
  flush(): Promise<readonly Uint8Array[]>;
  /** What was added since the last call. Call it after `flush`. */
  extent(): Extent;
  /** Whether cached segments hold plain bytes, which are added like others; otherwise packed ones, which are sent as they are. */
  readonly storesPlain: boolean;
  /** Reports that packed bytes with this extent were sent. */
  passed(extent: Extent): void;
  /** The bytes at the end. */
  end(): Promise<Uint8Array>;
  /** Must be called in any case. */
  close(): void;
}

export type Encoding = "zstd" | "gzip" | "identity";

export const PACKERS: Record<Encoding, () => Packer> = { zstd: zstdPacker, gzip: gzipPacker, identity: plainPacker };

/** The encoding of the cached segments of a body. */
export const STORED_AS: Record<Encoding, Encoding> = { zstd: "identity", gzip: "gzip", identity: "identity" };

/** The encodings that this Node can make. */
export const ENCODINGS: readonly Encoding[] = [...(hasZstd ? ["zstd" as const] : []), "gzip", "identity"];

const NOTHING = new Uint8Array(0);
const NO_EXTENT: Extent = { bytes: 0, crc: 0 };

function plainPacker(): Packer {
  return {
    add: async (bytes) => [bytes],
    flush: async () => [],
    extent: () => NO_EXTENT,
    storesPlain: false,
    passed: () => undefined,
    end: async () => NOTHING,
    close: () => undefined,
  };
}

function zstdPacker(): Packer {
  const stream = zstdStream();
  const packed: Uint8Array[] = [];
  stream.on("data", (bytes: Uint8Array) => packed.push(bytes));
  // A failure rejects what waits for the stream.
  stream.on("error", () => undefined);
  const take = (): Uint8Array[] => packed.splice(0);
  const write = promisify((bytes: Uint8Array, done: (error?: Error | null) => void) => stream.write(bytes, done));
  return {
    async add(bytes) {
      if (bytes.length > 0) await write(bytes);
      giveBuffer(bytes);
      return take();
    },
    flush: async () => take(),
    extent: () => NO_EXTENT,
    storesPlain: true,
    passed: () => undefined,
    async end() {
      const ended = once(stream, "end");
      stream.end();
      await ended;
      return Buffer.concat(take());
    },
    close: () => stream.destroy(),
  };
}

/** Plain bytes of a block: a few milliseconds of work, so that blocks can be packed in parallel. */
const BLOCK = 512 * 1024;
/** Blocks that are packed at the same time. */
const CONCURRENT_BLOCKS = 3;

const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);
/** An empty last block. */
const DEFLATE_END = Uint8Array.of(3, 0);

const deflate = promisify<Uint8Array[], Buffer>((parts, done) => {
  const options = { level: zlib.constants.Z_BEST_SPEED, finishFlush: zlib.constants.Z_SYNC_FLUSH };
  zlib.deflateRaw(parts.length === 1 ? parts[0]! : Buffer.concat(parts), options, done);
});

function gzipPacker(): Packer {
  let parts: Uint8Array[] = [];
  let waiting = 0;
  let packing: Promise<Uint8Array>[] = [Promise.resolve(GZIP_HEADER)];
  let total = NO_EXTENT;
  let since = NO_EXTENT;

  const pack = (): void => {
    if (waiting === 0) return;
    const packed = parts;
    const block = deflate(packed).finally(() => packed.forEach(giveBuffer));
    block.catch(() => undefined); // errors are thrown at the await
    packing.push(block);
    parts = [];
    waiting = 0;
  };
  const passed = (extent: Extent): void => {
    total = { bytes: total.bytes + extent.bytes, crc: joinedCrc(total.crc, extent.crc, extent.bytes) };
  };

  return {
    async add(bytes) {
      if (bytes.length === 0) return [];
      since = { bytes: since.bytes + bytes.length, crc: zlib.crc32(bytes, since.crc) };
      parts.push(bytes);
      waiting += bytes.length;
      if (waiting < BLOCK) return [];
      pack();
      return packing.length > CONCURRENT_BLOCKS ? [await packing.shift()!] : [];
    },
    async flush() {
      pack();
      const rest = packing;
      packing = [];
      return Promise.all(rest);
    },
    extent() {
      const extent = since;
      passed(extent);
      since = NO_EXTENT;
      return extent;
    },
    storesPlain: false,
    passed,
    close: () => undefined,
    async end() {
      const trailer = Buffer.alloc(8);
      trailer.writeUInt32LE(total.crc, 0);
      trailer.writeUInt32LE(total.bytes % 2 ** 32, 4);
      return Buffer.concat([DEFLATE_END, trailer]);
    },
  };
}

// The checksum of concatenated bytes from the checksums of their parts, with zlib's method: appending zeros is linear.

/** The polynomial of CRC-32, reflected. */
const POLYNOMIAL = 0xedb88320;

/** Row i is the result of appending one zero bit to a checksum in which only bit i is set. */
const ONE_BIT: readonly number[] = [POLYNOMIAL, ...Array.from({ length: 31 }, (_, i) => 1 << i)];

/** The CRC-32 of a part followed by another one, which has `bytes` bytes. */
export function joinedCrc(first: number, second: number, bytes: number): number {
  let crc = first;
  let zeros = square(square(square(ONE_BIT))); // eight bits: one byte
  for (let left = bytes; left > 0; left = Math.floor(left / 2), zeros = square(zeros)) {
    if (left % 2 === 1) crc = times(zeros, crc);
  }
  return (crc ^ second) >>> 0;
}

function times(matrix: readonly number[], vector: number): number {
  let sum = 0;
  for (let bit = 0; bit < 32; bit++) if ((vector >>> bit) & 1) sum ^= matrix[bit]!;
  return sum;
}

const square = (matrix: readonly number[]): readonly number[] => matrix.map((row) => times(matrix, row));
