// The rows of a query, a page at a time.
import { ask } from "./api.js";
import { fill, type App } from "./app.js";
import { labelOf, tooltipOf } from "./catalog.js";
import { h, unbroken } from "./dom.js";
import type { Asked } from "./snippets.js";
import { countText } from "./texts.js";
import type { Envelope, Value } from "./types.js";

/** Rows that the page shows at a time. */
const SHOWN = 200;

/** Asks for the first page of `asked` and shows it in `place`, with a way to the next one. `blame` may take a refusal. */
export function showRows(app: App, place: HTMLElement, asked: Asked, blame: (error: unknown) => boolean): void {
  const { t } = app;
  const wanted = asked.parameters["limit"];
  const limit = Number(wanted ?? SHOWN) > SHOWN ? String(SHOWN) : (wanted ?? String(SHOWN));

  const rows = async (number: number, cursor: string | null): Promise<readonly Node[]> => {
    const began = performance.now();
    const parameters = { ...asked.parameters, limit, ...(cursor === null ? {} : { cursor }) };
    const answer = await ask<Envelope>(`api/v1/entities/${asked.entity}`, parameters, app.signal);
    const ms = Math.round(performance.now() - began);
    const { next_cursor: next, count, truncated, data_version } = answer;
    const more = t(truncated ? "truncated" : "whole");
    return [
      h(
        "div",
        { class: "bar flat" },
        h(
          "p",
          { role: "status" },
          ...unbroken(t("resultCount", { n: countText(count), more, version: data_version, ms })),
        ),
        h("span", {}, t("page", { n: number })),
        h("button", { type: "button", disabled: number === 1, click: () => page(1, null) }, t("again")),
        h("button", { type: "button", disabled: next === null, click: () => page(number + 1, next) }, t("next")),
      ),
      count === 0 ? h("p", {}, t("noRows")) : entityTable(app, answer),
    ];
  };
  const page = (number: number, cursor: string | null): void => {
    const work = (): Promise<readonly Node[]> =>
      rows(number, cursor).catch((error: unknown) => {
        if (blame(error)) return [];
        throw error;
      });
    void fill(app, place, work);
  };
  page(1, null);
}

function entityTable(app: App, answer: Envelope): HTMLElement {
  const known = new Map(
    app.entities.find(({ name }) => name === answer.entity)?.columns.map((column) => [column.name, column]),
  );
  return rowTable(app, answer, ({ name, dtype }) => {
    // The only column that no entity has is the day of `as_of`.
    const column = known.get(name);
    return column === undefined
      ? { label: app.t("asOfColumn"), title: null }
      : { label: labelOf(app, column, dtype), title: tooltipOf(app, column) };
  });
}

type Column = Envelope["columns"][number];

/** Rows as a table. `describe` gives what stands below the name of a column, and what is shown on pointing at it. */
export function rowTable(
  { t }: App,
  { columns, rows }: Envelope,
  describe: (column: Column) => { readonly label: string; readonly title: string | null },
): HTMLElement {
  const isNumber = columns.map(({ dtype }) => dtype !== "string");
  const head = (column: Column, index: number): HTMLElement => {
    const { label, title } = describe(column);
    const attributes = { scope: "col", class: isNumber[index] ? "number" : null, title };
    return h("th", attributes, column.name, h("small", {}, label));
  };
  const cell = (value: Value, index: number): HTMLElement => {
    if (value === null) return h("td", { class: "null" }, t("noValue"));
    return h("td", { class: isNumber[index] ? "number" : null }, String(value));
  };
  return h(
    "div",
    { class: "scroll rows", tabindex: "0", role: "region", "aria-label": t("results") },
    h(
      "table",
      {},
      h("caption", { class: "quiet" }, t("results")),
      h("thead", {}, h("tr", {}, ...columns.map(head))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map(cell)))),
    ),
  );
}
