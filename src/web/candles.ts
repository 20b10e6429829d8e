// Candles, volume and averages on a canvas, in the colours of the page, with keys to walk from bar to bar.
import { AVERAGES, averageOf, type Bar } from "./bars.js";
import { h } from "./dom.js";
import { COLOURS_CHANGED } from "./settings.js";
import {
  CandlestickSeries,
  createChart,
  createSeriesMarkers,
  HistogramSeries,
  LineSeries,
  PriceScaleMode,
  type CandlestickData,
  type IChartApi,
} from "./vendor/lightweight-charts.js";

/** What can be switched without other bars. */
export interface Look {
  readonly isLog: boolean;
  readonly hasAverages: boolean;
}

export interface Candles {
  /** Shows the bars with these indexes. */
  show(first: number, last: number): void;
  look(look: Look): void;
  remove(): void;
}

/** Called with the index of the bar under the pointer, and with the first and last bar on screen. */
interface Watcher {
  readonly pointed: (index: number) => void;
  readonly seen: (first: number, last: number) => void;
}

const COLOURS = [
  ...(["text", "line", "up", "down", "up-faint", "down-faint", "ground"] as const),
  ...(["average-5", "average-20", "average-60"] as const),
] as const;

/** What the style sheet makes of the names of our colours in this light. */
function coloursOf(place: HTMLElement): Readonly<Record<(typeof COLOURS)[number], string>> {
  const probe = h("span", {});
  place.append(probe);
  const colours = COLOURS.map((name) => {
    probe.className = `colour-${name}`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(colours) as Record<(typeof COLOURS)[number], string>;
}

/** Draws `bars` into `place`. `exMark` stands below days on which prices were adjusted. */
export function drawCandles(
  place: HTMLElement,
  bars: readonly Bar[],
  { locale, exMark }: { readonly locale: string; readonly exMark: string },
  { pointed, seen }: Watcher,
): Candles {
  const chart: IChartApi = createChart(place, {
    autoSize: true,
    // Its logo is an inline style, which our policy forbids: the page names the makers in its own words.
    layout: { attributionLogo: false, fontFamily: getComputedStyle(place).fontFamily },
    localization: { locale, dateFormat: "yyyy-MM-dd" },
    rightPriceScale: { scaleMargins: { top: 0.08, bottom: 0.26 } },
    timeScale: { rightOffset: 2, minBarSpacing: 0.05, lockVisibleTimeRangeOnResize: true },
  });
  const quiet = { lastValueVisible: false, priceLineVisible: false };
  const prices = chart.addSeries(CandlestickSeries, { priceLineVisible: false });
  const volumes = chart.addSeries(HistogramSeries, {
    ...{ priceScaleId: "volume", priceFormat: { type: "volume" }, ...quiet },
  });
  volumes.priceScale().applyOptions({ scaleMargins: { top: 0.8, bottom: 0 } });
  prices.setData(bars as unknown as CandlestickData[]);
  const averages = AVERAGES.map((n) => {
    const line = chart.addSeries(LineSeries, { ...quiet, lineWidth: 1, crosshairMarkerVisible: false });
    const values = averageOf(bars, n).map((value, index) => [bars[index]!.time, value] as const);
    line.setData(values.flatMap(([time, value]) => (value === null ? [] : [{ time, value }])));
    return [n, line] as const;
  });
  const marks = createSeriesMarkers(prices);
  const indexes = new Map(bars.map(({ time }, index) => [time, index]));

  const paint = (): void => {
    const colours = coloursOf(place);
    chart.applyOptions({
      layout: { background: { color: colours.ground }, textColor: colours.text },
      grid: { vertLines: { color: colours.line }, horzLines: { color: colours.line } },
      timeScale: { borderColor: colours.line },
      rightPriceScale: { borderColor: colours.line },
    });
    const [up, down] = [colours.up, colours.down];
    prices.applyOptions({
      ...{ upColor: up, borderUpColor: up, wickUpColor: up },
      ...{ downColor: down, borderDownColor: down, wickDownColor: down },
    });
    volumes.setData(
      bars.map(({ time, volume: value, open, close }) => ({
        ...{ time, value, color: close >= open ? colours["up-faint"] : colours["down-faint"] },
      })),
    );
    for (const [n, line] of averages) line.applyOptions({ color: colours[`average-${n}`] });
    const shape = { position: "belowBar", shape: "arrowUp", color: colours.text, text: exMark } as const;
    marks.setMarkers(bars.filter(({ isEx }) => isEx).map(({ time }) => ({ time, ...shape })));
  };

  let at = bars.length - 1;
  const walk = (event: KeyboardEvent): void => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: bars.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    at = Math.min(Math.max(to, 0), bars.length - 1);
    const bar = bars[at]!;
    chart.setCrosshairPosition(bar.close, bar.time, prices);
    const range = chart.timeScale().getVisibleLogicalRange();
    if (range && (at < range.from || at > range.to)) {
      const width = range.to - range.from;
      chart.timeScale().setVisibleLogicalRange({ from: at - width / 2, to: at + width / 2 });
    }
    pointed(at);
  };
  chart.subscribeCrosshairMove(({ time }) => {
    const index = typeof time === "string" ? indexes.get(time) : undefined;
    if (index === undefined) return;
    at = index;
    pointed(index);
  });
  chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
    if (range === null) return;
    const inside = (index: number): number => Math.min(Math.max(Math.round(index), 0), bars.length - 1);
    seen(inside(range.from), inside(range.to));
  });
  place.addEventListener("keydown", walk);
  document.addEventListener(COLOURS_CHANGED, paint);
  paint();

  return {
    // Room for the last bar of all.
    show: (first, last) =>
      chart.timeScale().setVisibleLogicalRange({ from: first, to: last === bars.length - 1 ? last + 1 : last }),
    look({ isLog, hasAverages }) {
      prices.priceScale().applyOptions({ mode: isLog ? PriceScaleMode.Logarithmic : PriceScaleMode.Normal });
      for (const [, line] of averages) line.applyOptions({ visible: hasAverages });
    },
    remove() {
      document.removeEventListener(COLOURS_CHANGED, paint);
      chart.remove();
    },
  };
}
