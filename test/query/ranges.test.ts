import fc from "fast-check";
import { expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { fileList, type DataFile } from "../../src/lake/manifest.js";
import { planRead } from "../../src/query/plan.js";
import { parseRequest } from "../../src/query/request.js";
import type { ReadStep } from "../../src/query/statement.js";

const entity = entityNamed("daily")!;
const LIMITS = { defaultLimit: null, maxLimit: null };

const planOf = (sizes: readonly number[], query = "") => {
  const day = (i: number): string => String(20240000 + Math.floor(i / 28) * 100 + 101 + (i % 28));
  const files = sizes.map((rows, i): DataFile => {
    const span = { first: day(2 * i), last: day(2 * i + 1), firstCode: "000001.SZ", lastCode: "920001.BJ" };
    return { path: `daily/${i}`, sha256: "", bytes: 1, rows, ...span };
  });
  return planRead(parseRequest(entity, new URLSearchParams(query), LIMITS), fileList("daily", files), null);
};

/** What a statement reads of each of its files: from and to which row. */
const readBy = ({ sql, values, files }: ReadStep): (readonly [string, number, number])[] => {
  const [from, to] = /file_row_number >= \$2.* < \$3/.test(sql) ? [Number(values[1]), Number(values[2])] : [];
  return files.map(({ path, rows }) => [path, from ?? 0, to ?? rows]);
};

const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 9_000 }), fc.integer({ min: 1, max: 2_000_000 })), {
  maxLength: 40,
});

test("the ranges of a wide read are all its rows, once and in order, none of them much more than two row groups", () => {
  fc.assert(
    fc.property(sizes, (rows) => {
      const { steps } = planOf(rows);
      for (const step of steps) {
        const parts = step.ranges.flatMap(readBy);
        for (const { path, rows: all } of step.files) {
          const bounds = parts.filter(([name]) => name === path).flatMap(([, from, to]) => [from, to]);
          expect([bounds[0], bounds.at(-1)]).toEqual([0, all]);
          for (let i = 2; i < bounds.length; i += 2) expect(bounds[i]).toBe(bounds[i - 1]);
        }
        const order = [...new Set(parts.map(([path]) => path))];
        expect(order).toEqual(step.files.map(({ path }) => path));
        for (const range of step.ranges) {
          const size = readBy(range).reduce((sum, [, from, to]) => sum + to - from, 0);
          expect(size).toBeLessThanOrEqual(122_880 * 3);
          expect(range.count).toEqual({ atMost: size, exact: true });
        }
      }
      expect(steps.flatMap(({ files }) => files).reduce((sum, file) => sum + file.rows, 0)).toBe(
        rows.reduce((sum, one) => sum + one, 0),
      );
    }),
  );
});

test.each(["limit=10", "order=desc", "start_date=20240101&end_date=20240101", "ts_code=600519.SH&limit=1"])(
  "a read with %s has one statement for each step",
  (query) => {
    const { steps } = planOf([1_000_000], query);
    expect(steps.length).toBeGreaterThan(0);
    for (const step of steps) expect(step.ranges.map(({ sql }) => sql)).toEqual([step.sql]);
  },
);
