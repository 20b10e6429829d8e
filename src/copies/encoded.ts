// Rows of copies that are encoded elsewhere, part by part, while earlier parts are sent.
import { ahead } from "../ahead.js";
import { giveBuffer } from "../buffers.js";
import type { RowRange } from "./pick.js";
import type { File } from "./slices.js";

/** Rows in the form of a response. */
export interface EncodedRows {
  readonly numRows: number;
  /** They belong to whoever reads them. */
  readonly pieces: readonly Uint8Array[];
}

/** Rows of a file. */
export interface FileRows {
  readonly file: File;
  readonly range: RowRange;
}

/** Encodes rows of a segment; `isContinued` unless they are its first ones. Throws DamagedCopyError. */
export type EncodePart = (rows: readonly FileRows[], isContinued: boolean) => Promise<EncodedRows>;

/** As many as a record batch of a copy has. */
export const PART_ROWS = 16_384;
/** Parts that are encoded, or wait for it, while an earlier one is sent. */
const AHEAD = 2;

/** Encodes rows in their order. */
export async function* encoded(
  rows: readonly FileRows[],
  encode: EncodePart,
): AsyncGenerator<EncodedRows, void, undefined> {
  const parts = partsOf(rows).map((part, i) => ({ part, isContinued: i > 0 }));
  const start = ({ part, isContinued }: (typeof parts)[number]): Promise<EncodedRows> => encode(part, isContinued);
  for await (const [, one] of ahead(parts, AHEAD, start, ({ pieces }) => pieces.forEach(giveBuffer))) yield one;
}

/** Cuts rows into parts of PART_ROWS. */
function partsOf(rows: readonly FileRows[]): readonly (readonly FileRows[])[] {
  const parts: FileRows[][] = [];
  let room = 0;
  for (const { file, range } of rows) {
    for (let [from, to] = range; from < range[1]; from = to) {
      if (room === 0) {
        parts.push([]);
        room = PART_ROWS;
      }
      to = Math.min(range[1], from + room);
      parts.at(-1)!.push({ file, range: [from, to] });
      room -= to - from;
    }
  }
  return parts;
}
