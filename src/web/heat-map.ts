// The gaps of an entity drawn as a calendar: a block a year, a column a week, a cell a day.
import type { App } from "./app.js";
import { h, s } from "./dom.js";
import { weekdayOf, type DayState, type GapDay, type GapYear } from "./gap-days.js";
import { type TextKey, dayText } from "./texts.js";

const CELL = 10;
const GAP = 2;
const STEP = CELL + GAP;
const HEAD = 14;

const LEGEND: Readonly<Record<DayState, TextKey>> = {
  ...{ complete: "complete", few: "few", some: "some", many: "many", none: "none", closed: "closed" },
};

const READ: Readonly<Record<DayState, TextKey>> = {
  ...{ complete: "dayComplete", few: "dayMissing", some: "dayMissing", many: "dayMissing" },
  ...{ none: "dayNone", closed: "dayClosed" },
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

function block(t: App["t"], { year, days, open, none, partial }: GapYear, months: readonly string[]): HTMLElement {
  const offset = weekdayOf(days[0]!.day);
  const column = (index: number): number => Math.floor((index + offset) / 7) * STEP;
  const label = t("gapDays", { year, open, missing: none, partial });
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
