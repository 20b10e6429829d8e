// What the thread that sends responses and the threads that encode them tell each other.
import type { EncodedRows } from "../copies/encoded.js";
import type { Part } from "./part.js";

export interface Job {
  readonly id: number;
  readonly part: Part;
  /** Buffers that the thread can fill. */
  readonly unused: readonly ArrayBuffer[];
}

export type JobResult = {
  readonly id: number;
} & (
  | { readonly rows: EncodedRows }
  /** `sha256` is that of a copy that is damaged, if that is the reason. */
  | { readonly failed: string; readonly sha256: string | null }
);

/** The first message of a thread. */
export const READY = "ready";
