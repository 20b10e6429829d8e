// A chart in words: the part on screen, and the figures of one bar.
import type { App } from "./app.js";
import { AVERAGES, averageOf, rangeOf, type Adjustment, type Bar, type Period, type Series } from "./bars.js";
import { h } from "./dom.js";
import { type TextKey, countText } from "./texts.js";

const SAID = {
  none: "notAdjusted",
  forward: "adjustedForward",
  backward: "adjustedBackward",
} as const satisfies Record<Adjustment, TextKey>;

const COUNTED = { day: "inDays", week: "inWeeks", month: "inMonths" } as const satisfies Record<Period, TextKey>;

/** `bars` are those on screen. */
export function summaryOf(
  { t }: App,
  name: string,
  { adjustment }: Series,
  period: Period,
  bars: readonly Bar[],
): string {
  const { low, high } = rangeOf(bars);
  return t("chartSummary", {
    ...{ name, adjust: t(SAID[adjustment]), n: t(COUNTED[period], { n: bars.length }) },
    ...{ first: bars[0]!.time, last: bars.at(-1)!.time },
    ...{ close: priceText(bars.at(-1)!.close), low: priceText(low), high: priceText(high) },
  });
}

const priceText = (price: number): string =>
  price.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 3 });

/** A bar in words, e.g. `2024-01-05  Open 9.10 …`, with the averages if they are shown. */
export function figuresOf({ t }: App, { bars, volumeUnit }: Series, index: number, hasAverages: boolean): Node[] {
  const { time, open, high, low, close, volume, change, isEx } = bars[index]!;
  const figures: (readonly [name: string, value: string, kind: string | null])[] = [
    [t("open"), priceText(open), null],
    [t("high"), priceText(high), null],
    [t("low"), priceText(low), null],
    [t("close"), priceText(close), null],
    [t("volume"), `${countText(Math.round(volume))} ${volumeUnit}`, null],
  ];
  if (change !== null) {
    const kind = change > 0 ? "up" : change < 0 ? "down" : null;
    figures.push([t("change"), `${change > 0 ? "+" : ""}${change.toFixed(2)}%`, kind]);
  }
  for (const n of hasAverages ? AVERAGES : []) {
    const value = averageOf(bars.slice(Math.max(0, index - n + 1), index + 1), n).at(-1);
    if (typeof value === "number") figures.push([`MA${n}`, priceText(value), `colour-average-${n}`]);
  }
  return [
    h("strong", {}, time),
    ...figures.map(([name, value, kind]) => h("span", {}, `${name} `, h("b", { class: kind }, value))),
    ...(isEx ? [h("span", {}, t("exDay"))] : []),
  ];
}

/** Who made the charts, as their licence asks. */
export const makers = (): HTMLElement =>
  h(
    "a",
    { href: "https://www.tradingview.com/", rel: "noreferrer", target: "_blank" },
    "TradingView Lightweight Charts™, © TradingView, Inc.",
  );
