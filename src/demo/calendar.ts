// The calendar of the demo, by the rules for public holidays in mainland China, 1990 to 2033, and the factors of each day.
import { formatDays, toDays } from "../dates.js";
import type { Demo } from "./tables.js";

/** First trading day of the Shanghai exchange. */
const FIRST_DAY = "19901219";

/** Per year: Spring Festival, Dragon Boat, Mid-Autumn as MMDD, from the lunar calendar. */
const LUNAR_FROM = 1990;
const LUNAR =
  "0127 0528 1003|0215 0616 0922|0204 0605 0911|0123 0624 0930|0210 0613 0920|0131 0602 0909|0219 0620 0927|" +
  "0207 0609 0916|0128 0530 1005|0216 0618 0924|0205 0606 0912|0124 0625 1001|0212 0615 0921|0201 0604 0911|" +
  "0122 0622 0928|0209 0611 0918|0129 0531 1006|0218 0619 0925|0207 0608 0914|0126 0528 1003|0214 0616 0922|" +
  "0203 0606 0912|0123 0623 0930|0210 0612 0919|0131 0602 0908|0219 0620 0927|0208 0609 0915|0128 0530 1004|" +
  "0216 0618 0924|0205 0607 0913|0125 0625 1001|0212 0614 0921|0201 0603 0910|0122 0622 0929|0210 0610 0917|" +
  "0129 0531 1006|0217 0619 0925|0206 0609 0915|0126 0528 1003|0213 0616 0922|0203 0605 0912|0123 0624 1001|" +
  "0211 0612 0919|0131 0601 0908";

const FESTIVALS = LUNAR.split("|").map((year) => year.split(" "));

/** The last year for which the calendar is known. */
export const LAST_YEAR = LUNAR_FROM + FESTIVALS.length - 1;

interface CalendarDay {
  /** `YYYYMMDD` */
  readonly date: string;
  readonly open: boolean;
}

/** Every calendar day from the exchange's first to the last of `year`. */
export function calendarUntil(year: number): CalendarDay[] {
  const closed = new Set<number>();
  for (let y = LUNAR_FROM; y <= Math.min(year + 1, LAST_YEAR); y++) for (const day of holidays(y)) closed.add(day);
  const last = toDays(`${year}1231`);
  const days: CalendarDay[] = [];
  for (let day = toDays(FIRST_DAY); day <= last; day++) {
    days.push({ date: formatDays(day), open: weekday(day) < 6 && !closed.has(day) });
  }
  return days;
}

/** How many days the exchange has been open up to a day, `YYYYMMDD`. */
export function tradingDays(until: string): number {
  return calendarUntil(Number(until.slice(0, 4))).filter((day) => day.open && day.date <= until).length;
}

/** Holidays of a year as days since 1970-01-01, weekends among them included. */
function holidays(year: number): number[] {
  const [spring, dragonBoat, midAutumn] = FESTIVALS[year - LUNAR_FROM]!.map((day) => toDays(`${year}${day}`));
  const newYear = toDays(`${year}0101`);
  const labour = toDays(`${year}0501`);
  const national = toDays(`${year}1001`);
  if (year < 1999) return [newYear, ...run(spring! - 1, 5), labour, ...run(national, 2)];
  const golden = [
    ...run(spring! - 1, year < 2025 ? 7 : 8),
    ...run(national, year > 2008 && midAutumn! > national ? 8 : 7),
  ];
  if (year < 2008) return [...bridged(newYear), ...golden, ...run(labour, 7)];
  return [
    ...bridged(newYear),
    ...golden,
    ...bridged(qingming(year)),
    ...(year < 2020 ? bridged(labour) : run(labour, 5)),
    ...bridged(dragonBoat!),
    ...bridged(midAutumn!),
  ];
}

/** A holiday of one day, extended to the neighbouring weekend. */
function bridged(day: number): number[] {
  const stretch = [[0], [0], [-1, 0], [0], [0, 1], [0], [0, 1, 2], [0, 1]][weekday(day)]!;
  return stretch.map((offset) => day + offset);
}

/** The solar term on 4 or 5 April. */
function qingming(year: number): number {
  const y = year % 100;
  return toDays(`${year}0400`) + Math.floor(y * 0.2422 + 4.81) - Math.floor(y / 4);
}

function run(first: number, length: number): number[] {
  return Array.from({ length }, (_, i) => first + i);
}

/** 1 = Monday .. 7 = Sunday. */
function weekday(day: number): number {
  return ((day + 3) % 7) + 1;
}

/** The number of common factors that move the prices. */
const FACTORS = 6;

/** 1, 2, .. FACTORS: the numbers in the names of the columns of factors and loadings. */
export const FACTOR_NUMBERS = Array.from({ length: FACTORS }, (_, i) => i + 1);

const WIDTHS = [0.17, ...Array.from({ length: FACTORS - 1 }, () => 0.24)];
const MEMORY = 0.995;

/**
 * Trading days are numbered: t = 0 is the first of the demo, earlier ones are negative.
 * `demo_calendar(day, is_open, t, pretrade)`: every calendar day since 1990; t is the last trading day up to it.
 * `demo_open(t, day)`: the trading days among them.
 * `demo_day(t, day, week_end, month_end, f1.., g1..)`: the trading days of the demo; f are the factors at the close,
 * g those at the previous close. The move of the factors in a day is a vector no longer than 1. `busy` is the volume of the
 * market, 1 on an average day: it is high when prices move much.
 */
export async function makeDays(demo: Demo): Promise<void> {
  const { days, until, seed } = demo.options;
  const calendar = calendarUntil(Number(until.slice(0, 4)) + 1);
  const known = tradingDays(until);
  await demo.table(
    "calendar",
    `WITH day AS (SELECT unnest(range(${toDays(calendar[0]!.date)}, ${toDays(calendar[0]!.date) + calendar.length}))::INTEGER AS number,
       unnest(string_split($1, '')) = '1' AS open),
     counted AS (SELECT number, open, (count(*) FILTER (open) OVER (ORDER BY number))::INTEGER AS n FROM day)
     SELECT DATE '1970-01-01' + number AS day, open::INTEGER AS is_open, n - 1 - ${known - days} AS t,
       lag(CASE WHEN open THEN DATE '1970-01-01' + number END IGNORE NULLS) OVER (ORDER BY number) AS pretrade
     FROM counted ORDER BY number`,
    [calendar.map((day) => (day.open ? "1" : "0")).join("")],
  );
  await demo.table("open", `SELECT t, day FROM demo_calendar WHERE is_open = 1 ORDER BY t`);
  await demo.table(
    "day",
    `WITH path AS (SELECT unnest(range(-1, ${days}))::INTEGER AS t,
       ${FACTOR_NUMBERS.map((j) => `unnest(string_split($${j}, ' '))::DOUBLE AS f${j}`).join(", ")},
       unnest(string_split($${FACTORS + 1}, ' '))::DOUBLE AS busy)
     SELECT t, day, busy, max(day) OVER (PARTITION BY date_trunc('week', day)) AS week_end,
       max(day) OVER (PARTITION BY date_trunc('month', day)) AS month_end,
       ${FACTOR_NUMBERS.map((j) => `f${j}, lag(f${j}, 1, 0) OVER (ORDER BY t) AS g${j}`).join(", ")}
     FROM path JOIN demo_open USING (t) QUALIFY t >= 0 ORDER BY t`,
    factorPaths(days + 1, seed),
  );
}

/** The levels of each factor, mean-reverting walks around 0 with changing volatility, then the volume: separated by spaces. */
function factorPaths(length: number, seed: number): string[] {
  const random = generator(seed * FACTORS + 1);
  const levels = new Array<number>(FACTORS).fill(0);
  const paths: string[][] = levels.map(() => ["0"]);
  const busy = ["1"];
  let storm = 0;
  for (let t = 1; t < length; t++) {
    storm = 0.97 * storm + 0.2 * (random() - 0.5);
    const size = Math.exp(storm);
    busy.push(size.toFixed(6));
    const move = levels.map((level, j) => {
      const bell = (random() + random() + random() + random() - 2) * Math.sqrt(3);
      return (MEMORY - 1) * level + bell * size * WIDTHS[j]!;
    });
    const shrink = Math.min(1, 0.999 / Math.hypot(...move));
    for (let j = 0; j < FACTORS; j++) {
      levels[j] = levels[j]! + move[j]! * shrink;
      paths[j]!.push(levels[j]!.toFixed(6));
    }
  }
  return [...paths, busy].map((path) => path.join(" "));
}

/** A generator of numbers in [0, 1): a multiply-with-xorshift counter over 32 bits. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let x = state ^ (state >>> 16);
    x = Math.imul(x, 0x21f0aaad);
    x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
    return ((x ^ (x >>> 15)) >>> 0) / 2 ** 32;
  };
}
