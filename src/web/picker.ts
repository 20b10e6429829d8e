// Choosing a stock or an index by a part of its code or name, with the mouse or the keys.
import { ask } from "./api.js";
import type { App } from "./app.js";
import { field, h, quietStatus } from "./dom.js";
import type { Envelope } from "./types.js";

/** How many are offered at a time. */
const OFFERED = 30;

interface Instrument {
  readonly code: string;
  readonly name: string;
}

interface Instruments {
  readonly all: readonly Instrument[];
  /** Empty for a code that no list has. */
  readonly nameOf: (code: string) => string;
}

/** Stocks, as last listed, and indices. What the token does not cover is left out: a whole code can still be typed. */
export async function instrumentsOf(app: App): Promise<Instruments> {
  const lists = await Promise.all(["stock_list", "index_basic"].map((name) => listed(app, name).catch(() => [])));
  const names = new Map(lists.flat().map(({ code, name }) => [code, name]));
  return { all: [...names].map(([code, name]) => ({ code, name })), nameOf: (code) => names.get(code) ?? "" };
}

async function listed({ entities, meta, signal }: App, name: string): Promise<readonly Instrument[]> {
  const coverage = meta.entities[name];
  if (!coverage?.available) return [];
  const isDated = entities.find((entity) => entity.name === name)?.parameters.includes("as_of");
  const latest = isDated && coverage.data_end !== undefined ? { as_of: coverage.data_end } : {};
  const { rows } = await ask<Envelope>(`api/v1/entities/${name}`, { fields: "ts_code,name", ...latest }, signal);
  return rows.map(([code, title]) => ({ code: String(code), name: String(title ?? "") }));
}

/** `chosen` gets the selected code or, without a list, the one that was typed. */
export function instrumentPicker(
  { t }: App,
  known: Promise<Instruments>,
  code: string,
  chosen: (code: string) => void,
): HTMLElement {
  let all: readonly Instrument[] = [];
  let offered: readonly Instrument[] = [];
  let active = -1;
  const list = h("ul", { id: "instruments", role: "listbox", "aria-label": t("instrument"), hidden: true });
  const status = quietStatus();
  const input = h("input", {
    ...{ type: "text", role: "combobox", autocomplete: "off", spellcheck: "false", value: code },
    ...{ "aria-controls": "instruments", "aria-expanded": "false", "aria-autocomplete": "list" },
    input: () => offer(),
    click: () => offer(),
    keydown: (event) => press(event as KeyboardEvent),
    blur: () => close(),
  });

  void known.then((instruments) => {
    all = instruments.all;
    if (document.activeElement === input && input.value !== code) offer();
  });

  const offer = (): void => {
    const word = input.value.trim().toLowerCase();
    const fitting = all.filter(
      (one) => one.code.toLowerCase().startsWith(word) || one.name.toLowerCase().includes(word),
    );
    offered = fitting.slice(0, OFFERED);
    active = -1;
    list.replaceChildren(...offered.map(optionOf));
    status.textContent = t("instrumentsFound", { n: fitting.length });
    open(offered.length > 0);
  };

  const optionOf = ({ code: option, name }: Instrument, index: number): HTMLElement =>
    h(
      "li",
      { id: `option-${index}`, role: "option", "aria-selected": "false", pointerdown: () => settle(option) },
      h("code", {}, option),
      " ",
      name,
    );

  const open = (isOpen: boolean): void => {
    list.hidden = !isOpen;
    input.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) input.removeAttribute("aria-activedescendant");
  };
  const close = (): void => open(false);

  const settle = (wanted: string): void => {
    input.value = wanted;
    close();
    chosen(wanted);
  };

  const move = (step: number): void => {
    if (list.hidden) offer();
    if (offered.length === 0) return;
    active = (active + step + offered.length) % offered.length;
    for (const [index, option] of [...list.children].entries()) {
      option.setAttribute("aria-selected", String(index === active));
      if (index === active) option.scrollIntoView({ block: "nearest" });
    }
    input.setAttribute("aria-activedescendant", `option-${active}`);
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

  return h("div", { class: "picker" }, field(t("instrument"), input, t("instrumentHint")), list, status);
}
