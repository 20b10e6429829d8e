// Rows as text, by the fastest row writer that this process can have.
import type { Column } from "../catalog/types.js";
import type { RowStyle, RowWriter } from "./row-style.js";
import { kernelRows } from "./rows-kernel.js";
import { plainRows } from "./rows-plain.js";

export function rowWriter(columns: readonly Column[], style: RowStyle): RowWriter {
  return kernelRows(columns, style) ?? plainRows(columns, style);
}
