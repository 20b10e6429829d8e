// Random requests to a lake of many files, stale copies and ticks: the responses equal those of a plain model.
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { CODES, day, filters, pagesOf, queryOf, type Filters } from "../support/filters.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, type TestServer } from "../support/server.js";

type Row = readonly [code: string, date: string, close: number | null];

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

function ask(rows: readonly Row[], asked: Filters): Row[] {
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
  "%s answers like the model, at once and in pages of any size",
  async (entity) => {
    const rows = entity === "daily" ? [...model.daily.values()] : model.stk_auction;
    const value = entity === "daily" ? "close" : "price";
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 1, max: 40 }), async (asked, limit) => {
        const query = queryOf(asked);
        query.set("fields", `ts_code,trade_date,${value}`);
        const expected = ask(rows, asked);
        expect((await server.json(`/api/v1/entities/${entity}?${query.toString()}`)).rows).toEqual(expected);
        const pages = await pagesOf(server, entity, query, limit);
        for (const page of pages) expect(page.rows.length).toBe(page.truncated ? limit : page.count);
        expect(pages.flatMap((page) => page.rows)).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  },
);
