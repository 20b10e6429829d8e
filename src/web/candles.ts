// Candles and volume on a canvas, in the colours of the page, with keys to walk from day to day.
import { h } from "./dom.js";
import { THEME_CHANGED } from "./settings.js";
import {
  CandlestickSeries,
  createChart,
  HistogramSeries,
  type CandlestickData,
  type IChartApi,
} from "./vendor/lightweight-charts.js";

/** One trading day; prices in currency, volume in lots. */
export interface Bar {
  /** `YYYY-MM-DD`. */
  readonly time: string;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}

export interface Candles {
  /** Shows the last `days` days. */
  show(days: number): void;
  remove(): void;
}

const COLOURS = ["text", "line", "up", "down", "up-faint", "down-faint", "ground"] as const;

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

/** Draws `bars` into `place`. `pointed` is told the index of the day that is looked at. */
export function drawCandles(
  place: HTMLElement,
  bars: readonly Bar[],
  locale: string,
  pointed: (index: number) => void,
): Candles {
  const chart: IChartApi = createChart(place, {
    autoSize: true,
    // Its logo is an inline style, which our policy forbids: the page names the makers in its own words.
    layout: { attributionLogo: false, fontFamily: getComputedStyle(place).fontFamily },
    localization: { locale, dateFormat: "yyyy-MM-dd" },
    rightPriceScale: { scaleMargins: { top: 0.08, bottom: 0.26 } },
    timeScale: { rightOffset: 2 },
  });
  const prices = chart.addSeries(CandlestickSeries, { priceLineVisible: false });
  const volumes = chart.addSeries(HistogramSeries, {
    ...{ priceScaleId: "volume", priceFormat: { type: "volume" }, lastValueVisible: false, priceLineVisible: false },
  });
  volumes.priceScale().applyOptions({ scaleMargins: { top: 0.8, bottom: 0 } });
  prices.setData(bars as unknown as CandlestickData[]);
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
      ...{
        upColor: up,
        borderUpColor: up,
        wickUpColor: up,
        downColor: down,
        borderDownColor: down,
        wickDownColor: down,
      },
    });
    volumes.setData(
      bars.map(({ time, volume: value, open, close }) => ({
        ...{ time, value, color: close >= open ? colours["up-faint"] : colours["down-faint"] },
      })),
    );
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
  place.addEventListener("keydown", walk);
  document.addEventListener(THEME_CHANGED, paint);
  paint();

  return {
    show: (days) =>
      chart.timeScale().setVisibleLogicalRange({ from: Math.max(0, bars.length - days), to: bars.length + 1 }),
    remove() {
      document.removeEventListener(THEME_CHANGED, paint);
      chart.remove();
    },
  };
}
