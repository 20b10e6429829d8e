// Arrow with compressed buffers holds the rows of Arrow without, in the same record batches.
import { Message, tableFromIPC, type RecordBatch } from "apache-arrow";
import type { RecordBatch as RecordBatchHead } from "apache-arrow/ipc/metadata/message";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Column, ColumnType } from "../../src/catalog/types.js";
import { arrowEncoder } from "../../src/encode/arrow.js";
import { compressedArrowEncoder } from "../../src/encode/arrow-compressed.js";
import { hasZstd } from "../../src/zstd.js";
import { orSkipped, unzstd } from "../support/zstd.js";
import { batchOf, column, partsOf, type Value } from "./batches.js";

const summary = { count: 0, truncated: false, nextCursor: null };
const headOf = (columns: readonly Column[]) => ({ entity: "daily", dataVersion: "v", columns });

const plain = (columns: readonly Column[], batches: readonly RecordBatch[]): Buffer =>
  Buffer.concat(partsOf(arrowEncoder(headOf(columns)), batches, summary));

/** Each part of a list is a segment. */
async function compressed(columns: readonly Column[], ...segments: (readonly RecordBatch[])[]): Promise<Buffer> {
  const encoder = compressedArrowEncoder(headOf(columns));
  const pieces = [encoder.begin()];
  for (const batches of segments) {
    const segment = encoder.segment();
    for (const batch of batches) for await (const piece of segment.batch(batch)) pieces.push(piece);
    for await (const piece of segment.end()) pieces.push(piece);
  }
  return Buffer.concat([...pieces, encoder.end(summary)]);
}

/** Schema, rows, and the rows of each record batch. */
function contentOf(stream: Buffer): object {
  const table = tableFromIPC(stream);
  return {
    schema: String(table.schema),
    metadata: [...table.schema.metadata],
    batches: table.batches.map(({ numRows }) => numRows),
    nulls: table.batches.map(({ data }) => data.children.map(({ nullCount }) => nullCount)),
    rows: table.toArray().map((row) => [...row!.toArray()] as unknown[]),
  };
}

interface Packed {
  readonly codec: number | null;
  readonly bodyLength: number;
  readonly buffers: readonly { readonly offset: number; readonly bytes: Buffer }[];
}

/** The record batches of a stream as they are written, read without the reader of Arrow. */
function packedBatches(stream: Buffer): readonly Packed[] {
  const batches: Packed[] = [];
  for (let at = 0; stream.readInt32LE(at + 4) !== 0;) {
    const length = stream.readInt32LE(at + 4);
    const message = Message.decode(stream.subarray(at + 8, at + 8 + length));
    const body = stream.subarray(at + 8 + length, at + 8 + length + message.bodyLength);
    at += 8 + length + message.bodyLength;
    expect(at % 8).toBe(0);
    if (message.isSchema()) continue;
    const { buffers, compression } = message.header() as RecordBatchHead;
    batches.push({
      codec: compression?.type ?? null,
      bodyLength: body.length,
      buffers: buffers.map(({ offset, length: size }) => ({ offset, bytes: body.subarray(offset, offset + size) })),
    });
  }
  return batches;
}

const VALUES: Record<ColumnType, fc.Arbitrary<Value>> = {
  code: fc.constantFrom("600519.SH", "000001.SZ", ""),
  text: fc.string({ unit: "binary", maxLength: 40 }),
  date: fc.integer({ min: -719_162, max: 2_932_896 }),
  float64: fc.oneof(fc.double({ noNaN: true }), fc.constant(12.5)),
  int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
};

/** Columns of any types, and rows that come in batches of any sizes. Some columns have no values at all. */
const tables = fc
  .array(fc.tuple(fc.constantFrom(...(Object.keys(VALUES) as ColumnType[])), fc.constantFrom(0, 0.1, 1)), {
    minLength: 1,
    maxLength: 6,
  })
  .chain((kinds) => {
    const row = fc.tuple(
      ...kinds.map(([type, missing]) =>
        missing === 1
          ? fc.constant(null)
          : fc.option(VALUES[type], { nil: null, freq: missing === 0 ? 1_000_000 : 10 }),
      ),
    );
    return fc.record({
      columns: fc.constant(kinds.map(([type], i) => column(`c${i}`, type))),
      rows: fc.array(row, { maxLength: 300 }),
      times: fc.constantFrom(1, 1, 1, 100),
      cuts: fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 4 }),
    });
  });

describe.runIf(hasZstd)(orSkipped("Arrow with compressed buffers"), () => {
  test("has the rows and record batches of Arrow without", async () => {
    await fc.assert(
      fc.asyncProperty(tables, async ({ columns, rows, times, cuts }) => {
        const whole = batchOf(
          columns,
          columns.map((_, i) => rows.map((row) => row[i]!)),
        );
        const edges = [0, ...cuts.filter((cut) => cut < rows.length).sort((a, b) => a - b), rows.length];
        const once = edges.slice(1).map((end, i) => whole.slice(edges[i], end));
        const batches = Array.from({ length: times }, () => once).flat();
        expect(contentOf(await compressed(columns, batches))).toEqual(contentOf(plain(columns, batches)));
      }),
      { numRuns: 60 },
    );
  });

  const some = [column("ts_code", "code"), column("name", "text"), column("pe", "float64"), column("vol", "int64")];

  test("is a schema and an end if there are no rows", async () => {
    expect((await compressed(some, [])).equals(plain(some, []))).toBe(true);
    const none = batchOf(
      some,
      some.map(() => []),
    );
    expect((await compressed(some, [none])).equals(plain(some, []))).toBe(true);
  });

  const ROWS = 50_000;
  const noise = Buffer.alloc(ROWS * 8);
  for (let i = 0, x = 1; i < noise.length; i++) noise[i] = (x = (x * 48_271) % 0x7fffffff) >> 8;
  /** Values that repeat, no values at all, and values that cannot be compressed. */
  const mixed = batchOf(some, [
    Array.from({ length: ROWS }, (_, i) => `${String(i % 5000).padStart(6, "0")}.SZ`),
    Array.from({ length: ROWS }, () => null),
    Array.from({ length: ROWS }, (_, i) => (i % 100) / 8),
    Array.from({ length: ROWS }, (_, i) => noise.readBigInt64LE(i * 8)),
  ]);

  test("marks the codec, and each buffer has its length before it, or is stored as it is", async () => {
    const batches = packedBatches(await compressed(some, [mixed]));
    const before = packedBatches(plain(some, [mixed]));
    expect(batches.map(({ codec }) => codec)).toEqual([1, 1, 1, 1]);
    expect(before.map(({ codec }) => codec)).toEqual([null, null, null, null]);
    for (const [i, { buffers }] of batches.entries()) {
      const unpacked = buffers.map(({ offset, bytes }) => {
        expect(offset % 8).toBe(0);
        if (bytes.length === 0) return bytes;
        const length = Number(bytes.readBigInt64LE(0));
        if (length === -1) return bytes.subarray(8);
        const content = unzstd(bytes.subarray(8));
        expect([content.length, bytes.length - 8 < length]).toEqual([length, true]);
        return content;
      });
      const wanted = before[i]!.buffers.map(({ bytes }) => bytes);
      expect(unpacked.map((bytes, k) => bytes.equals(wanted[k]!))).toEqual(wanted.map(() => true));
    }
    const isStored = batches[0]!.buffers.map(({ bytes }) => bytes.length > 0 && bytes.readBigInt64LE(0) === -1n);
    expect(isStored).toEqual([false, false, false, false, false, false, false, false, false, true]);
    expect(batches[0]!.bodyLength).toBeLessThan(before[0]!.bodyLength * 0.7);
  });

  test("has the same bytes however rows arrive, and whatever is encoded at the same time", async () => {
    const wanted = await compressed(some, [mixed]);
    const parts = (size: number): RecordBatch[] =>
      Array.from({ length: Math.ceil(ROWS / size) }, (_, i) => mixed.slice(i * size, (i + 1) * size));
    const others = [1_000, 2_048, 16_384].map((size) => compressed(some, parts(size)));
    for (const stream of await Promise.all(others)) expect(stream.equals(wanted)).toBe(true);
  });

  test("may consist of several segments", async () => {
    const stream = await compressed(some, [mixed], [mixed.slice(0, 3)], [mixed]);
    expect(tableFromIPC(stream).batches.map(({ numRows }) => numRows)).toEqual([
      ...[16_384, 16_384, 16_384, 848, 3],
      ...[16_384, 16_384, 16_384, 848],
    ]);
  });

  test("the buffers of a batch may change once it is encoded", async () => {
    const batch = batchOf(some, [["600519.SH"], ["贵州茅台"], [1.5], [7n]]);
    const encoder = compressedArrowEncoder(headOf(some));
    const segment = encoder.segment();
    const pieces = [encoder.begin()];
    for await (const piece of segment.batch(batch)) pieces.push(piece);
    for (const { values } of batch.data.children) values.fill(values instanceof BigInt64Array ? 1n : 1);
    for await (const piece of segment.end()) pieces.push(piece);
    const table = tableFromIPC(Buffer.concat([...pieces, encoder.end(summary)]));
    expect([...table.get(0)!.toArray()]).toEqual(["600519.SH", "贵州茅台", 1.5, 7n]);
  });

  test("a date outside the years 1 to 9999 is an error", async () => {
    const dates = [column("d", "date")];
    await expect(compressed(dates, [batchOf(dates, [[2_932_897]])])).rejects.toThrow(RangeError);
  });
});
