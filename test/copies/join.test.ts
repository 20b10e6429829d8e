// Sorted rows are joined as LEFT JOIN does, wherever their batches end.
import { makeData, type RecordBatch, vectorFromArray } from "apache-arrow";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ARROW_TYPES, schemaOf } from "../../src/arrow-data.js";
import type { Column } from "../../src/catalog/types.js";
import { type From, joined } from "../../src/copies/join.js";
import { batchOf } from "../../src/copies/rows.js";

type Row = readonly [value: number | null, text: string | null, day: number, code: string];

const COLUMNS: readonly Column[] = [
  { name: "value", type: "float64", nullable: true },
  { name: "text", type: "text", nullable: true },
  { name: "day", type: "date", nullable: false },
  { name: "code", type: "code", nullable: false },
];

/** Batches whose bytes are overwritten when the next one is requested. */
async function* batchesOf(rows: readonly Row[], cuts: readonly number[]) {
  const ends = [...new Set([...cuts.map((cut) => cut % (rows.length + 1)), rows.length])].toSorted((a, b) => a - b);
  for (const [i, end] of ends.entries()) {
    const part = rows.slice(ends[i - 1] ?? 0, end);
    if (part.length === 0) continue;
    const children = COLUMNS.map(({ type }, column) => {
      if (type === "date") {
        const data = Int32Array.from(part, (row) => row[2]);
        return makeData({ type: ARROW_TYPES.date, length: part.length, nullCount: 0, data });
      }
      const values = part.map((row) => row[column]);
      return vectorFromArray(values, ARROW_TYPES[type]).data[0]!;
    });
    yield batchOf(schemaOf(COLUMNS), part.length, children);
    for (const { values, valueOffsets } of children) for (const one of [values, valueOffsets]) one?.fill(99);
  }
}

const valuesOf = (batch: RecordBatch): unknown[][] =>
  Array.from({ length: batch.numRows }, (_, row) =>
    batch.schema.fields.map((_field, column) => {
      const value: unknown = batch.getChildAt(column)!.get(row);
      return value instanceof Date || typeof value === "bigint" ? Number(value) : value;
    }),
  );

const key = fc.tuple(fc.integer({ min: -2, max: 3 }), fc.constantFrom("", "A", "A1", "B", "é", "名", "A1.SZ"));
const rowsOf = fc.uniqueArray(key, { maxLength: 42, selector: ([day, code]) => `${day} ${code}` }).chain((keys) => {
  const sorted = keys.toSorted(([a, c], [b, d]) => a - b || Buffer.compare(Buffer.from(c), Buffer.from(d)));
  const values = fc.tuple(fc.option(fc.integer()), fc.option(fc.constantFrom("", "公告", "x")));
  return fc
    .array(values, { minLength: sorted.length, maxLength: sorted.length })
    .map((all) => all.map(([value, text], i): Row => [value, text, ...sorted[i]!]));
});
const cuts = fc.array(fc.nat(50), { maxLength: 8 });

test("rows have the values of the rows with the same day and code, wherever batches end", async () => {
  const cases = fc.record({
    first: rowsOf,
    others: fc.array(rowsOf, { maxLength: 3 }),
    cuts: fc.array(cuts, { minLength: 4, maxLength: 4 }),
    after: fc.option(key),
    most: fc.option(fc.nat(4)),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ first, others, cuts: ends, after, most }) => {
      const from: From[] = [{ of: "first", column: 0 }, { of: "first", column: 3 }, "zero"];
      const columns = [COLUMNS[0]!, COLUMNS[3]!, { name: "row", type: "int64", nullable: false } as const];
      for (const of of others.keys()) {
        from.push({ of, column: 0 }, { of, column: 1 }, { of, column: 2 });
        columns.push(...COLUMNS.slice(0, 3));
      }
      const start = after === null ? null : ([after[0], after[1]] as const);
      const sources = [first, ...others].map((rows, i) => batchesOf(rows, ends[i]!));
      const result = joined(sources[0]!, sources.slice(1), columns, from, start);
      const found: unknown[][] = [];
      let batches = 0;
      for await (const batch of result) {
        found.push(...valuesOf(batch));
        if (++batches === most) break;
      }
      const isAfter = ([, , day, code]: Row): boolean =>
        start === null ||
        day > start[0] ||
        (day === start[0] && Buffer.compare(Buffer.from(code), Buffer.from(start[1])) > 0);
      const wanted = first.filter(isAfter).map(([value, , day, code]) => [
        ...[value, code, 0],
        ...others.flatMap((rows) => {
          const match = rows.find((row) => row[2] === day && row[3] === code);
          return match === undefined ? [null, null, null] : [match[0], match[1], day * 86_400_000];
        }),
      ]);
      expect(found).toEqual(batches === most ? wanted.slice(0, found.length) : wanted);
      // All sources are closed.
      for (const source of sources) expect(await source.next()).toEqual({ done: true, value: undefined });
    }),
    { numRuns: 300 },
  );
});
