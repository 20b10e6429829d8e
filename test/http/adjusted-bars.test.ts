// Adjusted bars of weeks and months are those of their adjusted days, or null: never a price that mixes two factors.
import { beforeAll, describe, expect, test } from "vitest";
import { createToken } from "../../src/store/tokens.js";
import { pagesOf } from "../support/filters.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, type TestServer } from "../support/server.js";

let root: string;
let server: TestServer;

type Prices = { readonly open: number; readonly high: number; readonly low: number; readonly close: number };
interface Day extends Prices {
  readonly code: string;
  readonly date: string;
  readonly pre_close: number;
  readonly vol: number;
  readonly factor: number;
}

const WHOLE = "600519.SH";
const DELISTED = "000001.SZ";
/** Its bars are there, its days are not. */
const BARS_ONLY = "000002.SZ";
/** One of its days is missing. */
const HOLED = "300750.SZ";
const CODES = [WHOLE, DELISTED, BARS_ONLY, HOLED];

const weekOf = (date: Date): string => {
  const monday = new Date(date);
  monday.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return monday.toISOString().slice(0, 10);
};
const monthOf = (date: Date): string => date.toISOString().slice(0, 7);

/** The weekdays of a year and a half, with prices that halve on ex-dates in the middle of a week. */
function market(): readonly Day[] {
  const days: Day[] = [];
  for (const [c, code] of CODES.entries()) {
    let [factor, close] = [1, 100 + c];
    for (let i = 0; i < 540; i++) {
      const date = new Date(Date.UTC(2023, 5, 1 + i));
      if (date.getUTCDay() % 6 === 0) continue;
      if (code === DELISTED && date.toISOString() > "2024-09-11") continue; // a Wednesday
      const isExDate = i % 90 === 55 + c;
      if (isExDate) factor *= 2;
      const pre_close = isExDate ? close / 2 : close;
      const open = pre_close * (1 + ((i * 7) % 5) / 100);
      close = pre_close * (1 + (((i * 13) % 7) - 3) / 100);
      const [high, low] = [Math.max(open, close) + 1, Math.min(open, close) - 1];
      const on = date.toISOString().slice(0, 10);
      days.push({ code, date: on, open, high, low, close, pre_close, vol: 100 + i, factor });
    }
  }
  return days;
}

const DAYS = market();

interface Bar {
  readonly date: string;
  readonly days: readonly Day[];
}

/** The bars of a code: the last weekday of the period, and its days. */
function barsOf(code: string, periodOf: (date: Date) => string): readonly Bar[] {
  const bars = new Map<string, Day[]>();
  for (const day of DAYS) {
    if (day.code !== code) continue;
    const period = periodOf(new Date(day.date));
    bars.set(period, [...(bars.get(period) ?? []), day]);
  }
  return [...bars.values()].map((days) => ({ date: days.at(-1)!.date, days }));
}

const summary = (days: readonly Day[], times: (day: Day) => number): Prices => ({
  open: days[0]!.open * times(days[0]!),
  high: Math.max(...days.map((day) => day.high * times(day))),
  low: Math.min(...days.map((day) => day.low * times(day))),
  close: days.at(-1)!.close * times(days.at(-1)!),
});

/** A bar as vendors give it: prices as traded, and the close of the bar before. */
const asTraded = (bars: readonly Bar[], i: number): string => {
  const { days } = bars[i]!;
  const { open, high, low, close } = summary(days, () => 1);
  const before = i === 0 ? days[0]!.pre_close : bars[i - 1]!.days.at(-1)!.close;
  // The bar of a week in which trading ended has the date of its Friday.
  const date = days[0]!.code === DELISTED && i === bars.length - 1 ? "2024-09-13" : bars[i]!.date;
  const vol = days.reduce((sum, day) => sum + day.vol, 0);
  return (
    `('${days[0]!.code}', DATE '${date}', ${[open, high, low, close, before].map((x) => `'${x}'::DOUBLE`).join(", ")}, ` +
    `${close - before}::DOUBLE, ${(close / before - 1) * 100}::DOUBLE, ${vol}::DOUBLE)`
  );
};

const bars = (periodOf: (date: Date) => string): string =>
  `SELECT * FROM (VALUES ${CODES.flatMap((code) => {
    const own = barsOf(code, periodOf);
    return own.map((_, i) => asTraded(own, i));
  }).join(", ")}) t(ts_code, trade_date, open, high, low, close, pre_close, change, pct_chg, vol)`;

/** A Wednesday of a week with an ex-date. */
const HOLE = barsOf("300750.SZ", weekOf).find(
  ({ days }) => days.length === 5 && days[0]!.factor !== days[4]!.factor && days[0]!.date > "2024",
)!.days[2]!.date;

beforeAll(async () => {
  root = await temporaryFolder();
  const held = DAYS.filter(({ code, date }) => code !== BARS_ONLY && !(code === HOLED && date === HOLE));
  const daily = held.map(
    ({ code, date, open, high, low, close, pre_close, vol }) =>
      `('${code}', DATE '${date}', ${[open, high, low, close, pre_close, vol].map((x) => `'${x}'::DOUBLE`).join(", ")})`,
  );
  const factors = DAYS.map(({ code, date, factor }) => `('${code}', DATE '${date}', ${factor}::DOUBLE)`);
  await publishRows(
    root,
    {
      daily: `SELECT * FROM (VALUES ${daily.join(", ")}) t(ts_code, trade_date, open, high, low, close, pre_close, vol)`,
      adj_factor: `SELECT * FROM (VALUES ${factors.join(", ")}) t(ts_code, trade_date, adj_factor)`,
      weekly: bars(weekOf),
      monthly: bars(monthOf),
    },
    { codeCopy: true },
  );
  server = await serve(root);
});

const FIELDS = ["trade_date", "open", "high", "low", "close", "pre_close", "change", "pct_chg", "vol"];

async function read(entity: string, query: string): Promise<readonly Record<string, number | null>[]> {
  const { rows } = await server.json(`/api/v1/entities/${entity}?fields=${FIELDS.join()}&${query}`);
  return rows.map((row) => Object.fromEntries(FIELDS.map((name, i) => [name, row[i] as number | null])));
}

const expectClose = (found: number | null | undefined, wanted: number): void => {
  expect(found).not.toBeNull();
  expect(Math.abs(Number(found) - wanted)).toBeLessThan(1e-9 * Math.max(1, Math.abs(wanted)));
};

describe.each([
  ["weekly", weekOf],
  ["monthly", monthOf],
] as const)("%s bars", (entity, periodOf) => {
  /** Whether a day is after the first weekday of its period. */
  const isLateStart = (date: string): boolean => {
    const before = new Date(date);
    do before.setUTCDate(before.getUTCDate() - 1);
    while (before.getUTCDay() % 6 === 0);
    return periodOf(before) === periodOf(new Date(date));
  };

  test.each([WHOLE, DELISTED])("of %s are those of their adjusted days", async (code) => {
    const own = barsOf(code, periodOf);
    for (const adjust of ["backward", "forward"]) {
      const found = await read(entity, `adjust=${adjust}&ts_code=${code}`);
      expect(found).toHaveLength(own.length);
      const anchor = adjust === "forward" ? own.at(-1)!.days.at(-1)!.factor : 1;
      for (const [i, { days }] of own.entries()) {
        const wanted = summary(days, ({ factor }) => factor / anchor);
        const before = (days[0]!.pre_close * days[0]!.factor) / anchor;
        for (const name of ["open", "high", "low", "close"] as const) expectClose(found[i]![name], wanted[name]);
        expectClose(found[i]!["pre_close"], before);
        expectClose(found[i]!["change"], wanted.close - before);
        expectClose(found[i]!["pct_chg"], (wanted.close / before - 1) * 100);
      }
      // The close of a bar is the previous close of the next one.
      for (let i = 1; i < found.length; i++) expectClose(found[i]!["pre_close"], Number(found[i - 1]!["close"]));
    }
  });

  test("without days are null where two factors were valid, and otherwise as traded times the factor", async () => {
    const own = barsOf(BARS_ONLY, periodOf);
    const found = await read(entity, `adjust=backward&ts_code=${BARS_ONLY}`);
    const mixed = own.filter(({ days }) => days[0]!.factor !== days.at(-1)!.factor);
    expect(mixed.length).toBeGreaterThan(2);
    for (const [i, { days }] of own.entries()) {
      const { open, high, low, close } = found[i]!;
      const isMixed = days[0]!.factor !== days.at(-1)!.factor;
      const before = i === 0 ? null : own[i - 1]!.days.at(-1)!.factor;
      // Without a factor before, only one of the first weekday tells that none changed before it.
      const isUnknown = before !== days[0]!.factor && isLateStart(days[0]!.date);
      if (isMixed || isUnknown) {
        expect([open, high, low, close]).toEqual([null, null, null, null]);
      } else {
        const wanted = summary(days, ({ factor }) => factor);
        for (const name of ["open", "high", "low", "close"] as const) expectClose(found[i]![name], wanted[name]);
      }
      const isSame = before !== null && days.every(({ factor }) => factor === before);
      if (isSame) expectClose(found[i]!["pre_close"], own[i - 1]!.days.at(-1)!.close * before);
      else expect(found[i]!["pre_close"]).toBeNull();
    }
  });

  test("of all codes come page by page as at once, in both orders", async () => {
    for (const order of ["asc", "desc"]) {
      const query = new URLSearchParams({ adjust: "forward", order, fields: `ts_code,${FIELDS.join()}` });
      const whole = await server.json(`/api/v1/entities/${entity}?${query.toString()}`);
      const keys = whole.rows.map(([code, date]) => `${date}${code}`);
      expect(keys).toEqual(order === "asc" ? keys.toSorted() : keys.toSorted().reverse());
      const pages = await pagesOf(server, entity, query, 37);
      expect(pages.flatMap(({ rows }) => rows)).toEqual(whole.rows);
    }
  });
});

test("adjust_volume divides volume by what prices are multiplied by, in days and in bars", async () => {
  for (const code of [WHOLE, DELISTED]) {
    const days = DAYS.filter((day) => day.code === code);
    for (const adjust of ["backward", "forward"]) {
      const anchor = adjust === "forward" ? days.at(-1)!.factor : 1;
      const query = `adjust=${adjust}&adjust_volume=true&ts_code=${code}`;
      const found = await read("daily", query);
      for (const [i, { vol, factor }] of days.entries()) expectClose(found[i]!["vol"], (vol * anchor) / factor);
      for (const [entity, periodOf] of [
        ["weekly", weekOf],
        ["monthly", monthOf],
      ] as const) {
        const bars = await read(entity, query);
        const alone = await server.json(`/api/v1/entities/${entity}?fields=vol&${query}`);
        expect(alone.rows.flat()).toEqual(bars.map(({ vol }) => vol));
        for (const [i, bar] of barsOf(code, periodOf).entries()) {
          expectClose(
            bars[i]!["vol"],
            bar.days.reduce((sum, { vol, factor }) => sum + (vol * anchor) / factor, 0),
          );
        }
      }
    }
  }
  const own = barsOf(BARS_ONLY, weekOf);
  const found = await read("weekly", `adjust=backward&adjust_volume=true&ts_code=${BARS_ONLY}`);
  expect(found.map(({ vol }) => vol === null)).toEqual(found.map(({ close }) => close === null));
  const at = found.findIndex(({ close }) => close !== null);
  expectClose(
    found[at]!["vol"],
    own[at]!.days.reduce((sum, { vol, factor }) => sum + vol / factor, 0),
  );
  const refused = await server.get("/api/v1/entities/daily?adjust_volume=true");
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { code: "contradictory_parameters", parameter: "adjust_volume", hint: "add adjust=forward or adjust=backward" },
  ]);
});

test("a week with an ex-date and a missing day is null, since the missing day may have had its highest price", async () => {
  const own = barsOf(HOLED, weekOf);
  const at = own.findIndex(({ days }) => days.some(({ date }) => date === HOLE));
  expect(own[at]!.days[0]!.factor).not.toBe(own[at]!.days.at(-1)!.factor);
  const found = await read("weekly", `adjust=backward&ts_code=${HOLED}`);
  expect([found[at]!["open"], found[at]!["high"], found[at]!["close"]]).toEqual([null, null, null]);
  expect(found[at]!["vol"]).toBe(own[at]!.days.reduce((sum, { vol }) => sum + vol, 0));
  expect(found[at - 1]!["close"]).not.toBeNull();
});

test("a week in which factors are missing has no prices, however equal the others are", async () => {
  const own = barsOf(WHOLE, weekOf);
  const at = own.findIndex(({ days }) => days.length === 5 && days[0]!.factor !== days[4]!.factor);
  const { days } = own[at]!;
  const exDate = days.find(({ factor }) => factor !== days[0]!.factor)!.date;
  for (const missing of [`trade_date >= DATE '${exDate}'`, `trade_date < DATE '${exDate}'`]) {
    const root = await temporaryFolder();
    const row = (day: Day) => `('${WHOLE}', DATE '${day.date}', ${day.factor}::DOUBLE)`;
    const all = DAYS.filter(({ code }) => code === WHOLE);
    const daily = all.map(
      ({ date, open, high, low, close, pre_close, vol }) =>
        `('${WHOLE}', DATE '${date}', ${[open, high, low, close, pre_close, vol].map((x) => `'${x}'::DOUBLE`).join(", ")})`,
    );
    await publishRows(root, {
      daily: `SELECT * FROM (VALUES ${daily.join(", ")}) t(ts_code, trade_date, open, high, low, close, pre_close, vol)`,
      weekly: bars(weekOf),
      adj_factor:
        `SELECT * FROM (VALUES ${all.map(row).join(", ")}) t(ts_code, trade_date, adj_factor) WHERE NOT (${missing} AND ` +
        `trade_date BETWEEN DATE '${days[0]!.date}' AND DATE '${days[4]!.date}')`,
    });
    const holed = await serve(root);
    const { rows } = await holed.json(
      `/api/v1/entities/weekly?adjust=backward&ts_code=${WHOLE}&fields=open,high,low,close&trade_date=${days[4]!.date.replaceAll("-", "")}`,
    );
    expect(rows).toEqual([[null, null, null, null]]);
  }
});

describe("a week whose first day is missing", () => {
  /** The last days of May 2024: Monday the 27th is missing. The week's own volume is that of all of its days. */
  const WEEK = { open: 0.62, high: 0.73, low: 0.62, close: 0.66, pre_close: 0.61, vol: 188_239 };
  const DAYS_LEFT = [
    { date: "2024-05-24", open: 0.61, high: 0.61, low: 0.58, close: 0.61, pre_close: 0.59, vol: 47_970 },
    { date: "2024-05-28", open: 0.62, high: 0.69, low: 0.62, close: 0.69, pre_close: 0.65, vol: 43_039 },
    { date: "2024-05-29", open: 0.69, high: 0.73, low: 0.69, close: 0.72, pre_close: 0.69, vol: 56_305 },
    { date: "2024-05-31", open: 0.7, high: 0.73, low: 0.66, close: 0.66, pre_close: 0.72, vol: 12_341 },
  ];
  const NAMES = ["open", "high", "low", "close", "pre_close", "vol"] as const;
  const rowOf = (day: Record<(typeof NAMES)[number], number>, date: string): string =>
    `('${WHOLE}', DATE '${date}', ${NAMES.map((name) => `${day[name]}::DOUBLE`).join(", ")})`;
  const tableOf = (rows: readonly string[]): string =>
    `SELECT * FROM (VALUES ${rows.join(", ")}) t(ts_code, trade_date, ${NAMES.join(", ")})`;

  async function weekOfLake(factors: Readonly<Record<string, number>>): Promise<Record<string, number | null>> {
    const folder = await temporaryFolder();
    const factorRows = Object.entries(factors).map(
      ([date, factor]) => `('${WHOLE}', DATE '${date}', ${factor}::DOUBLE)`,
    );
    await publishRows(folder, {
      daily: tableOf(DAYS_LEFT.map((day) => rowOf(day, day.date))),
      weekly: tableOf([rowOf(WEEK, "2024-05-31")]),
      adj_factor: `SELECT * FROM (VALUES ${factorRows.join(", ")}) t(ts_code, trade_date, adj_factor)`,
    });
    const holed = await serve(folder);
    const query = `adjust=backward&adjust_volume=true&fields=${NAMES.join()}&format=ndjson`;
    const response = await holed.get(`/api/v1/entities/weekly?${query}`);
    return JSON.parse(await response.text()) as Record<string, number | null>;
  }

  test("has its own previous close, not that of the first day that is there", async () => {
    const week = await weekOfLake({
      ...{ "2024-05-24": 2, "2024-05-27": 2, "2024-05-28": 2, "2024-05-29": 2, "2024-05-31": 2 },
    });
    expect(week).toEqual({ open: 1.24, high: 1.46, low: 1.24, close: 1.32, pre_close: 1.22, vol: 94_119.5 });
  });

  test("is null if factors differ, even if that day's factor is missing too", async () => {
    const week = await weekOfLake({ "2024-05-24": 2, "2024-05-28": 2, "2024-05-29": 4, "2024-05-31": 4 });
    expect(week).toEqual({ open: null, high: null, low: null, close: null, pre_close: null, vol: null });
  });
});

test("prices as traded, and rows without prices, need neither factors nor days", async () => {
  const raw = await read("weekly", `ts_code=${WHOLE}`);
  expectClose(raw[0]!["close"], barsOf(WHOLE, weekOf)[0]!.days.at(-1)!.close);
  const secret = await createToken(root, "bars", { entities: ["weekly", "adj_factor"], expires: null }, new Date());
  const response = await server.get("/api/v1/entities/weekly?adjust=backward", { Authorization: `Bearer ${secret}` });
  expect([response.status, ((await response.json()) as { hint: string }).hint]).toEqual([
    403,
    "adjust needs adj_factor and daily in addition to weekly",
  ]);
});
