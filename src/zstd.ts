// Compression with zstd, which Node has since 22.15; it is missing from the types of Node 20.
import type { Transform } from "node:stream";
import * as zlib from "node:zlib";

interface Options {
  readonly params: Readonly<Record<number, number>>;
  readonly chunkSize?: number;
}

interface Zstd {
  readonly createZstdCompress?: (options: Options) => Transform;
  readonly zstdCompress?: (
    bytes: Uint8Array,
    options: Options,
    done: (error: Error | null, frame: Buffer) => void,
  ) => void;
  readonly constants: { readonly ZSTD_c_compressionLevel?: number };
}

const { createZstdCompress, zstdCompress, constants } = zlib as unknown as Zstd;

/** Whether this Node has it; otherwise nothing else of this module may be called. */
export const hasZstd = createZstdCompress !== undefined && zstdCompress !== undefined;

const LEVEL = 1;
const optionsOf = (): Options => ({ params: { [constants.ZSTD_c_compressionLevel!]: LEVEL } });

/** A stream that makes one frame. */
export const zstdStream = (): Transform => createZstdCompress!(optionsOf());

/** Less room than this is not accepted. */
const LEAST_ROOM = 64;

/** The bytes as a frame, made on another thread. */
export const zstdFrame = (bytes: Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    // With room for all bytes at once: a frame that is larger than they are is of no use.
    const options = { ...optionsOf(), chunkSize: Math.max(LEAST_ROOM, bytes.length) };
    zstdCompress!(bytes, options, (error, frame) => (error === null ? resolve(frame) : reject(error)));
  });
