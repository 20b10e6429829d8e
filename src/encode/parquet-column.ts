// A column of a row group of a Parquet file, gathered from batches. Repeated values are stored once, in a dictionary.
import type { ColumnType } from "../catalog/types.js";
import { requireDay, textOfDay } from "./rows-plain.js";
import type { Head } from "./types.js";
import { dictionaryOf, MOST_VALUES, type Dictionary } from "./dictionary.js";
import { GrowingBytes } from "./growing-bytes.js";
import { isPresent, type ColumnData } from "../arrow-data.js";

interface ParquetColumn {
  /** Appends copies of the values of these rows of a batch. */
  add(source: ColumnData, from: number, to: number): void;
  /** Bytes gathered so far. */
  byteLength(): number;
  /**
   * What was gathered, valid until the next `add`, which starts a new row group, or the next `take` of any column.
   * Throws RangeError for a date outside the years 1 to 9999.
   */
  take(): Gathered;
}

/** Bytes in Parquet's encoding PLAIN: numbers in little-endian order, text after its length in four bytes. */
type Plain = Uint8Array;

export interface Gathered {
  /** The rows without a value, ascending. */
  readonly missing: readonly number[];
  /** The values of the other rows; if there is a `dictionary`, each distinct value once. */
  readonly plain: Plain;
  readonly dictionary?: DictionaryIndexes;
  /** Minimum and maximum, for dates only. */
  readonly bounds?: readonly [string, string] | readonly [number, number];
}

/** For each value, its index among the distinct ones. */
export interface DictionaryIndexes {
  readonly indexes: Uint16Array;
  readonly distinct: number;
}

const COLUMNS: Record<ColumnType, (head: Pick<Head, "dates">) => ParquetColumn> = {
  code: textColumn,
  text: textColumn,
  date: ({ dates }) => dateColumn(dates === "date" ? AS_DAYS : AS_TEXT),
  float64: () => numberColumn(EXPONENT),
  int64: () => numberColumn(NOT_A_WORD),
};

export function parquetColumn(type: ColumnType, head: Pick<Head, "dates">): ParquetColumn {
  return COLUMNS[type](head);
}

/** A dictionary must save about half of the bytes, because it costs the reader a step. */
const mostDistinct = (count: number): number => count >> 1;

/** How many row groups of a column skip the dictionary after one in which too many values were distinct. */
const PAUSE = 7;

type Find = (plain: Plain) => Dictionary | undefined;

function withPauses(find: Find): Find {
  let pause = 0;
  return (plain) => {
    if (pause-- > 0) return undefined;
    const found = find(plain);
    pause = found || plain.length === 0 ? 0 : PAUSE;
    return found;
  };
}

/** Hashes of the current values. */
const hashes = new Uint32Array(MOST_VALUES);

/** The upper words of NaN and the infinities, which count as missing, have all of these bits. */
const EXPONENT = 0x7ff00000;
const NOT_A_WORD = 2 ** 32;

/** Numbers are handled as pairs of words, so that their bits do not change. */
function numberColumn(exponent: number): ParquetColumn {
  const gathered = new GrowingBytes();
  const missing = new MissingRows();
  const find = withPauses((plain) => {
    const words = wordsOf(plain, 0, plain.length);
    const count = words.length / 2;
    for (let i = 0; i < count; i++) hashes[i] = hashOf(words[i * 2]!, words[i * 2 + 1]!);
    const same = (a: number, b: number): boolean =>
      words[a * 2] === words[b * 2] && words[a * 2 + 1] === words[b * 2 + 1];
    return dictionaryOf(hashes.subarray(0, count), mostDistinct(count), same);
  });
  return {
    add(source, from, to) {
      const words = wordsOf(source.values, from * 8, to * 8);
      const added = gathered.extend(words.byteLength);
      const before = missing.pass(to - from);
      if (source.nullCount === 0 && areNumbers(words, exponent)) {
        added.set(new Uint8Array(words.buffer, words.byteOffset, words.byteLength));
        return;
      }
      const target = wordsOf(added, 0, added.length);
      let used = 0;
      for (let i = 0; i < words.length; i += 2) {
        const upper = words[i + 1]!;
        if ((upper & exponent) !== exponent && isPresent(source, from + i / 2)) {
          target[used++] = words[i]!;
          target[used++] = upper;
        } else missing.add(before + i / 2);
      }
      gathered.shrink((words.length - used) * 4);
    },
    byteLength: () => gathered.length,
    take() {
      const plain = gathered.take();
      const dictionary = find(plain);
      if (!dictionary) return { missing: missing.take(), plain };
      const { firsts, indexes } = dictionary;
      const words = wordsOf(plain, 0, plain.length);
      const distinct = new Uint32Array(firsts.length * 2);
      for (let i = 0; i < firsts.length; i++) {
        distinct[i * 2] = words[firsts[i]! * 2]!;
        distinct[i * 2 + 1] = words[firsts[i]! * 2 + 1]!;
      }
      const dictionaryIndexes = { indexes, distinct: firsts.length };
      return { missing: missing.take(), plain: new Uint8Array(distinct.buffer), dictionary: dictionaryIndexes };
    },
  };
}

function areNumbers(words: Uint32Array, exponent: number): boolean {
  for (let i = 1; i < words.length; i += 2) if ((words[i]! & exponent) === exponent) return false;
  return true;
}

/** How days since 1970-01-01 are written: all of them, and the first and the last. */
type WriteDays = (days: readonly number[]) => Pick<Gathered, "plain"> & Required<Pick<Gathered, "bounds">>;

const AS_TEXT: WriteDays = (days) => {
  const texts = days.map(textOfDay);
  const sorted = texts.toSorted();
  const plain = Buffer.from(texts.map((text) => `\b\0\0\0${text}`).join(""), "latin1");
  return { plain, bounds: [sorted[0]!, sorted.at(-1)!] };
};

const AS_DAYS: WriteDays = (days) => {
  days.forEach(requireDay);
  const sorted = days.toSorted((a, b) => a - b);
  return { plain: new Uint8Array(Int32Array.from(days).buffer), bounds: [sorted[0]!, sorted.at(-1)!] };
};

/** There are few distinct days, so there is always a dictionary, and only its values are written. */
function dateColumn(write: WriteDays): ParquetColumn {
  const gathered = new GrowingBytes();
  const missing = new MissingRows();
  return {
    add(source, from, to) {
      const added = gathered.extend((to - from) * 4);
      const before = missing.pass(to - from);
      const target = wordsOf(added, 0, added.length);
      let used = 0;
      for (let row = from; row < to; row++) {
        if (isPresent(source, row)) target[used++] = (source.values as Int32Array)[row]!;
        else missing.add(before + row - from);
      }
      gathered.shrink((to - from - used) * 4);
    },
    byteLength: () => gathered.length,
    take() {
      const bytes = gathered.take();
      const days = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
      for (let i = 0; i < days.length; i++) hashes[i] = hashOf(days[i]!, 0);
      const same = (a: number, b: number): boolean => days[a] === days[b];
      const dictionary = dictionaryOf(hashes.subarray(0, days.length), days.length, same);
      if (!dictionary) return { missing: missing.take(), plain: bytes };
      const { firsts, indexes } = dictionary;
      return {
        missing: missing.take(),
        ...write(Array.from(firsts, (first) => days[first]!)),
        dictionary: { indexes, distinct: firsts.length },
      };
    },
  };
}

/** Where each text starts, after its length. */
const starts = new Uint32Array(MOST_VALUES);

function textColumn(): ParquetColumn {
  const gathered = new GrowingBytes();
  const missing = new MissingRows();
  // A column that began with dictionaries keeps them: fastparquet 2026.9.0 loses the plain values that follow.
  let isKept = false;
  const find = withPauses((plain) => {
    const view = viewOf(plain);
    let count = 0;
    for (let at = 0; at < plain.length; count++) {
      starts[count] = at + 4;
      at += 4 + view.getUint32(at, true);
      hashes[count] = hashOfBytes(view, starts[count]!, at);
    }
    const same = (a: number, b: number): boolean => isSameText(plain, view, starts[a]!, starts[b]!);
    const found = dictionaryOf(hashes.subarray(0, count), isKept ? count : mostDistinct(count), same);
    isKept ||= found !== undefined;
    return found;
  });
  return {
    add(source, from, to) {
      const { values, valueOffsets } = source as { values: Uint8Array; valueOffsets: Int32Array };
      const most = valueOffsets[to]! - valueOffsets[from]! + (to - from) * 4;
      const added = gathered.extend(most);
      const before = missing.pass(to - from);
      let used = 0;
      for (let row = from; row < to; row++) {
        if (!isPresent(source, row)) {
          missing.add(before + row - from);
          continue;
        }
        const start = valueOffsets[row]!;
        const length = valueOffsets[row + 1]! - start;
        added[used] = length;
        added[used + 1] = length >>> 8;
        added[used + 2] = length >>> 16;
        added[used + 3] = length >>> 24;
        used += 4;
        if (length < SHORT) for (let i = 0; i < length; i++) added[used + i] = values[start + i]!;
        else added.set(values.subarray(start, start + length), used);
        used += length;
      }
      gathered.shrink(most - used);
    },
    byteLength: () => gathered.length,
    take() {
      const plain = gathered.take();
      const dictionary = find(plain);
      if (!dictionary) return { missing: missing.take(), plain };
      const view = viewOf(plain);
      const distinct = Array.from(dictionary.firsts, (first) => {
        const start = starts[first]!;
        return plain.subarray(start - 4, start + view.getUint32(start - 4, true));
      });
      return {
        missing: missing.take(),
        plain: Buffer.concat(distinct),
        dictionary: { indexes: dictionary.indexes, distinct: distinct.length },
      };
    },
  };
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/** Below this number of bytes, a loop copies and compares faster than a call. */
const SHORT = 32;

function isSameText(bytes: Uint8Array, view: DataView, a: number, b: number): boolean {
  const length = view.getUint32(a - 4, true);
  if (length !== view.getUint32(b - 4, true)) return false;
  if (length >= SHORT) return Buffer.compare(bytes.subarray(a, a + length), bytes.subarray(b, b + length)) === 0;
  for (let i = 0; i < length; i++) if (bytes[a + i] !== bytes[b + i]) return false;
  return true;
}

/** A hash of two words; its upper bits depend on all of theirs. */
function hashOf(a: number, b: number): number {
  const mixed = a ^ Math.imul(b ^ (b >>> 15), 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 15), 0x9e3779b1);
}

function hashOfBytes(view: DataView, start: number, end: number): number {
  let hash = end - start;
  let at = start;
  for (; at + 4 <= end; at += 4) hash = hashOf(view.getUint32(at, true), hash);
  for (; at < end; at++) hash = hashOf(view.getUint8(at), hash);
  return hash;
}

const wordsOf = ({ buffer, byteOffset }: ArrayBufferView, from: number, to: number): Uint32Array =>
  new Uint32Array(buffer, byteOffset + from, (to - from) / 4);

/** The missing ones of the gathered rows. */
class MissingRows {
  private passed = 0;
  private rows: number[] = [];

  /** Advances by this many rows; returns the number of the first one. */
  pass(rows: number): number {
    this.passed += rows;
    return this.passed - rows;
  }

  add(row: number): void {
    this.rows.push(row);
  }

  take(): readonly number[] {
    const { rows } = this;
    this.passed = 0;
    this.rows = [];
    return rows;
  }
}
