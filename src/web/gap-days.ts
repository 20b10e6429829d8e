// Gaps as days: what is missing on each day of each year that an entity covers, and the calendar that shows it.
import type { Gap } from "./types.js";
import type { App } from "./app.js";
import { h, s } from "./dom.js";
import { type TextKey, dayText } from "./texts.js";

/** `closed` also stands for days outside of what is covered; `excused` for days on which all gaps are excused. */
type DayState = "closed" | "complete" | "excused" | "few" | "some" | "many" | "none";

interface GapDay {
  /** `YYYYMMDD`. */
  readonly day: string;
  readonly state: DayState;
  /** Codes without a row. */
  readonly missing: number;
}

export interface GapYear {
  readonly year: string;
  /** Every day of the year, from the first of January on. */
  readonly days: readonly GapDay[];
  readonly open: number;
  /** Trading days without any row. */
  readonly none: number;
  /** Trading days on which some rows are missing. */
  readonly partial: number;
  /** Trading days on which all gaps are excused. */
  readonly excused: number;
}

const DAY = 86_400_000;

const timeOf = (day: string): number =>
  Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6)));
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10).replaceAll("-", "");

/** Monday is 0. */
const weekdayOf = (day: string): number => (new Date(timeOf(day)).getUTCDay() + 6) % 7;

/** Every weekday, in place of the trading days. */
function weekdays(first: string, last: string): ReadonlySet<string> {
  const days = new Set<string>();
  for (let time = timeOf(first); time <= timeOf(last); time += DAY) {
    if (weekdayOf(dayOf(time)) < 5) days.add(dayOf(time));
  }
  return days;
}

/**
 * The years from `first` to `last`; `open` are the trading days, null if the token does not cover the calendar. A gap
 * that names no code is a day without any row.
 */
export function gapYears(
  first: string,
  last: string,
  open: ReadonlySet<string> | null,
  gaps: readonly Gap[],
  excused: readonly Gap[],
): readonly GapYear[] {
  const trading = open ?? weekdays(first, last);
  const begin = timeOf(`${first.slice(0, 4)}0101`);
  const length = (timeOf(`${last.slice(0, 4)}1231`) - begin) / DAY + 1;
  const at = (day: string): number => Math.min(Math.max((timeOf(day) - begin) / DAY, 0), length);
  /** How many gaps cover each day: each adds one where it begins and takes it back after its end. */
  const depthsOf = (some: readonly Gap[]): Int32Array => {
    const depths = new Int32Array(length + 1);
    for (const { gap_start, gap_end } of some) {
      depths[at(gap_start)]! += 1;
      depths[Math.min(at(gap_end) + 1, length)]! -= 1;
    }
    for (let i = 1; i < length; i++) depths[i]! += depths[i - 1]!;
    return depths;
  };
  const codes = depthsOf(gaps.filter(({ ts_code }) => ts_code !== null));
  const whole = depthsOf(gaps.filter(({ ts_code }) => ts_code === null));
  const accepted = depthsOf(excused);
  const years = new Map<string, GapDay[]>();
  for (let i = 0; i < length; i++) {
    const missing = codes[i]!;
    const day = dayOf(begin + i * DAY);
    const counted = trading.has(day) && day >= first && day <= last;
    const state = counted ? stateOf(missing, whole[i]!, accepted[i]!) : "closed";
    const days = years.get(day.slice(0, 4)) ?? [];
    years.set(day.slice(0, 4), days);
    days.push({ day, state, missing });
  }
  return [...years].map(([year, days]) => ({
    ...{ year, days },
    open: days.filter(({ state }) => state !== "closed").length,
    none: days.filter(({ state }) => state === "none").length,
    partial: days.filter(({ state }) => ["few", "some", "many"].includes(state)).length,
    excused: days.filter(({ state }) => state === "excused").length,
  }));
}

function stateOf(missing: number, empty: number, excused: number): DayState {
  if (empty > 0) return "none";
  if (missing === 0) return excused === 0 ? "complete" : "excused";
  return missing === 1 ? "few" : missing < 10 ? "some" : "many";
}

// The calendar: a block a year, a column a week, a cell a day.

const CELL = 10;
const GAP = 2;
const STEP = CELL + GAP;
const HEAD = 14;

const LEGEND: Readonly<Record<DayState, TextKey>> = {
  ...{
    complete: "complete",
    excused: "excused",
    few: "few",
    some: "some",
    many: "many",
    none: "none",
    closed: "closed",
  },
};

const READ: Readonly<Record<DayState, TextKey>> = {
  ...{ complete: "dayComplete", few: "dayMissing", some: "dayMissing", many: "dayMissing" },
  ...{ none: "dayNone", closed: "dayClosed", excused: "dayExcused" },
};

export function heatMap({ t, language }: App, years: readonly GapYear[]): HTMLElement {
  const reading = h("p", { class: "reading" }, t("gapPick"));
  const days = new Map(years.flatMap((year) => year.days.map((day) => [day.day, day])));
  const read = (event: Event): void => {
    const day = event.target instanceof SVGElement ? days.get(event.target.dataset["day"] ?? "") : undefined;
    if (day) reading.textContent = t(READ[day.state], { day: dayText(day.day), n: day.missing });
  };
  const months = Array.from({ length: 12 }, (_, month) =>
    new Date(Date.UTC(2024, month, 1)).toLocaleDateString(language === "en" ? "en-GB" : "zh-CN", {
      month: language === "en" ? "short" : "numeric",
      timeZone: "UTC",
    }),
  );
  return h(
    "div",
    { class: "heat" },
    h(
      "ul",
      { class: "legend" },
      ...Object.entries(LEGEND).map(([state, key]) =>
        h("li", {}, s("svg", { width: CELL, height: CELL, "aria-hidden": "true" }, ...cell(state, 0, 0, null)), t(key)),
      ),
    ),
    reading,
    h(
      "div",
      { class: "years", pointerover: read, pointerdown: read },
      ...[...years].reverse().map((year) => block(t, year, months)),
    ),
  );
}

function block(
  t: App["t"],
  { year, days, open, none, partial, excused }: GapYear,
  months: readonly string[],
): HTMLElement {
  const offset = weekdayOf(days[0]!.day);
  const column = (index: number): number => Math.floor((index + offset) / 7) * STEP;
  const label =
    t("gapDays", { year, open, missing: none, partial }) + (excused > 0 ? t("gapDaysExcused", { excused }) : "");
  return h(
    "figure",
    {},
    h("figcaption", {}, label),
    s(
      "svg",
      { viewBox: `0 0 ${54 * STEP} ${HEAD + 7 * STEP}`, role: "img", "aria-label": label },
      ...days.flatMap(({ day }, index) =>
        day.endsWith("01") ? [s("text", { x: column(index), y: 9 }, months[Number(day.slice(4, 6)) - 1]!)] : [],
      ),
      ...days.flatMap((day, index) => cell(day.state, column(index), HEAD + ((index + offset) % 7) * STEP, day)),
    ),
  );
}

/** A day without any row also bears a mark, for eyes that do not tell its colour. */
function cell(state: string, x: number, y: number, day: GapDay | null): SVGElement[] {
  const box = s("rect", {
    x,
    y,
    width: CELL,
    height: CELL,
    rx: 2,
    class: `day ${state}`,
    "data-day": day?.day ?? null,
  });
  if (state !== "none") return [box];
  return [box, s("path", { class: "mark", d: `M${x + 2.5} ${y + 2.5}l5 5m0 -5l-5 5` })];
}
