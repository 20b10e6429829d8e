import { tableFromIPC, type Table } from "apache-arrow";
import { describe, expect, test } from "vitest";
import type { Column } from "../../src/catalog/types.js";
import { arrowEncoder } from "../../src/encode/arrow.js";
import { batchOf, column, partsOf, type Value } from "./batches.js";

const columns = [
  column("ts_code", "code"),
  column("trade_date", "date"),
  column("name", "text"),
  column("pe", "float64"),
  column("vol", "int64"),
];
const summary = { count: 0, truncated: false, nextCursor: null };

function encoderOf(some: readonly Column[], dates: "date" | null = null) {
  return arrowEncoder({ entity: "daily", dataVersion: "2026-01-05T09:30:00.000+08:00", columns: some, dates });
}

/** The rows that a reader gets, and the rows of each record batch. */
function read(parts: readonly Uint8Array[]): { table: Table; rows: unknown[][]; batches: number[] } {
  const table = tableFromIPC(Buffer.concat(parts));
  const rows = table.toArray().map((row) => [...row!.toArray()] as unknown[]);
  return { table, rows, batches: table.batches.map((batch) => batch.numRows) };
}

const transpose = (rows: readonly (readonly Value[])[]) => columns.map((_, i) => rows.map((row) => row[i]!));

const rows: readonly (readonly Value[])[] = [
  ["000001.SZ", 19_724, "平安🚀", 1.5, 9_007_199_254_740_993n],
  [null, null, null, null, null],
  ["", -719_162, "", -0, -(2n ** 63n)],
  ["600000.SH", 2_932_896, '"', Number.MIN_VALUE, 0n],
];
const shown = [
  ["000001.SZ", "20240102", "平安🚀", 1.5, 9_007_199_254_740_993n],
  [null, null, null, null, null],
  ["", "00010101", "", -0, -(2n ** 63n)],
  ["600000.SH", "99991231", '"', Number.MIN_VALUE, 0n],
];

test("a reader gets every value, dates as text", () => {
  const encoder = encoderOf(columns);
  const parts = partsOf(encoder, [batchOf(columns, transpose(rows))], summary);
  const { table, rows: got } = read(parts);
  expect(table.schema.fields.map((field) => `${field.name} ${String(field.type)}`)).toEqual([
    "ts_code Utf8",
    "trade_date Utf8",
    "name Utf8",
    "pe Float64",
    "vol Int64",
  ]);
  expect(Object.fromEntries(table.schema.metadata)).toEqual({
    entity: "daily",
    data_version: "2026-01-05T09:30:00.000+08:00",
  });
  expect(got).toEqual(shown);
});

test("a reader gets dates of any day as Date32 on request", () => {
  const encoder = encoderOf(columns, "date");
  const many = Array.from({ length: 20_000 }, (_, i) => rows[i % 4]!);
  const whole = batchOf(columns, transpose(many));
  const parts = partsOf(encoder, [whole.slice(0, 7), whole.slice(7, 9), whole.slice(9)], summary);
  const { table } = read(parts);
  const column = table.getChild("trade_date")!;
  expect(String(column.type)).toBe("Date32<DAY>");
  const days = table.batches.flatMap((batch) => {
    const { values } = batch.data.children[1]! as { values: Int32Array };
    return Array.from({ length: batch.numRows }, (_, row) =>
      batch.data.children[1]!.getValid(row) ? values[row]! : null,
    );
  });
  expect(days.join()).toBe(many.map((row) => row[1]).join());
  expect(table.schema.fields.filter(({ type }) => String(type) === "Utf8").map(({ name }) => name)).toEqual([
    "ts_code",
    "name",
  ]);
});

test.each(["date", null] as const)("a date outside the years 1 to 9999 is an error: %s", (dates) => {
  const some = [column("d", "date")];
  for (const day of [-719_163, 2_932_897]) {
    expect(() => partsOf(encoderOf(some, dates), [batchOf(some, [[day]])], summary)).toThrow(RangeError);
  }
});

test("an answer without rows has its schema and its end", () => {
  const encoder = encoderOf(columns);
  const parts = partsOf(encoder, [batchOf(columns, transpose([]))], summary);
  expect(read(parts).table.schema.fields).toHaveLength(columns.length);
  expect(Buffer.from(parts.at(-1)!).toString("hex")).toBe("ffffffff00000000");
});

describe("gathering", () => {
  const many = Array.from({ length: 2_048 }, (_, i) => rows[i % 4]!);
  const shownMany = Array.from({ length: 2_048 }, (_, i) => shown[i % 4]!);

  test("small batches become record batches of 16,384 rows, with nulls and text in the right rows", () => {
    const encoder = encoderOf(columns);
    const whole = batchOf(columns, transpose(many));
    const sliced = whole.slice(1, 1_000);
    const batches = Array.from({ length: 50 }, (_, i) => (i % 2 ? whole : sliced));
    const parts = partsOf(encoder, batches, summary);
    const { rows: got, batches: gathered } = read(parts);
    expect(new Set(gathered.slice(0, -1))).toEqual(new Set([16_384]));
    const expected = Array.from({ length: 25 }, () => [...shownMany.slice(1, 1_000), ...shownMany]).flat();
    expect(got.join("\n") === expected.join("\n")).toBe(true);
  });

  test("the bytes do not depend on how the rows arrive", () => {
    const texts = Array.from({ length: 3_000 }, (_, i) => (i % 7 === 0 ? null : "长".repeat((i * 37) % 20_000)));
    const some = [column("title", "text"), column("pe", "float64")];
    const whole = batchOf(some, [texts, texts.map((_, i) => (i % 5 === 0 ? null : i / 8))]);
    const encode = (sizes: readonly number[]): Buffer => {
      const batches = [];
      for (let row = 0, i = 0; row < texts.length; i++) {
        const size = sizes[i % sizes.length]!;
        batches.push(whole.slice(row, Math.min(texts.length, row + size)));
        row += size;
      }
      return Buffer.concat(partsOf(encoderOf(some), batches, summary));
    };
    const bytes = encode([texts.length]);
    for (const sizes of [[1], [2_048], [1, 999, 7]]) expect(encode(sizes).equals(bytes)).toBe(true);
  });

  test("long text is sent before it fills the memory", () => {
    const some = [column("abstr", "text")];
    const encoder = encoderOf(some);
    const abstract = "摘要".repeat(200_000);
    encoder.begin();
    const segment = encoder.segment();
    const bytesOf = (pieces: Iterable<Uint8Array>): number => Buffer.concat([...pieces]).length;
    const sizes = Array.from({ length: 40 }, () => bytesOf(segment.batch(batchOf(some, [[abstract, null]]))));
    expect(Math.max(...sizes)).toBeGreaterThan(0);
    expect(Math.max(...sizes)).toBeLessThan(32 << 20);
  });

  test("the buffers of a batch may change once it is encoded", () => {
    const encoder = encoderOf(columns);
    const batch = batchOf(columns, transpose(rows));
    const parts = [encoder.begin()];
    const segment = encoder.segment();
    parts.push(...segment.batch(batch));
    for (const { values, valueOffsets } of batch.data.children) {
      values.fill(values instanceof BigInt64Array ? 1n : 1);
      valueOffsets?.fill(0);
    }
    parts.push(...segment.end(), encoder.end(summary));
    expect(read(parts).rows).toEqual(shown);
  });

  test("the slot of a missing value does not reach the reader", () => {
    const some = [column("pe", "float64")];
    const batch = batchOf(some, [[1, null]]);
    batch.data.children[0]!.values[1] = 1234.5;
    const encoder = encoderOf(some);
    const body = Buffer.concat(partsOf(encoder, [batch], summary));
    expect(body.includes(Buffer.from(Float64Array.of(1234.5).buffer))).toBe(false);
    expect(body.includes(Buffer.from(Float64Array.of(1).buffer))).toBe(true);
  });
});
