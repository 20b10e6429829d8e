// Which rows of a column have a value.

/** Of an Arrow column, which leaves its buffers `any`. */
export interface Presence {
  readonly offset: number;
  readonly nullCount: number;
  readonly nullBitmap: Uint8Array;
}

export function isPresent({ offset, nullCount, nullBitmap }: Presence, row: number): boolean {
  const bit = offset + row;
  return nullCount === 0 || ((nullBitmap[bit >> 3]! >> (bit & 7)) & 1) === 1;
}
