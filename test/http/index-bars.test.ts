// Weekly and monthly bars of indices for Tushare clients: made of the days, by the trading calendar.
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { describeReal, realFile } from "../support/realdata.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";

type Row = Readonly<Record<string, string | number | null>>;

async function ask(server: TestServer, api_name: string, params: object = {}, fields = ""): Promise<readonly Row[]> {
  const body = JSON.stringify({ api_name, token: TOKEN, params, fields });
  const response = await fetch(`${server.url}/tushare`, { method: "POST", body });
  const { code, msg, data } = (await response.json()) as {
    code: number;
    msg: string;
    data: { fields: readonly string[]; items: readonly (readonly (string | number | null)[])[] };
  };
  expect([code, msg]).toEqual([0, ""]);
  return data.items.map((item) => Object.fromEntries(data.fields.map((name, i) => [name, item[i]!])));
}

/** The days of October 2024 to January 2025, as the exchange traded: the first week of October was closed. */
const HOLIDAYS = ["2024-10-01", "2024-10-02", "2024-10-03", "2024-10-04", "2024-10-07", "2025-01-01"];
const range = (first: string, days: number): readonly string[] =>
  Array.from({ length: days }, (_, i) => new Date(Date.parse(first) + i * 86_400_000).toISOString().slice(0, 10));
const isOpen = (date: string): boolean => new Date(date).getUTCDay() % 6 !== 0 && !HOLIDAYS.includes(date);
const compact = (date: string): string => date.replaceAll("-", "");

const LAST = "2025-01-15"; // a Wednesday
const DAYS = range("2024-09-23", 115).filter(isOpen);
const CALENDAR = range("2024-09-01", 153);

/** The level of the day with this number. */
const level = (i: number): number => 3000 + ((i * 37) % 101);

const quotes = (code: string, days: readonly string[], offset = 0): readonly string[] =>
  days.map((date) => {
    const i = DAYS.indexOf(date);
    const [close, before] = [level(i) + offset, level(i - 1) + offset];
    return `('${code}', DATE '${date}', ${[before + 1, close + 5, close - 7, close, before, 10 + i, 100 + i].join("::DOUBLE, ")}::DOUBLE)`;
  });

const daily = (rows: readonly string[]): string =>
  `SELECT *, close - pre_close AS change FROM (VALUES ${rows.join(", ")}) t(ts_code, trade_date, open, high, low, close, pre_close, vol, amount)`;

const calendar = (days: readonly string[]): string =>
  `SELECT 'SSE' AS exchange, d AS cal_date, o AS is_open FROM (VALUES ${days
    .map((date) => `(DATE '${date}', ${isOpen(date) ? 1 : 0}::BIGINT)`)
    .join(", ")}) t(d, o)`;

async function market(calendarDays: readonly string[] = CALENDAR, more: readonly string[] = []): Promise<TestServer> {
  const root = await temporaryFolder();
  const rows = [...quotes("000300.SH", DAYS), ...quotes("399001.SZ", DAYS.slice(0, 44), 500), ...more];
  const cal = calendarDays.length === 0 ? {} : { trade_cal: calendar(calendarDays) };
  await publishRows(root, { index_daily: daily(rows), ...cal }, { codeCopy: true });
  return serve(root);
}

const periodOf = {
  index_weekly: (date: string): string => {
    const time = Date.parse(date);
    return new Date(time - ((new Date(time).getUTCDay() + 6) % 7) * 86_400_000).toISOString().slice(0, 10);
  },
  index_monthly: (date: string): string => date.slice(0, 7),
};

/** What the bars of an index must be. The period of the last day is left out unless it is over. */
function barsOf(api: keyof typeof periodOf, days: readonly string[], offset = 0): readonly Row[] {
  const groups = new Map<string, string[]>();
  for (const date of days) groups.set(periodOf[api](date), [...(groups.get(periodOf[api](date)) ?? []), date]);
  const bars = [...groups].map(([period, own]) => {
    const at = own.map((date) => DAYS.indexOf(date));
    const lastOpen = CALENDAR.filter((date) => isOpen(date) && periodOf[api](date) === period).at(-1)!;
    const close = level(at.at(-1)!) + offset;
    const pre_close = level(at[0]! - 1) + offset;
    return {
      date: lastOpen,
      row: {
        trade_date: compact(lastOpen),
        open: pre_close + 1,
        high: Math.max(...at.map((i) => level(i) + offset + 5)),
        low: Math.min(...at.map((i) => level(i) + offset - 7)),
        close,
        pre_close,
        change: close - pre_close,
        pct_chg: (close / pre_close - 1) * 100,
        vol: at.reduce((sum, i) => sum + 10 + i, 0),
        amount: at.reduce((sum, i) => sum + 100 + i, 0),
      },
    };
  });
  return bars.filter(({ date }) => date <= LAST).map(({ row }) => row);
}

const FIELDS = "trade_date,open,high,low,close,pre_close,change,pct_chg,vol,amount";

describe.each(["index_weekly", "index_monthly"] as const)("%s", (api) => {
  test("has a bar for each period that has ended, with the date of its last trading day, newest first", async () => {
    const server = await market();
    const found = await ask(server, api, { ts_code: "000300.SH" }, FIELDS);
    expect(found).toEqual(barsOf(api, DAYS).toReversed());
    const columns = Object.keys((await ask(server, api, { limit: 1 }))[0]!);
    expect(columns.join()).toBe("ts_code,trade_date,close,open,high,low,pre_close,change,pct_chg,vol,amount");
  });

  test("dates the last bar of an index that ended by the calendar too", async () => {
    const found = await ask(await market(), api, { ts_code: "399001.SZ", order: "asc" }, FIELDS);
    expect(found).toEqual(barsOf(api, DAYS.slice(0, 44), 500));
  });

  test("has the same bars by date, by range, and page by page", async () => {
    const server = await market();
    const all = await ask(server, api);
    expect(all.length).toBeGreaterThan(6);
    const keys = all.map(({ trade_date, ts_code }) => `${trade_date}${ts_code}`);
    expect(keys).toEqual(keys.toSorted().reverse());
    const dates = [...new Set(all.map(({ trade_date }) => String(trade_date)))];
    for (const trade_date of dates) {
      expect(await ask(server, api, { trade_date })).toEqual(all.filter((row) => row["trade_date"] === trade_date));
    }
    const [start_date, end_date] = [dates.at(-2)!, dates[1]!];
    const inside = all.filter(({ trade_date }) => trade_date! >= start_date && trade_date! <= end_date);
    expect(await ask(server, api, { start_date, end_date })).toEqual(inside);
    expect(await ask(server, api, { start_date, end_date, order: "asc" })).toEqual(inside.toReversed());
    const pages = await Promise.all([0, 3, 6].map((offset) => ask(server, api, { offset, limit: 3 })));
    expect(pages.flat()).toEqual(all.slice(0, 9));
  });

  test("shows a period that the calendar does not cover once days follow it, with the date of its last day", async () => {
    for (const days of [[], CALENDAR.filter((date) => date < "2024-12-18")]) {
      const dates = (await ask(await market(days), api, { ts_code: "000300.SH", order: "asc" })).map(
        ({ trade_date }) => trade_date,
      );
      expect(dates).toEqual(barsOf(api, DAYS).map(({ trade_date }) => trade_date));
    }
  });
});

test("a value of a bar is null where a day that it depends on has none", async () => {
  const week = ["2025-01-06", "2025-01-07", "2025-01-08", "2025-01-09", "2025-01-10"];
  const row = (date: string, [open, high, vol]: readonly string[]): string =>
    `('000905.SH', DATE '${date}', ${open}::DOUBLE, ${high}::DOUBLE, 1::DOUBLE, 2::DOUBLE, NULL::DOUBLE, ${vol}::DOUBLE, 7::DOUBLE)`;
  const more = week.map((date, i) =>
    row(date, [i === 0 ? "NULL" : "3", i === 2 ? "NULL" : "4", i === 4 ? "NULL" : "5"]),
  );
  const server = await market(CALENDAR, more);
  const [bar] = await ask(server, "index_weekly", { ts_code: "000905.SH" }, FIELDS);
  expect(bar).toEqual({
    ...{ trade_date: "20250110", open: null, high: null, low: 1, close: 2, pre_close: null, change: null },
    ...{ pct_chg: null, vol: null, amount: 35 },
  });
});

// Printed in Tushare's documentation of index_weekly and index_monthly, for 000001.SH: date, close, open, high, low.
const PUBLISHED = {
  index_weekly: [
    ["20190329", 3090.758, 3058.8016, 3093.0329, 2987.7717],
    ["20190322", 3104.1487, 3027.8012, 3125.0192, 3009.5071],
    ["20190315", 3021.7512, 2969.0802, 3093.3913, 2963.5834],
    ["20190308", 2969.8614, 3015.9427, 3129.9395, 2969.5815],
    ["20190301", 2994.005, 2838.3896, 2997.4882, 2838.3896],
    ["20190222", 2804.2262, 2699.8171, 2804.2262, 2699.8171],
    ["20190215", 2682.385, 2613.1742, 2729.455, 2613.1742],
    ["20190201", 2618.2323, 2615.7118, 2630.3183, 2559.982],
  ],
  index_monthly: [
    ["20190329", 3090.758, 2954.402, 3129.94, 2930.835],
    ["20190228", 2940.954, 2597.778, 2997.488, 2590.554],
    ["20190131", 2584.572, 2497.881, 2630.318, 2440.907],
    ["20181228", 2493.896, 2647.132, 2666.078, 2462.845],
    ["20181130", 2588.188, 2617.033, 2703.512, 2555.322],
    ["20181031", 2602.783, 2768.208, 2771.938, 2449.197],
    ["20180928", 2821.35, 2716.404, 2827.341, 2644.296],
  ],
} as const;

describeReal("bars of a real index", () => {
  test("are those that Tushare publishes, and close to close makes their change", async () => {
    const root = await temporaryFolder();
    await publishRows(root, {
      index_daily: `SELECT code AS ts_code, volume / 100 AS vol, amount / 1000 AS amount, * EXCLUDE (code, volume, amount)
        REPLACE (trade_date::DATE AS trade_date) FROM '${realFile("index_daily/hugo2046__index_daily.parquet")}' WHERE code = '000001.SH'`,
      trade_cal: `SELECT exchange, cal_date, is_open FROM '${realFile("trade_cal/dazzleckc__trade_cal.parquet")}'`,
    });
    const server = await serve(root);
    for (const [api, published] of Object.entries(PUBLISHED)) {
      const dates = { start_date: published.at(-1)![0], end_date: published[0][0] };
      const found = await ask(server, api, { ts_code: "000001.SH", ...dates }, "trade_date,close,open,high,low");
      // Days have four digits, published weeks too, published months three.
      const tolerance = api === "index_weekly" ? 1e-9 : 0.000501;
      expect(found.map((row) => row["trade_date"])).toEqual(published.map(([date]) => date));
      for (const [i, [, ...levels]] of published.entries()) {
        for (const [n, name] of ["close", "open", "high", "low"].entries()) {
          expect(Math.abs(Number(found[i]![name]) - levels[n]!)).toBeLessThan(tolerance);
        }
      }
      const all = await ask(server, api, { order: "asc" });
      for (let i = 1; i < all.length; i++) expect(all[i]!["pre_close"]).toBe(all[i - 1]!["close"]);
    }
  });
});
