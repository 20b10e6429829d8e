// A part of a response that a thread encodes from serving copies, and what it gives back.
import { LRUCache } from "lru-cache";
import type { Column } from "../catalog/types.js";
import type { EncodedRows } from "../copies/encoded.js";
import type { OpenCopies } from "../copies/opened.js";
import { DamagedCopyError } from "../copies/open.js";
import type { Source } from "../copies/rows.js";
import { inOrder, slicesIn } from "../copies/slices.js";
import { ENCODERS } from "../encode/index.js";
import type { Encoder, Form } from "../encode/types.js";

/** Plain data, so that it can be sent to a thread. */
export interface Part extends Form {
  /** Rows of these files, in this order. */
  readonly files: readonly PartOfFile[];
  readonly columns: readonly Column[];
  readonly isContinued: boolean;
}

interface PartOfFile {
  readonly path: string;
  /** Of the Parquet file. */
  readonly sha256: string;
  /** Of the copy. */
  readonly identity: string;
  readonly from: number;
  readonly to: number;
  readonly sources: readonly Source[];
}

/** A copy of a part is damaged. */
export class UnreadablePartError extends Error {
  override readonly name = "UnreadablePartError";

  constructor(readonly sha256: string) {
    super("a serving copy cannot be read");
  }
}

/** Encodes parts, one at a time. Throws an UnreadablePartError, and RangeError for a date outside the years 1 to 9999. */
export function partEncoder(copies: OpenCopies): (part: Part) => Promise<EncodedRows> {
  /** Making an encoder takes longer than asking for one that was used before. */
  const encoders = new LRUCache<string, Encoder>({ max: MOST_ENCODERS });
  const encoderOf = ({ columns, format, dates }: Part): Encoder => {
    const key = JSON.stringify([format, dates, columns.map(({ name, type }) => [name, type])]);
    const known = encoders.get(key);
    if (known !== undefined) return known;
    // What comes before the first row and after the last one is encoded where the response is sent.
    const made = ENCODERS[format]({ entity: "", dataVersion: "", columns, dates });
    encoders.set(key, made);
    return made;
  };
  return async (part) => {
    const segment = encoderOf(part).segment(part.isContinued);
    const pieces: Uint8Array[] = [];
    let numRows = 0;
    for (const { path, sha256, identity, from, to, sources } of part.files) {
      const held = await copies.hold(path, sha256, identity);
      if (held === null) throw new Error("the copy is gone");
      try {
        const slices = slicesIn({ copy: held.copy, columns: part.columns, sources }, [from, to]);
        for await (const batch of inOrder(slices, Infinity)) {
          pieces.push(...segment.batch(batch));
          numRows += batch.numRows;
        }
      } catch (error) {
        // What was gathered so far must not come before other rows.
        encoders.clear();
        if (!(error instanceof DamagedCopyError)) throw error;
        await copies.discard(sha256, error.copy);
        throw new UnreadablePartError(sha256);
      } finally {
        held.leave();
      }
    }
    pieces.push(...segment.end());
    return { numRows, pieces };
  };
}

/** Encoders that are kept, of as many kinds of response. */
const MOST_ENCODERS = 64;
