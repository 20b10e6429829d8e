// Rows as text, written by the WebAssembly kernel if this process can run it. The kernel has a fixed memory: a window of
// rows is copied in, and the output is copied out.
import { takeBuffer } from "../buffers.js";
import type { ColumnData } from "../arrow-data.js";
import type { Column, ColumnType } from "../catalog/types.js";
import { type RowStyle, type RowWriter, WINDOW } from "./types.js";
import { plainRows } from "./rows-plain.js";
import * as abi from "./kernel/abi.js";
import { KERNEL_BYTES } from "./kernel-bytes.js";

export function rowWriter(columns: readonly Column[], style: RowStyle): RowWriter {
  return kernelRows(columns, style) ?? plainRows(columns, style);
}

interface Kernel {
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
  /** First byte of the memory that windows may use. */
  readonly arena: number;
  /** WebAssembly takes numbers only, so these are single parameters. */
  readonly encode: (
    rows: number,
    columns: number,
    suffix: number,
    suffixLength: number,
    json: boolean,
    missing: number,
    missingLength: number,
    out: number,
  ) => number;
}

interface Layout {
  readonly kind: number;
  /** Bytes of a value in memory; for text, of an offset. */
  readonly width: number;
  /** Upper bound of the bytes of a value in the output; for text, without its own bytes. */
  readonly bound: number;
}

const TEXT: Layout = { kind: abi.TEXT, width: 4, bound: 4 };
const LAYOUTS: Record<ColumnType, Layout> = {
  code: TEXT,
  text: TEXT,
  date: { kind: abi.DATE, width: 4, bound: 10 },
  float64: { kind: abi.DOUBLE, width: 8, bound: 25 },
  int64: { kind: abi.INTEGER, width: 8, bound: 20 },
};
/** Maximum output bytes per byte of text: `\u0000`, or a doubled quote. */
const TEXT_GROWTH = { json: 6, csv: 2 } as const;

/** One per process: it has no state between windows. */
let shared: Kernel | null | undefined;

/** The row writer that uses the kernel, or undefined if WebAssembly (with SIMD) or memory for it is missing. */
export function kernelRows(columns: readonly Column[], style: RowStyle): RowWriter | undefined {
  if (shared === undefined) shared = loadKernel();
  if (shared === null) return undefined;
  const kernel = shared;
  const layouts = columns.map((column) => LAYOUTS[column.type]);
  const json = style.quoting === "json";
  const growth = TEXT_GROWTH[style.quoting];
  const missing = Buffer.alloc(4);
  missing.write(style.missing);
  const plain = plainRows(columns, style);

  // The memory of a window: prefixes and suffix, columns, values, output.
  const affixes = style.prefixes.concat(style.suffix).map((text) => Buffer.from(text));
  const fixedBytes = Buffer.concat(affixes);
  const affixAt = affixes.map((_, i) => kernel.arena + affixes.slice(0, i).reduce((sum, a) => sum + a.length, 0));
  const columnsAt = align(kernel.arena + fixedBytes.length + abi.SLACK);
  const valuesAt = align(columnsAt + (columns.length + 1) * abi.COLUMN_SIZE);
  const rowBound = fixedBytes.length + layouts.reduce((sum, layout) => sum + layout.bound, 0);
  const rowWidth = layouts.reduce((sum, layout) => sum + layout.width, 0);
  // Up to three arrays per column, each with its slack and up to 32 bytes of alignment; and the output.
  const slack = (3 * columns.length + 1) * (abi.SLACK + 32);

  /** Whether `rows` rows and their output fit in the memory. */
  function fits(sources: readonly ColumnData[], row: number, rows: number): boolean {
    let need = valuesAt + slack + rows * (rowBound + rowWidth + columns.length / 8);
    for (const { valueOffsets: offsets } of sources) {
      if (offsets) need += (1 + growth) * (offsets[row + rows]! - offsets[row]!);
    }
    return need <= kernel.bytes.length;
  }

  /** The number of rows from `row` on that fit in one window; 0 if not even one fits. */
  function windowSize(sources: readonly ColumnData[], row: number, left: number): number {
    let rows = Math.min(left, WINDOW);
    while (rows > 0 && !fits(sources, row, rows)) rows >>= 1;
    return rows;
  }

  function encodeWindow(sources: readonly ColumnData[], row: number, rows: number): Uint8Array {
    let at = valuesAt;
    const place = (array: ColumnData["values"], from: number, length: number): number => {
      const width = array.BYTES_PER_ELEMENT;
      const start = at;
      kernel.bytes.set(new Uint8Array(array.buffer, array.byteOffset + from * width, length * width), start);
      at = align(start + length * width + abi.SLACK);
      return start;
    };
    kernel.bytes.set(fixedBytes, kernel.arena);
    let word = columnsAt / 4;
    for (const [i, { values, valueOffsets: offsets, nullCount, nullBitmap, offset }] of sources.entries()) {
      const bit = offset + row;
      kernel.words[word + abi.KIND / 4] = layouts[i]!.kind;
      kernel.words[word + abi.VALIDITY / 4] =
        nullCount === 0 ? 0 : place(nullBitmap, bit >> 3, ((bit & 7) + rows + 7) >> 3);
      kernel.words[word + abi.FIRST_BIT / 4] = bit & 7;
      if (offsets) {
        const first = offsets[row]!;
        kernel.words[word + abi.OFFSETS / 4] = place(offsets, row, rows + 1);
        kernel.words[word + abi.VALUES / 4] = place(values, first, offsets[row + rows]! - first) - first;
      } else {
        kernel.words[word + abi.VALUES / 4] = place(values, row, rows);
      }
      kernel.words[word + abi.PREFIX / 4] = affixAt[i]!;
      kernel.words[word + abi.PREFIX_LENGTH / 4] = affixes[i]!.length;
      word += abi.COLUMN_SIZE / 4;
    }
    kernel.words[word + abi.KIND / 4] = abi.END;
    const end = kernel.encode(
      rows,
      columnsAt,
      affixAt.at(-1)!,
      affixes.at(-1)!.length,
      json,
      missing.readUInt32LE(),
      style.missing.length,
      at,
    );
    if (end === 0) throw new RangeError("date outside the years 1 to 9999");
    const out = takeBuffer(end - at);
    out.set(kernel.bytes.subarray(at, end));
    return out;
  }

  return (sources, from, to) => {
    const parts: Uint8Array[] = [];
    for (let row = from; row < to;) {
      const rows = windowSize(sources, row, to - row);
      parts.push(rows > 0 ? encodeWindow(sources, row, rows) : plain(sources, row, row + 1));
      row += Math.max(rows, 1);
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  };
}

function loadKernel(): Kernel | null {
  if (typeof WebAssembly === "undefined") return null;
  const code = Buffer.from(KERNEL_BYTES, "base64");
  if (!WebAssembly.validate(code)) return null;
  const instance = instanceOf(code);
  if (instance === null) return null;
  const { memory, arena, encode, POWERS } = instance.exports as {
    readonly memory: WebAssembly.Memory;
    readonly arena: () => number;
    readonly encode: Kernel["encode"];
    readonly POWERS: WebAssembly.Global;
  };
  new BigUint64Array(memory.buffer, POWERS.value).set(powersOfTen());
  return { bytes: new Uint8Array(memory.buffer), words: new Uint32Array(memory.buffer), arena: align(arena()), encode };
}

/** Null if there is no memory: V8 reserves about 10 GB of address space for an instance, which `ulimit -v` may forbid. */
function instanceOf(code: Uint8Array<ArrayBuffer>): WebAssembly.Instance | null {
  try {
    return new WebAssembly.Instance(new WebAssembly.Module(code));
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** 10^e for each e of the kernel's table, as the top 128 bits, rounded up: high word, low word. */
function powersOfTen(): bigint[] {
  const words: bigint[] = [];
  for (let e = abi.MIN_POWER; e <= abi.MAX_POWER; e++) {
    const power = 10n ** BigInt(Math.abs(e));
    const length = BigInt(power.toString(2).length);
    // For 10^e the bits past the 128th are cut off; 10^-e is a quotient with 128 bits.
    const [above, below] = e >= 0 ? [power << 128n, 1n << length] : [1n << (length + 127n), power];
    const top = (above + below - 1n) / below;
    words.push(top >> 64n, BigInt.asUintN(64, top));
  }
  return words;
}

function align(address: number): number {
  return (address + 15) & ~15;
}

// The check of the kernel, with a sample of every type.

const TEXTS = ["600519.SH", '贵州"茅台', "", "a,b\n\u0000", "é"].map((text) => Buffer.from(text));
const ENDS = TEXTS.map((_, i) => TEXTS.slice(0, i + 1).reduce((sum, { length }) => sum + length, 0));
const TEXT_SAMPLE = { values: Buffer.concat(TEXTS), valueOffsets: Int32Array.of(0, ...ENDS) };

const SAMPLES: Record<ColumnType, Pick<ColumnData, "values" | "valueOffsets">> = {
  code: TEXT_SAMPLE,
  text: TEXT_SAMPLE,
  date: { values: Int32Array.of(0, 19_724, -719_162, 2_932_896, 11_016), valueOffsets: undefined },
  float64: {
    values: Float64Array.of(0.1, -1_688.88, 5e-324, 1.7976931348623157e308, Number.NaN),
    valueOffsets: undefined,
  },
  int64: { values: BigInt64Array.of(0n, -1n, 2n ** 63n - 1n, 20_240_102n, 42n), valueOffsets: undefined },
};

/**
 * Whether the WebAssembly kernel and the plain row writer have the same output for a sample of every type; `absent` if
 * this machine has no WebAssembly with SIMD, or no memory for it: rows are then written more slowly.
 */
export function checkKernel(): "equal" | "different" | "absent" {
  const types = Object.keys(SAMPLES) as ColumnType[];
  const columns: Column[] = types.map((type) => ({ name: type, type, nullable: true }));
  const sources: ColumnData[] = types.map((type) => ({
    ...SAMPLES[type],
    nullCount: 1,
    nullBitmap: Uint8Array.of(0b10111, ...new Array<number>(7).fill(0)),
    offset: 0,
  }));
  const markers = [["json", "null"] as const, ["csv", ""] as const, ["csv", '""'] as const];
  for (const [quoting, missing] of markers) {
    const style = { prefixes: types.map(() => ","), suffix: "\n", quoting, missing };
    const kernel = kernelRows(columns, style);
    if (!kernel) return "absent";
    const [written, wanted] = [kernel(sources, 0, 5), plainRows(columns, style)(sources, 0, 5)];
    if (!Buffer.from(written).equals(Buffer.from(wanted))) return "different";
  }
  return "equal";
}
