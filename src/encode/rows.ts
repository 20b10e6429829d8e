// Rows as text, with the fastest row writer that this process can use.
import type { ColumnData } from "../arrow-data.js";
import type { Column, ColumnType } from "../catalog/types.js";
import type { RowStyle, RowWriter } from "./types.js";
import { kernelRows } from "./rows-kernel.js";
import { plainRows } from "./rows-plain.js";

export function rowWriter(columns: readonly Column[], style: RowStyle): RowWriter {
  return kernelRows(columns, style) ?? plainRows(columns, style);
}

const TEXTS = ["600519.SH", '贵州"茅台', "", "a,b\n\u0000", "é"].map((text) => Buffer.from(text));
const ENDS = TEXTS.map((_, i) => TEXTS.slice(0, i + 1).reduce((sum, { length }) => sum + length, 0));
const TEXT = { values: Buffer.concat(TEXTS), valueOffsets: Int32Array.of(0, ...ENDS) };

const SAMPLES: Record<ColumnType, Pick<ColumnData, "values" | "valueOffsets">> = {
  code: TEXT,
  text: TEXT,
  date: { values: Int32Array.of(0, 19_724, -719_162, 2_932_896, 11_016), valueOffsets: undefined },
  float64: {
    values: Float64Array.of(0.1, -1_688.88, 5e-324, 1.7976931348623157e308, Number.NaN),
    valueOffsets: undefined,
  },
  int64: { values: BigInt64Array.of(0n, -1n, 2n ** 63n - 1n, 20_240_102n, 42n), valueOffsets: undefined },
};

/**
 * Whether the WebAssembly kernel and the plain row writer have the same output for a sample of every type; `absent` if
 * this machine has no WebAssembly with SIMD: rows are then written more slowly.
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
  for (const quoting of ["json", "csv"] as const) {
    const style = { prefixes: types.map(() => ","), suffix: "\n", quoting };
    const kernel = kernelRows(columns, style);
    if (!kernel) return "absent";
    const [written, wanted] = [kernel(sources, 0, 5), plainRows(columns, style)(sources, 0, 5)];
    if (!Buffer.from(written).equals(Buffer.from(wanted))) return "different";
  }
  return "equal";
}
