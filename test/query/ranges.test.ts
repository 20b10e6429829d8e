import fc from "fast-check";
import { expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { fileList, type DataFile } from "../../src/lake/manifest.js";
import { planRead } from "../../src/query/plan.js";
import { parseRequest } from "../../src/query/request.js";
import { rangesOf, type Scan } from "../../src/query/scan.js";

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

/** What a scan reads of each of its files: from and to which row. */
const readBy = ({ rowRange, files }: Scan): (readonly [string, number, number])[] =>
  files.map(({ path, rows }) => [path, ...(rowRange ?? ([0, rows] as const))]);

const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 9_000 }), fc.integer({ min: 1, max: 2_000_000 })), {
  maxLength: 40,
});

test("the ranges of a wide read are all its rows, once and in order, none of them much more than two row groups", () => {
  fc.assert(
    fc.property(sizes, (rows) => {
      const { scans } = planOf(rows);
      for (const scan of scans) {
        const parts = rangesOf(scan).flatMap(readBy);
        for (const { path, rows: all } of scan.files) {
          const bounds = parts.filter(([name]) => name === path).flatMap(([, from, to]) => [from, to]);
          expect([bounds[0], bounds.at(-1)]).toEqual([0, all]);
          for (let i = 2; i < bounds.length; i += 2) expect(bounds[i]).toBe(bounds[i - 1]);
        }
        const order = [...new Set(parts.map(([path]) => path))];
        expect(order).toEqual(scan.files.map(({ path }) => path));
        for (const range of rangesOf(scan)) {
          const size = readBy(range).reduce((sum, [, from, to]) => sum + to - from, 0);
          expect(size).toBeLessThanOrEqual(122_880 * 3);
          expect(range.bounds).toEqual({ atMost: size, exact: true });
        }
      }
      expect(scans.flatMap(({ files }) => files).reduce((sum, file) => sum + file.rows, 0)).toBe(
        rows.reduce((sum, one) => sum + one, 0),
      );
    }),
  );
});

test.each(["limit=10", "order=desc", "start_date=20240101&end_date=20240101", "ts_code=600519.SH&limit=1"])(
  "a read with %s has one statement for each scan",
  (query) => {
    const { scans } = planOf([1_000_000], query);
    expect(scans.length).toBeGreaterThan(0);
    for (const scan of scans) expect(rangesOf(scan)).toEqual([scan]);
  },
);
