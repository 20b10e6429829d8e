// The daily chart of a stock: chosen by code or name, adjusted or not, with its figures in words.
import { ask } from "./api.js";
import { fill, type App, type View } from "./app.js";
import { drawCandles, type Bar, type Candles } from "./candles.js";
import { choice, h, field, quietStatus } from "./dom.js";
import { type TextKey, countText, dayText } from "./texts.js";
import type { Envelope, Value } from "./types.js";

type Adjustment = "none" | "forward" | "backward";

const ADJUSTMENTS = {
  none: "adjustNone",
  forward: "adjustForward",
  backward: "adjustBackward",
} as const satisfies Record<Adjustment, TextKey>;

const SAID = {
  none: "notAdjusted",
  forward: "adjustedForward",
  backward: "adjustedBackward",
} as const satisfies Record<Adjustment, TextKey>;

/** Trading days. */
const RANGES = { "250": "year1", "750": "year3", "100000": "everything" } as const satisfies Record<string, TextKey>;

const FIELDS = "trade_date,open,high,low,close,vol";

export const chartView: View = (app, path) => {
  const { t } = app;
  const figure = h("div", { class: "chart" });
  let adjustment: Adjustment = "none";
  let range: keyof typeof RANGES = "250";
  let code = path;
  let candles: Candles | undefined;

  const draw = async (): Promise<void> => {
    candles?.remove();
    candles = undefined;
    if (code === "") return;
    let begin = (): void => undefined;
    const work = async (): Promise<readonly Node[]> => {
      const bars = await barsOf(app, code, adjustment);
      if (bars.length === 0) return [h("p", {}, t("chartEmpty", { code }))];
      const canvas = h("div", {
        ...{ class: "canvas", tabindex: "0", role: "application", "aria-describedby": "chart-summary" },
        "aria-label": t("chartKeys"),
      });
      const legend = h("p", { class: "reading", role: "status" });
      const point = (index: number): void => legend.replaceChildren(...figuresOf(app, bars, index));
      point(bars.length - 1);
      begin = () => {
        candles = drawCandles(canvas, bars, app.language === "en" ? "en-GB" : "zh-CN", point);
        candles.show(Number(range));
      };
      return [
        h("p", { id: "chart-summary", class: "note" }, summaryOf(app, code, adjustment, bars)),
        legend,
        canvas,
        h("p", { class: "note" }, `${t("chartKeys")} ${t("charts")} `, makers()),
      ];
    };
    // Only what is in the page has a size to draw into.
    if (await fill(app, figure, work)) begin();
  };
  app.signal.addEventListener("abort", () => candles?.remove());

  const options = <T extends string>(texts: Readonly<Record<T, TextKey>>): (readonly [T, string])[] =>
    (Object.entries(texts) as [T, TextKey][]).map(([value, key]) => [value, t(key)]);
  void draw();
  return h(
    "div",
    { class: app.language === "zh" ? "red-rises" : null },
    h("h1", {}, t("chart")),
    h(
      "div",
      { class: "bar" },
      stockPicker(app, path, (chosen) => {
        code = chosen;
        history.replaceState(null, "", `#/chart/${encodeURIComponent(chosen)}`);
        void draw();
      }),
      choice(t("adjustment"), options(ADJUSTMENTS), adjustment, (chosen) => {
        adjustment = chosen;
        void draw();
      }),
      choice(t("range"), options(RANGES), range, (chosen) => {
        range = chosen;
        candles?.show(Number(chosen));
      }),
    ),
    figure,
  );
};

/** The whole series, oldest first. Days without all four prices are left out. */
async function barsOf({ signal }: App, ts_code: string, adjustment: Adjustment): Promise<readonly Bar[]> {
  const adjust = adjustment === "none" ? {} : { adjust: adjustment };
  const { rows } = await ask<Envelope>("api/v1/entities/daily", { ts_code, fields: FIELDS, ...adjust }, signal);
  return rows.flatMap(([day, ...values]) => {
    const [open, high, low, close, volume] = values as (number | null)[];
    if (typeof day !== "string" || !areNumbers([open, high, low, close])) return [];
    return [{ time: dayText(day), open, high, low, close, volume: volume ?? 0 } as Bar];
  });
}

const areNumbers = (values: readonly (Value | undefined)[]): boolean =>
  values.every((value) => typeof value === "number");

function summaryOf({ t }: App, code: string, adjustment: Adjustment, bars: readonly Bar[]): string {
  const lowest = bars.reduce((low, bar) => Math.min(low, bar.low), Infinity);
  const highest = bars.reduce((high, bar) => Math.max(high, bar.high), -Infinity);
  return t("chartSummary", {
    ...{ code, adjust: t(SAID[adjustment]), n: bars.length, first: bars[0]!.time, last: bars.at(-1)!.time },
    ...{ close: priceText(bars.at(-1)!.close), low: priceText(lowest), high: priceText(highest) },
  });
}

const priceText = (price: number): string =>
  price.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 3 });

/** A day in words, e.g. `2024-01-05  Open 9.10 …`. */
function figuresOf({ t }: App, bars: readonly Bar[], index: number): Node[] {
  const bar = bars[index]!;
  const before = bars[index - 1];
  const figures: (readonly [TextKey, string])[] = [
    ["open", priceText(bar.open)],
    ["high", priceText(bar.high)],
    ["low", priceText(bar.low)],
    ["close", priceText(bar.close)],
    ["volume", countText(Math.round(bar.volume))],
  ];
  const change = before ? (bar.close / before.close - 1) * 100 : null;
  const sign = change !== null && change > 0 ? "+" : "";
  if (change !== null) figures.push(["change", `${sign}${change.toFixed(2)}%`]);
  return [
    h("strong", {}, bar.time),
    ...figures.map(([key, value]) => {
      const kind = key !== "change" ? null : value.startsWith("-") ? "down" : value.startsWith("+") ? "up" : null;
      return h("span", {}, `${t(key)} `, h("b", { class: kind }, value));
    }),
  ];
}

/** Who made the charts, as their licence asks. */
const makers = (): HTMLElement =>
  h(
    "a",
    { href: "https://www.tradingview.com/", rel: "noreferrer", target: "_blank" },
    "TradingView Lightweight Charts™, © TradingView, Inc.",
  );

// Choosing a stock by a part of its code or name, with the mouse or the keys.

/** Stocks that are offered at a time. */
const OFFERED = 30;

interface Stock {
  readonly code: string;
  readonly name: string;
}

/** `chosen` gets the selected code or, without a list of stocks, the one that was typed. */
function stockPicker(app: App, code: string, chosen: (code: string) => void): HTMLElement {
  const { t } = app;
  let stocks: readonly Stock[] = [];
  let offered: readonly Stock[] = [];
  let active = -1;
  const list = h("ul", { id: "stocks", role: "listbox", "aria-label": t("stock"), hidden: true });
  const status = quietStatus();
  const input = h("input", {
    ...{ type: "text", role: "combobox", autocomplete: "off", spellcheck: "false", value: code },
    ...{ "aria-controls": "stocks", "aria-expanded": "false", "aria-autocomplete": "list" },
    input: () => offer(),
    click: () => offer(),
    keydown: (event) => press(event as KeyboardEvent),
    blur: () => close(),
  });

  void ask<Envelope>("api/v1/entities/stock_list", { fields: "ts_code,name" }, app.signal)
    .then(({ rows }) => {
      stocks = rows.map(([stock, name]) => ({ code: String(stock), name: String(name ?? "") }));
      if (document.activeElement === input && input.value !== code) offer();
    })
    // Without the list a whole code can still be typed.
    .catch(() => undefined);

  const offer = (): void => {
    const word = input.value.trim().toLowerCase();
    const fits = ({ code: stock, name }: Stock): boolean =>
      stock.toLowerCase().startsWith(word) || name.toLowerCase().includes(word);
    const all = stocks.filter(fits);
    offered = all.slice(0, OFFERED);
    active = -1;
    list.replaceChildren(...offered.map(optionOf));
    status.textContent = t("stocksFound", { n: all.length });
    open(offered.length > 0);
  };

  const optionOf = ({ code: stock, name }: Stock, index: number): HTMLElement =>
    h(
      "li",
      { id: `stock-${index}`, role: "option", "aria-selected": "false", pointerdown: () => settle(stock) },
      h("code", {}, stock),
      " ",
      name,
    );

  const open = (isOpen: boolean): void => {
    list.hidden = !isOpen;
    input.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) input.removeAttribute("aria-activedescendant");
  };
  const close = (): void => open(false);

  const settle = (stock: string): void => {
    input.value = stock;
    close();
    chosen(stock);
  };

  const move = (step: number): void => {
    if (list.hidden) offer();
    if (offered.length === 0) return;
    active = (active + step + offered.length) % offered.length;
    for (const [index, option] of [...list.children].entries()) {
      option.setAttribute("aria-selected", String(index === active));
      if (index === active) option.scrollIntoView({ block: "nearest" });
    }
    input.setAttribute("aria-activedescendant", `stock-${active}`);
  };

  const press = (event: KeyboardEvent): void => {
    const act: (() => void) | undefined = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(active < 0 ? 0 : -1),
      Escape: close,
      Enter: () => settle((offered[active] ?? offered[0])?.code ?? input.value.trim()),
    }[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };

  return h("div", { class: "picker" }, field(t("stock"), input, t("stockHint")), list, status);
}
