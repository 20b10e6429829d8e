// Finds equal values of a column with a hash table that is reused for each column.

/** Maximum number of values per dictionary. */
export const MOST_VALUES = 65_536;

/** Valid until the next one is created. */
export interface Dictionary {
  /** The index of the first occurrence of each distinct value, ascending. */
  readonly firsts: Uint32Array;
  /** For each value, its index in `firsts`. */
  readonly indexes: Uint16Array;
}

const table = new Uint32Array(MOST_VALUES * 2);
const firsts = new Uint32Array(MOST_VALUES);
const indexes = new Uint16Array(MOST_VALUES);

/**
 * The dictionary of up to MOST_VALUES values with these hashes, whose upper bits matter most; `same` compares two
 * values by index. Undefined if there are no values, or more than `most` distinct ones.
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
