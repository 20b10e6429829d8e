// Choosing a stock by a part of its code or name, with the mouse or the keys.
import { ask } from "./api.js";
import type { App } from "./app.js";
import { field, h, quietStatus } from "./dom.js";
import type { Envelope } from "./types.js";

/** Stocks that are offered at a time. */
const OFFERED = 30;

interface Stock {
  readonly code: string;
  readonly name: string;
}

/** `chosen` is told the code that the user has settled on; without a list of stocks, the one that was typed. */
export function stockPicker(app: App, code: string, chosen: (code: string) => void): HTMLElement {
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
