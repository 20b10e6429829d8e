// Small random markets, and their gaps found the plain way: day by day, stock by stock.
import fc from "fast-check";
import { formatDays, toDays } from "../../src/dates.js";
import type { Gap } from "../../src/lake/gaps.js";

export interface SmallMarket {
  /** Every day that the calendar knows, `YYYYMMDD`, and whether it is open. */
  readonly calendar: readonly (readonly [string, boolean])[];
  /** Code, listing date, delisting date. */
  readonly stocks: readonly (readonly [string, string | null, string | null])[];
  /** Code, date, timing, type. */
  readonly suspensions: readonly (readonly [string, string, string | null, string])[];
  /** Code and date of each row of the entity, without repetition. */
  readonly rows: readonly (readonly [string, string])[];
}

/** Listed ones, and a fund that no stock list knows. */
const CODES = ["000001.SZ", "000002.SZ", "600000.SH", "920001.BJ"];
const FUND = "159001.SZ";
const DAYS = 40;
const FIRST = toDays("20231220");

const dateAt = (day: number): string => formatDays(FIRST + day);
const dateOf = fc.integer({ min: 0, max: DAYS - 1 }).map(dateAt);
const codeOf = fc.constantFrom(...CODES);

export const smallMarket: fc.Arbitrary<SmallMarket> = fc
  .record({
    from: fc.integer({ min: 0, max: 10 }),
    to: fc.integer({ min: 20, max: DAYS }),
    open: fc.array(
      fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
      { minLength: DAYS, maxLength: DAYS },
    ),
    stocks: fc.uniqueArray(fc.tuple(codeOf, fc.option(dateOf, { freq: 8 }), fc.option(dateOf, { freq: 2 })), {
      selector: ([code]) => code,
      minLength: 2,
    }),
    suspensions: fc.array(
      fc.tuple(codeOf, dateOf, fc.option(fc.constant("09:30-10:00"), { freq: 2 }), fc.constantFrom("S", "S", "R")),
      { maxLength: 30, size: "max" },
    ),
    // Most rows are there: what is drawn is what is missing.
    lost: fc.array(fc.tuple(fc.constantFrom(...CODES, FUND), dateOf), { minLength: 40, maxLength: 120, size: "max" }),
    lostDays: fc.array(dateOf, { maxLength: 6 }),
    first: fc.integer({ min: 0, max: 15 }),
    last: fc.integer({ min: 12, max: DAYS - 1 }),
  })
  .map(({ from, to, open, stocks, suspensions, lost, lostDays, first, last }) => {
    const calendar = open.map((isOpen, day) => [dateAt(day), isOpen] as const).slice(from, to);
    const gone = new Set(lost.map((row) => row.join()));
    const rows: [string, string][] = [];
    for (let day = first; day <= last; day++) {
      if (!open[day] || lostDays.includes(dateAt(day))) continue;
      for (const code of [...CODES, FUND]) if (!gone.has([code, dateAt(day)].join())) rows.push([code, dateAt(day)]);
    }
    return { calendar, stocks, suspensions, rows };
  });

/** What `computed gaps` means, as loops. */
export function gapsByHand(entity: string, market: SmallMarket): Gap[] {
  const dates = market.rows.map(([, date]) => date).sort();
  const open = market.calendar.filter(([, isOpen]) => isOpen).map(([date]) => date);
  const held = open.filter((date) => dates.length > 0 && date >= dates[0]! && date <= dates.at(-1)!);
  const empty = held.filter((date) => !dates.includes(date));
  const gaps = runs(open, empty).map((run) => gap(entity, null, "missing_day", run));
  for (const [code, listed, delisted] of market.stocks) {
    const missing = held.filter(
      (date) =>
        !empty.includes(date) &&
        listed !== null &&
        listed <= date &&
        (!code.endsWith(".BJ") || date >= "20211115") &&
        (delisted === null || date < delisted) &&
        !market.rows.some(([c, d]) => c === code && d === date) &&
        !isHalted(market, code, delisted, date) &&
        !isBeforeDelisting(market, code, delisted, date),
    );
    gaps.push(...runs(open, missing).map((run) => gap(entity, code, "missing", run)));
  }
  return gaps;
}

/** Suspended, or between a suspension and the next resumption or delisting, without a row in between. */
function isHalted(market: SmallMarket, code: string, delisted: string | null, date: string): boolean {
  const known = new Set(market.calendar.map(([day]) => day));
  const of = (wanted: (timing: string | null, type: string) => boolean): string[] =>
    market.suspensions.filter(([c, d, t, type]) => c === code && known.has(d) && wanted(t, type)).map(([, d]) => d);
  const halts = of((timing, type) => type === "S" && timing === null);
  const ends = of((_, type) => type === "R");
  if (halts.includes(date)) return true;
  const events = [...halts, ...ends].sort();
  const [before, after] = [events.findLast((day) => day < date), events.find((day) => day >= date) ?? delisted];
  if (before === undefined || after === null || ends.includes(before) || after === date) return false;
  if (events.some((day) => day >= date) && !ends.includes(after)) return false;
  return !market.rows.some(([c, day]) => c === code && known.has(day) && day > before && day < after);
}

/** One of the five trading days before the delisting, if the stock has no row on it or later. */
function isBeforeDelisting(market: SmallMarket, code: string, delisted: string | null, date: string): boolean {
  if (delisted === null) return false;
  const open = market.calendar.filter(([day, isOpen]) => isOpen && day < delisted).map(([day]) => day);
  const known = market.calendar.map(([day]) => day);
  return (
    open.slice(-5).includes(date) && !market.rows.some(([c, day]) => c === code && known.includes(day) && day >= date)
  );
}

function gap(entity: string, ts_code: string | null, kind: string, [gap_start, gap_end]: [string, string]): Gap {
  return { entity, ts_code, gap_start, gap_end, kind };
}

/** Dates that follow each other among the open ones, as first and last. */
function runs(open: readonly string[], dates: readonly string[]): [string, string][] {
  const found: [string, string][] = [];
  for (const date of dates) {
    const last = found.at(-1);
    if (last && open.indexOf(last[1]) + 1 === open.indexOf(date)) last[1] = date;
    else found.push([date, date]);
  }
  return found;
}

/** Gaps in an order of their own, for comparing as sets. */
export const sorted = (gaps: readonly Gap[]): readonly string[] => gaps.map((g) => JSON.stringify(g)).sort();
