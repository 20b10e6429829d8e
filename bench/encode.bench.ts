// How fast are rows encoded on one thread? One iteration is 100,000 rows: 80 Hz, or 12.5 ms, are 8M rows/s. If the
// machine has other work, use `min`. Run: npx vitest bench bench/encode.bench.ts
import { DateDay, Field, Float64, makeData, RecordBatch, Schema, Struct, Utf8 } from "apache-arrow";
import { bench, describe } from "vitest";
import type { Column } from "../src/catalog/types.js";
import { ENCODERS } from "../src/encode/index.js";
import { plainRows } from "../src/encode/rows-plain.js";
import { columnsOf } from "../src/arrow-data.js";

const BATCHES = 50;
const ROWS = 2_000;
const OPTIONS = { time: 1_500, warmupTime: 300 };

/** Decimals and magnitude of each number of `daily`. */
const NUMBERS = {
  open: [2, 100],
  high: [2, 100],
  low: [2, 100],
  close: [2, 100],
  pre_close: [2, 100],
  change: [2, 4],
  pct_chg: [4, 20],
  vol: [2, 1e6],
  amount: [3, 1e7],
} as const;
type Format = keyof typeof ENCODERS;
type NumberName = keyof typeof NUMBERS;
const names = Object.keys(NUMBERS) as NumberName[];

const column = (name: string, type: Column["type"]): Column => ({ name, type, nullable: true });
const columns = [column("ts_code", "code"), column("trade_date", "date"), ...names.map((n) => column(n, "float64"))];
const head = { entity: "daily", dataVersion: "2026-01-05T09:30:00.000+08:00", columns };

let seed = 7;
/** Between 0 and 1, the same in every run (Lehmer's generator). */
function random(): number {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
}

function asInDaily(name: NumberName): number {
  const [decimals, size] = NUMBERS[name];
  const shift = name === "change" || name === "pct_chg" ? 0.5 : 0;
  return Number(((random() - shift) * size).toFixed(decimals));
}

/** `daily` with ROWS stocks per day; `nulls` is the share of missing numbers. */
function daily(value: (name: NumberName) => number, nulls = 0): RecordBatch[] {
  return Array.from({ length: BATCHES }, (_, day) => {
    const codes = Array.from({ length: ROWS }, () => `${String(Math.floor(random() * 1e6)).padStart(6, "0")}.SZ`);
    const valueOffsets = Int32Array.from({ length: ROWS + 1 }, (__, i) => i * 9);
    const children = [
      makeData({ type: new Utf8(), length: ROWS, nullCount: 0, valueOffsets, data: Buffer.from(codes.join("")) }),
      makeData({ type: new DateDay(), length: ROWS, nullCount: 0, data: new Int32Array(ROWS).fill(19_724 + day) }),
      ...names.map((name) => {
        const nullBitmap = new Uint8Array(Math.ceil(ROWS / 64) * 8);
        for (let row = 0; row < ROWS; row++) if (random() >= nulls) nullBitmap[row >> 3]! |= 1 << (row & 7);
        const shape = nulls === 0 ? { nullCount: 0 } : { nullBitmap };
        const data = Float64Array.from({ length: ROWS }, () => value(name));
        return makeData({ type: new Float64(), length: ROWS, ...shape, data });
      }),
    ];
    const schema = new Schema(columns.map(({ name }, i) => new Field(name, children[i]!.type, true)));
    return new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: ROWS, nullCount: 0, children }));
  });
}

const usual = daily(asInDaily);
const KINDS = {
  "daily as it is": usual,
  "a tenth of the numbers missing": daily(asInDaily, 0.1),
  "noise in the last digits": daily((name) => asInDaily(name) + 0.1 + 0.2),
  "17 digits everywhere": daily(() => random() * 100),
};

function encodeAll(format: Format, batches: readonly RecordBatch[]): void {
  const encoder = ENCODERS[format](head);
  encoder.begin();
  const segment = encoder.segment();
  for (const batch of batches) segment.batch(batch);
  segment.end();
  encoder.end({ count: BATCHES * ROWS, truncated: false, nextCursor: null });
}

describe("JSON, daily as it is", () => {
  const writePlain = plainRows(columns, {
    prefixes: columns.map(() => ","),
    suffix: "]",
    quoting: "json",
    missing: "null",
  });
  const asArrays = usual[0]!.toArray().map((row): unknown => row?.toArray());
  bench("kernel", () => encodeAll("json", usual), OPTIONS);
  bench("plain TypeScript", () => usual.forEach((batch) => writePlain(columnsOf(batch), 0, ROWS)), OPTIONS);
  bench(
    "JSON.stringify of rows already made, without dates",
    () => usual.forEach(() => Buffer.from(JSON.stringify(asArrays))),
    OPTIONS,
  );
});

describe("JSON by kind of number", () => {
  for (const [name, batches] of Object.entries(KINDS)) bench(name, () => encodeAll("json", batches), OPTIONS);
});

describe("formats, daily as it is", () => {
  for (const format of Object.keys(ENCODERS) as Format[]) bench(format, () => encodeAll(format, usual), OPTIONS);
});
