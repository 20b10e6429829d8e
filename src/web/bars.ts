// What a chart is drawn from: the days of a stock or an index, joined to weeks or months, and their averages.
import { ask } from "./api.js";
import type { App } from "./app.js";
import { unitOf } from "./catalog.js";
import { dayText } from "./texts.js";
import type { CatalogEntity, Envelope } from "./types.js";

/** A trading day, or all of a week or month; prices in currency or points, volume in the unit of its entity. */
export interface Bar {
  /** The last trading day, `YYYY-MM-DD`. */
  readonly time: string;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
  /** In percent, as the entity has it: on an ex-day it is not that of the closes. */
  readonly change: number | null;
  /** Whether prices were adjusted for a distribution or a split. */
  readonly isEx: boolean;
}

export type Period = "day" | "week" | "month";
export type Adjustment = "none" | "forward" | "backward";

export interface Series {
  readonly bars: readonly Bar[];
  readonly adjustment: Adjustment;
  readonly volumeUnit: string;
}

/** Where days are looked for. */
const ENTITIES = ["daily", "index_daily"];

/** The whole series, oldest first, without days that lack a price. An index is never adjusted. */
export async function seriesOf(app: App, code: string, wanted: Adjustment, period: Period): Promise<Series> {
  const entities = app.entities.filter(({ name }) => ENTITIES.includes(name) && app.meta.entities[name]?.available);
  for (const entity of entities) {
    const adjustment = entity.parameters.includes("adjust") ? wanted : "none";
    const days = await daysOf(app, entity, code, adjustment);
    if (days.length > 0) return { bars: joined(days, period), adjustment, volumeUnit: volumeUnit(app, entity) };
  }
  return { bars: [], adjustment: "none", volumeUnit: "" };
}

function volumeUnit(app: App, { columns }: CatalogEntity): string {
  const volume = columns.find(({ name }) => name === "vol");
  return volume === undefined ? "" : unitOf(app, volume);
}

async function daysOf(app: App, { name }: CatalogEntity, code: string, adjustment: Adjustment): Promise<Bar[]> {
  const fields = "trade_date,open,high,low,close,vol,pct_chg";
  const adjust = adjustment === "none" ? {} : { adjust: adjustment };
  const [{ rows }, factors] = await Promise.all([
    ask<Envelope>(`api/v1/entities/${name}`, { ts_code: code, fields, ...adjust }, app.signal),
    name === "daily" ? factorsOf(app, code) : [],
  ]);
  let before: number | undefined;
  let next = 0;
  return rows.flatMap(([day, ...values]) => {
    const [open, high, low, close, volume, change] = values as (number | null)[];
    if (typeof day !== "string" || !areNumbers(open, high, low, close)) return [];
    const last = before;
    for (; next < factors.length && factors[next]![0] <= day; next++) before = factors[next]![1];
    const isEx = last !== undefined && before !== last;
    const prices = { open, high, low, close } as Pick<Bar, "open" | "high" | "low" | "close">;
    return [{ time: dayText(day), ...prices, volume: volume ?? 0, change: change ?? null, isEx }];
  });
}

const areNumbers = (...values: readonly unknown[]): boolean => values.every((value) => typeof value === "number");

/** By day; none where the token does not cover them. */
async function factorsOf({ meta, signal }: App, ts_code: string): Promise<readonly [string, number][]> {
  if (!meta.entities["adj_factor"]?.available) return [];
  const fields = "trade_date,adj_factor";
  const { rows } = await ask<Envelope>("api/v1/entities/adj_factor", { ts_code, fields }, signal);
  return (rows as readonly (readonly [string, number | null])[]).filter(
    (row): row is [string, number] => row[1] !== null,
  );
}

const DAY = 86_400_000;

const KEYS: Readonly<Record<Period, (time: string) => string>> = {
  day: (time) => time,
  // Weeks begin on Monday; the first day of the count was a Thursday.
  week: (time) => String(Math.floor((Date.parse(time) / DAY + 3) / 7)),
  month: (time) => time.slice(0, 7),
};

function joined(days: readonly Bar[], period: Period): readonly Bar[] {
  const groups = new Map<string, Bar[]>();
  for (const day of days) {
    const key = KEYS[period](day.time);
    const group = groups.get(key);
    if (group) group.push(day);
    else groups.set(key, [day]);
  }
  return [...groups.values()].map((group) => ({
    ...{ time: group.at(-1)!.time, open: group[0]!.open, close: group.at(-1)!.close },
    ...rangeOf(group),
    volume: group.reduce((sum, { volume }) => sum + volume, 0),
    change: group.length === 1 ? group[0]!.change : compounded(group),
    isEx: group.some(({ isEx }) => isEx),
  }));
}

/** Lowest and highest price. */
export const rangeOf = (bars: readonly Bar[]): Pick<Bar, "low" | "high"> => ({
  low: bars.reduce((least, { low }) => Math.min(least, low), Infinity),
  high: bars.reduce((most, { high }) => Math.max(most, high), -Infinity),
});

function compounded(bars: readonly Bar[]): number | null {
  if (bars.some(({ change }) => change === null)) return null;
  return (bars.reduce((product, { change }) => product * (1 + change! / 100), 1) - 1) * 100;
}

/** Bars that each moving average takes. */
export const AVERAGES = [5, 20, 60] as const;

/** The mean close of the last `n` bars at each bar; null where there are fewer. */
export function averageOf(bars: readonly Bar[], n: number): readonly (number | null)[] {
  let sum = 0;
  return bars.map(({ close }, index) => {
    sum += close - (bars[index - n]?.close ?? 0);
    return index < n - 1 ? null : sum / n;
  });
}
