// Packing a body while it is made: gzip in blocks that stand alone, so that packed bytes of an earlier body fit in.
import { promisify } from "node:util";
import { constants, crc32, deflateRaw } from "node:zlib";
import { joinedCrc } from "./crc.js";

/** How much plain text some packed bytes stand for, and its CRC-32. */
export interface Extent {
  readonly bytes: number;
  readonly crc: number;
}

export interface Packer {
  /** Takes plain bytes; resolves to what is ready to be sent, which may be nothing. */
  add(bytes: Uint8Array): Promise<readonly Uint8Array[]>;
  /** Resolves to the rest of what was added. Packed bytes made elsewhere may follow. */
  flush(): Promise<readonly Uint8Array[]>;
  /** What was added since the last call. To be asked after `flush`. */
  extent(): Extent;
  /** Tells that packed bytes which stand for this much were sent. */
  passed(extent: Extent): void;
  /** The bytes after the last ones. */
  end(): Uint8Array;
}

export type Encoding = "gzip" | "identity";

export const PACKERS: Record<Encoding, () => Packer> = { gzip: gzipPacker, identity: plainPacker };

const NOTHING = new Uint8Array(0);
const NO_EXTENT: Extent = { bytes: 0, crc: 0 };

function plainPacker(): Packer {
  return {
    add: async (bytes) => [bytes],
    flush: async () => [],
    extent: () => NO_EXTENT,
    passed: () => undefined,
    end: () => NOTHING,
  };
}

/** Plain bytes of a block: some milliseconds of work, so that blocks are packed side by side. */
const BLOCK = 512 * 1024;
/** Blocks that are packed at the same time. */
const ABREAST = 3;

const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);
/** An empty last block. */
const DEFLATE_END = Uint8Array.of(3, 0);

const deflate = promisify<Uint8Array[], Buffer>((parts, done) => {
  const options = { level: constants.Z_BEST_SPEED, finishFlush: constants.Z_SYNC_FLUSH };
  deflateRaw(parts.length === 1 ? parts[0]! : Buffer.concat(parts), options, done);
});

function gzipPacker(): Packer {
  let parts: Uint8Array[] = [];
  let waiting = 0;
  let packing: Promise<Uint8Array>[] = [Promise.resolve(GZIP_HEADER)];
  let total = NO_EXTENT;
  let since = NO_EXTENT;

  const pack = (): void => {
    if (waiting === 0) return;
    const block = deflate(parts);
    block.catch(() => undefined); // told where it is awaited
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
      since = { bytes: since.bytes + bytes.length, crc: crc32(bytes, since.crc) };
      parts.push(bytes);
      waiting += bytes.length;
      if (waiting < BLOCK) return [];
      pack();
      return packing.length > ABREAST ? [await packing.shift()!] : [];
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
    passed,
    end() {
      const trailer = Buffer.alloc(8);
      trailer.writeUInt32LE(total.crc, 0);
      trailer.writeUInt32LE(total.bytes % 2 ** 32, 4);
      return Buffer.concat([DEFLATE_END, trailer]);
    },
  };
}
