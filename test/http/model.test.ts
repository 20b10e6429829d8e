// Random questions against a lake of many files, stale copies and ticks: the answers equal those of a plain model.
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, type TestServer } from "../support/server.js";

type Row = readonly [code: string, date: string, close: number | null];

const CODES = ["000001.SZ", "000002.SZ", "300750.SZ", "600519.SH", "920001.BJ"];
const day = (n: number): string => `202401${String(n).padStart(2, "0")}`;
let server: TestServer;
const model = { daily: new Map<string, Row>(), stk_auction: [] as Row[] };

const sqlRow = ([code, date, value]: Row): string =>
  `('${code}', strptime('${date}', '%Y%m%d')::DATE, ${value ?? "NULL"})`;
const values = (rows: readonly Row[], columns: string): string =>
  `SELECT * FROM (VALUES ${rows.map(sqlRow).join(", ")}) t(${columns})`;

/** Drops of some days each; corrections after the code copy was built make parts of it stale. */
beforeAll(async () => {
  const root = await temporaryFolder();
  const drop = async (rows: readonly Row[], codeCopy: boolean): Promise<void> => {
    for (const row of rows) model.daily.set(row[0] + row[1], row);
    await publishRows(root, { daily: values(rows, "ts_code, trade_date, close") }, { codeCopy });
  };
  const days = (from: number, to: number, close: number): Row[] =>
    Array.from({ length: to - from + 1 }, (_, i) => day(from + i)).flatMap((date) =>
      CODES.map((code, c): Row => [code, date, c === 2 ? null : close + c]),
    );
  await drop(days(1, 4, 10), false);
  await drop(days(8, 9, 20), false);
  await drop(days(5, 7, 30), false);
  await drop(days(10, 12, 40), true);
  await drop(
    [
      [CODES[1]!, day(6), 99],
      [CODES[3]!, day(11), null],
    ],
    false,
  );
  await drop(days(13, 14, 50), false);
  // Equal ticks are kept: the same row several times, on both sides of where a page may end.
  const ticks = days(1, 3, 1).flatMap((row, i) => Array.from({ length: (i % 4) + 1 }, () => row));
  model.stk_auction.push(...ticks);
  await publishRows(root, { stk_auction: values(ticks, "ts_code, trade_date, price") });
  server = await serve(root);
});

const date = fc.integer({ min: 0, max: 15 }).map((n) => (n === 0 ? "20231230" : day(n)));
const question = fc.record(
  {
    ts_code: fc.uniqueArray(fc.constantFrom(...CODES, "999999.SH"), { minLength: 1, maxLength: 4 }),
    start_date: date,
    end_date: date,
    trade_date: fc.uniqueArray(date, { minLength: 1, maxLength: 3 }),
    order: fc.constantFrom("asc", "desc"),
  },
  { requiredKeys: [] },
);

function ask(rows: readonly Row[], asked: Partial<typeof question extends fc.Arbitrary<infer Q> ? Q : never>): Row[] {
  const found = rows.filter(
    ([code, on]) =>
      (asked.ts_code?.includes(code) ?? true) &&
      (asked.trade_date?.includes(on) ?? true) &&
      (asked.start_date === undefined || on >= asked.start_date) &&
      (asked.end_date === undefined || on <= asked.end_date),
  );
  const sorted = found.toSorted((a, b) => compare(a[1], b[1]) || compare(a[0], b[0]));
  return asked.order === "desc" ? sorted.reverse() : sorted;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

test.each(["daily", "stk_auction"] as const)(
  "%s answers as the model does, whole and in pages of any size",
  async (entity) => {
    const rows = entity === "daily" ? [...model.daily.values()] : model.stk_auction;
    const value = entity === "daily" ? "close" : "price";
    await fc.assert(
      fc.asyncProperty(question, fc.integer({ min: 1, max: 40 }), async (asked, limit) => {
        fc.pre((asked.start_date ?? "0") <= (asked.end_date ?? "9"));
        const query = new URLSearchParams(
          Object.entries(asked).map(([name, v]): [string, string] => [name, String(v)]),
        );
        query.set("fields", `ts_code,trade_date,${value}`);
        const expected = ask(rows, asked);
        expect((await server.json(`/api/v1/entities/${entity}?${query.toString()}`)).rows).toEqual(expected);

        query.set("limit", String(limit));
        const paged: unknown[] = [];
        for (let cursor: string | null = ""; cursor !== null;) {
          if (cursor !== "") query.set("cursor", cursor);
          const page = await server.json(`/api/v1/entities/${entity}?${query.toString()}`);
          expect(page.rows.length).toBe(page.truncated ? limit : page.count);
          paged.push(...page.rows);
          cursor = page.next_cursor;
        }
        expect(paged).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  },
);
