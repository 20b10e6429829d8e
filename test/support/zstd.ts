// Unpacks zstd, where Node has it, also for the reader of Arrow.
import * as zlib from "node:zlib";
import { CompressionType, compressionRegistry } from "apache-arrow";
import { hasZstd } from "../../src/zstd.js";

const { zstdDecompressSync } = zlib as unknown as { readonly zstdDecompressSync?: (bytes: Uint8Array) => Buffer };

export const unzstd = (bytes: Uint8Array): Buffer => zstdDecompressSync!(bytes);

/** What the title of a test that needs zstd says. */
export const orSkipped = (title: string): string => (hasZstd ? title : `${title} (skipped: Node 22.15 has zstd)`);

// The reader of Arrow has no codec of its own.
if (hasZstd) compressionRegistry.set(CompressionType.ZSTD, { decode: (bytes) => new Uint8Array(unzstd(bytes)) });
