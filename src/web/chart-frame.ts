// What all charts share: a frame in the colours of the page, and keys to walk from day to day.
import { h } from "./dom.js";
import { createChart, type IChartApi } from "./vendor/lightweight-charts.js";

const COLOURS = [
  ...(["text", "line", "up", "down", "up-faint", "down-faint", "ground"] as const),
  ...(["average-5", "average-20", "average-60"] as const),
] as const;

export type Colour = (typeof COLOURS)[number];

/** What the style sheet makes of the names of our colours in this light. */
function coloursOf(place: HTMLElement): Readonly<Record<Colour, string>> {
  const probe = h("span", {});
  place.append(probe);
  const colours = COLOURS.map((name) => {
    probe.className = `colour-${name}`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(colours) as Record<Colour, string>;
}

/** An empty chart that fills `place`. */
export const openFrame = (place: HTMLElement, locale: string): IChartApi =>
  createChart(place, {
    autoSize: true,
    // Its logo is an inline style, which our policy forbids: the page names the makers in its own words.
    layout: { attributionLogo: false, fontFamily: getComputedStyle(place).fontFamily },
    localization: { locale, dateFormat: "yyyy-MM-dd" },
    timeScale: { rightOffset: 2, minBarSpacing: 0.05, lockVisibleTimeRangeOnResize: true },
  });

/** Gives a chart the colours of the page, and returns them. */
export function dress(chart: IChartApi, place: HTMLElement): Readonly<Record<Colour, string>> {
  const colours = coloursOf(place);
  chart.applyOptions({
    layout: { background: { color: colours.ground }, textColor: colours.text },
    grid: { vertLines: { color: colours.line }, horzLines: { color: colours.line } },
    timeScale: { borderColor: colours.line },
    rightPriceScale: { borderColor: colours.line },
  });
  return colours;
}

interface Walker {
  /** Shows the day with this index. */
  readonly show: (index: number) => void;
  /** Called with the index of the day that is looked at. */
  readonly pointed: (index: number) => void;
}

/** Follows the pointer and the arrow keys along `times`, beginning with the last one. */
export function walk(place: HTMLElement, chart: IChartApi, times: readonly string[], { show, pointed }: Walker): void {
  const indexes = new Map(times.map((time, index) => [time, index]));
  let at = times.length - 1;
  place.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: times.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    at = Math.min(Math.max(to, 0), times.length - 1);
    show(at);
    const range = chart.timeScale().getVisibleLogicalRange();
    if (range && (at < range.from || at > range.to)) {
      const width = range.to - range.from;
      chart.timeScale().setVisibleLogicalRange({ from: at - width / 2, to: at + width / 2 });
    }
    pointed(at);
  });
  chart.subscribeCrosshairMove(({ time }) => {
    const index = typeof time === "string" ? indexes.get(time) : undefined;
    if (index === undefined) return;
    at = index;
    pointed(index);
  });
}
