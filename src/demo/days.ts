// Helper tables of days: the calendar, and the trading days of the demo with the factors that move all prices.
import { toDays } from "../dates.js";
import { calendarUntil, tradingDays } from "./calendar.js";
import type { Demo } from "./tables.js";
import { generator } from "./random.js";

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
 * g those at the previous close. The move of the factors in a day is a vector no longer than 1.
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
       ${FACTOR_NUMBERS.map((j) => `unnest(string_split($${j}, ' '))::DOUBLE AS f${j}`).join(", ")})
     SELECT t, day, max(day) OVER (PARTITION BY date_trunc('week', day)) AS week_end,
       max(day) OVER (PARTITION BY date_trunc('month', day)) AS month_end,
       ${FACTOR_NUMBERS.map((j) => `f${j}, lag(f${j}, 1, 0) OVER (ORDER BY t) AS g${j}`).join(", ")}
     FROM path JOIN demo_open USING (t) QUALIFY t >= 0 ORDER BY t`,
    factorPaths(days + 1, seed),
  );
}

/** The levels of each factor, separated by spaces: mean-reverting walks around 0 with changing volatility. */
function factorPaths(length: number, seed: number): string[] {
  const random = generator(seed * FACTORS + 1);
  const levels = new Array<number>(FACTORS).fill(0);
  const paths: string[][] = levels.map(() => ["0"]);
  let storm = 0;
  for (let t = 1; t < length; t++) {
    storm = 0.97 * storm + 0.2 * (random() - 0.5);
    const size = Math.exp(storm);
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
  return paths.map((path) => path.join(" "));
}
