// Runs a plan up to a limit: yields the batches of the page and returns where it ended.
import type { Data, RecordBatch } from "apache-arrow";
import { isPresent } from "../arrow-data.js";
import type { Column } from "../catalog/types.js";
import { formatDays } from "../dates.js";
import type { Position } from "../query/cursor.js";
import type { Plan } from "../query/plan.js";
import { firstRows, type Scan } from "../query/scan.js";
import type { Rows } from "./reader.js";

export interface PageEnd {
  readonly count: number;
  /** Whether more rows follow. */
  readonly truncated: boolean;
  /** The last row of a truncated response; null otherwise. */
  readonly last: Position | null;
}

/** The batches of a page; returns where it ended. */
export type Page = AsyncGenerator<RecordBatch, PageEnd, undefined>;

/**
 * Yields the rows of a plan after the first `offset`, at most `limit` of them if it is not null, without the columns
 * that only hold the position. Returns where the page ended. Throws what reading throws.
 */
export async function* readPage(rows: Rows, plan: Plan, limit: number | null, offset = 0): Page {
  const shown = plan.columns.length - plan.positionColumns;
  let count = 0;
  let truncated = false;
  let last: Position | null = null;
  const most = limit === null ? Infinity : offset + limit;

  /**
   * One row more than the limit shows that the response is truncated. A scan is started only while rows are missing.
   */
  function* limited(): Generator<Scan> {
    for (const scan of plan.scans) if (!truncated) yield firstRows(scan, most + 1 - count);
  }
  const batches =
    limit === null ? rows.read(plan.scans, plan.columns, "all") : rows.read(limited(), plan.columns, "some");

  for await (const batch of batches) {
    const taken = Math.min(batch.numRows, most - count);
    if (taken < batch.numRows) truncated = true;
    if (taken === 0) continue;
    const skipped = Math.min(Math.max(0, offset - count), taken);
    count += taken;
    last = readPosition(batch, plan.columns, shown, taken - 1);
    if (taken > skipped) yield firstColumns(batch, shown, skipped, taken);
  }
  return { count: Math.max(0, count - offset), truncated, last: truncated ? last : null };
}

function firstColumns(batch: RecordBatch, columns: number, from: number, to: number): RecordBatch {
  const part = from === 0 && to === batch.numRows ? batch : batch.slice(from, to);
  return part.selectAt(Array.from({ length: columns }, (_, i) => i));
}

function readPosition(batch: RecordBatch, columns: readonly Column[], from: number, row: number): Position {
  const position: { -readonly [K in keyof Position]: Position[K] } = { date: null, code: null, row: 0 };
  for (let i = from; i < columns.length; i++) {
    const value = valueAt(batch.data.children[i]!, row);
    const { name } = columns[i]!;
    if (name === "__row") position.row = Number(value);
    else if (name === "__code") position.code = value as string | null;
    else if (name === "__as_of") position.asOf = formatDays(Number(value));
    else position.date = value === null ? null : formatDays(Number(value));
  }
  return position;
}

/** A single value: days for a date, bigint for an integer, text for text. */
export function valueAt(data: Data, row: number): string | number | bigint | null {
  if (!isPresent(data, row)) return null;
  const offsets = data.valueOffsets as Int32Array | undefined;
  const values = data.values as Uint8Array | Int32Array | BigInt64Array;
  if (!offsets) return values[row]!;
  return Buffer.from(values.buffer, values.byteOffset).toString("utf8", offsets[row], offsets[row + 1]);
}
