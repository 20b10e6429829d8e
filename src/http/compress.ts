// Compressing a body while it is made. Fast levels: the encoder makes hundreds of megabytes a second.
import { pipeline, Readable } from "node:stream";
import { constants, createBrotliCompress, createGzip } from "node:zlib";
import type { Encoding } from "./negotiate.js";

const COMPRESSORS = {
  gzip: () => createGzip({ level: 1, chunkSize: 128 * 1024 }),
  br: () => createBrotliCompress({ chunkSize: 128 * 1024, params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
} as const;

/** The pieces, compressed. Throws what `pieces` throws, without an end of the compressed stream before it. */
export function compress(pieces: AsyncIterable<Uint8Array>, encoding: Encoding): AsyncIterable<Uint8Array> {
  if (encoding === "identity") return pieces;
  const compressor = COMPRESSORS[encoding]();
  pipeline(Readable.from(pieces, { objectMode: true }), compressor, () => undefined);
  return compressor;
}
