// Candles, volume and averages on a canvas.
import { AVERAGES, averageOf, type Bar } from "./bars.js";
import { dress, openFrame, walk } from "./chart-frame.js";
import { COLOURS_CHANGED } from "./settings.js";
import {
  CandlestickSeries,
  createSeriesMarkers,
  HistogramSeries,
  LineSeries,
  PriceScaleMode,
  type CandlestickData,
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

/** Draws `bars` into `place`. `exMark` stands below days on which prices were adjusted. */
export function drawCandles(
  place: HTMLElement,
  bars: readonly Bar[],
  { locale, exMark }: { readonly locale: string; readonly exMark: string },
  { pointed, seen }: Watcher,
): Candles {
  const chart = openFrame(place, locale);
  chart.applyOptions({ rightPriceScale: { scaleMargins: { top: 0.08, bottom: 0.26 } } });
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

  const paint = (): void => {
    const colours = dress(chart, place);
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

  walk(
    place,
    chart,
    bars.map(({ time }) => time),
    {
      show: (index) => chart.setCrosshairPosition(bars[index]!.close, bars[index]!.time, prices),
      pointed,
    },
  );
  chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
    if (range === null) return;
    const inside = (index: number): number => Math.min(Math.max(Math.round(index), 0), bars.length - 1);
    seen(inside(range.from), inside(range.to));
  });
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
