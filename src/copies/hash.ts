// The checksum of serving copies: XXH64.
import xxhash from "xxhash-wasm";
import type { Hash } from "./layout.js";

/** Null if there is no memory for WebAssembly; copies are then disabled. */
export const hash: Hash | null = await xxhash().then(
  (api): Hash =>
    (bytes) =>
      api.h64Raw(bytes),
  (error: unknown) => {
    if (error instanceof RangeError) return null;
    throw error;
  },
);
