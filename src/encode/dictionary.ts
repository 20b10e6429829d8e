// Which values of a column are the same, found through a hash table that is used again for each column.

/** Values of a column that are numbered at a time. */
export const MOST_VALUES = 65_536;

/** Valid until the next one is made. */
export interface Dictionary {
  /** Where each distinct value stands for the first time, in that order. */
  readonly firsts: Uint32Array;
  /** Of each value, the place of its like in `firsts`. */
  readonly indexes: Uint16Array;
}

const table = new Uint32Array(MOST_VALUES * 2);
const firsts = new Uint32Array(MOST_VALUES);
const indexes = new Uint16Array(MOST_VALUES);

/**
 * The dictionary of up to MOST_VALUES values with these hashes, whose upper bits count most; `same` compares two by place.
 * Undefined where there is none, or more than `most` are distinct.
 */
export function dictionaryOf(
  hashes: Uint32Array,
  most: number,
  same: (a: number, b: number) => boolean,
): Dictionary | undefined {
  if (most === 0) return undefined;
  const unused = Math.clz32(most * 2 - 1);
  const mask = 0xffffffff >>> unused;
  table.fill(0, 0, mask + 1);
  let size = 0;
  for (let i = 0; i < hashes.length; i++) {
    let slot = hashes[i]! >>> unused;
    let entry = table[slot]!;
    while (entry !== 0 && !same(firsts[entry - 1]!, i)) {
      slot = (slot + 1) & mask;
      entry = table[slot]!;
    }
    if (entry === 0) {
      if (size === most) return undefined;
      firsts[size] = i;
      table[slot] = entry = ++size;
    }
    indexes[i] = entry - 1;
  }
  return { firsts: firsts.subarray(0, size), indexes: indexes.subarray(0, hashes.length) };
}
