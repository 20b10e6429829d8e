// The chart of a stock or an index: what is drawn, how much of it is on screen, and its figures in words.
import { fill, type View } from "./app.js";
import { seriesOf, type Adjustment, type Period } from "./bars.js";
import { drawCandles, type Candles, type Look } from "./candles.js";
import { figuresOf, makers, summaryOf } from "./chart-words.js";
import { choice, h, unbroken } from "./dom.js";
import { instrumentPicker, instrumentsOf } from "./picker.js";
import { applyRise, settings, type Rise } from "./settings.js";
import { spanPicker } from "./span-picker.js";
import type { TextKey } from "./texts.js";

const ADJUSTMENTS = {
  none: "adjustNone",
  forward: "adjustForward",
  backward: "adjustBackward",
} as const satisfies Record<Adjustment, TextKey>;

const PERIODS = { day: "periodDay", week: "periodWeek", month: "periodMonth" } as const satisfies Record<
  Period,
  TextKey
>;
const RISES = { red: "riseRed", green: "riseGreen" } as const satisfies Record<Rise, TextKey>;

export const chartView: View = (app, path) => {
  const { t } = app;
  const figure = h("div", { class: "chart" });
  const instruments = instrumentsOf(app);
  let code = path;
  let adjustment: Adjustment = "none";
  let period: Period = "day";
  let look: Look = { isLog: false, hasAverages: true };
  let candles: Candles | undefined;
  /** Puts the bar that is looked at into words. */
  let read = (): void => undefined;
  const span = spanPicker(app);

  const draw = async (): Promise<void> => {
    candles?.remove();
    candles = undefined;
    if (code === "") return;
    let begin = (): void => undefined;
    const work = async (): Promise<readonly Node[]> => {
      const [series, { nameOf }] = await Promise.all([seriesOf(app, code, adjustment, period), instruments]);
      const { bars } = series;
      if (bars.length === 0) return [h("p", {}, t("chartEmpty", { code }))];
      const canvas = h("div", {
        ...{ class: "canvas", tabindex: "0", role: "application", "aria-describedby": "chart-summary" },
        "aria-label": t("chartKeys"),
      });
      const summary = h("p", { id: "chart-summary", class: "note" });
      const legend = h("p", { class: "reading", role: "status" });
      let at = bars.length - 1;
      read = () => legend.replaceChildren(...figuresOf(app, series, at, look.hasAverages));
      const pointed = (index: number): void => {
        at = index;
        read();
      };
      const seen = (first: number, last: number): void =>
        summary.replaceChildren(
          ...unbroken(summaryOf(app, `${nameOf(code)} ${code}`.trim(), series, period, bars.slice(first, last + 1))),
        );
      begin = () => {
        read();
        const words = { locale: app.language === "en" ? "en-GB" : "zh-CN", exMark: t("exMark") };
        candles = drawCandles(canvas, bars, words, { pointed, seen });
        candles.look(look);
        span.use(bars, candles);
      };
      return [summary, legend, canvas, h("p", { class: "note" }, `${t("chartKeys")} ${t("charts")} `, makers())];
    };
    // Only what is in the page has a size to draw into.
    if (await fill(app, figure, work)) begin();
  };
  app.signal.addEventListener("abort", () => candles?.remove());

  const turn = (change: Partial<Look>): void => {
    look = { ...look, ...change };
    candles?.look(look);
    read();
  };
  const options = <T extends string>(texts: Readonly<Record<T, TextKey>>): (readonly [T, string])[] =>
    (Object.entries(texts) as [T, TextKey][]).map(([value, key]) => [value, t(key)]);
  const view = h(
    "div",
    { "data-rise": settings.rise(app.language) },
    h("h1", {}, t("chart")),
    h(
      "div",
      { class: "bar" },
      instrumentPicker(app, instruments, path, (chosen) => {
        code = chosen;
        history.replaceState(null, "", `#/chart/${encodeURIComponent(chosen)}`);
        void draw();
      }),
      choice(t("period"), options(PERIODS), period, (chosen) => {
        period = chosen;
        void draw();
      }),
      choice(t("adjustment"), options(ADJUSTMENTS), adjustment, (chosen) => {
        adjustment = chosen;
        void draw();
      }),
      ...span.elements,
      choice(t("rise"), options(RISES), settings.rise(app.language), (chosen) => applyRise(view, chosen)),
      h(
        "div",
        { class: "ticks" },
        tick(t("averages"), look.hasAverages, (hasAverages) => turn({ hasAverages })),
        tick(t("logScale"), look.isLog, (isLog) => turn({ isLog })),
      ),
    ),
    figure,
  );
  void draw();
  return view;
};

const tick = (label: string, checked: boolean, changed: (checked: boolean) => void): HTMLElement => {
  const box = h("input", { type: "checkbox", checked, change: () => changed(box.checked) });
  return h("label", {}, box, ` ${label}`);
};
