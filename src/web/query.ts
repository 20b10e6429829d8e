// The query builder: a question put together from what the entity takes, its rows, and the request for other tools.
import { addressOf, ask, type Parameters } from "./api.js";
import { troubleOf, type App, type View, fill } from "./app.js";
import type { ParameterKind } from "../catalog/parameters.js";
import { groups, titleOf, tooltipOf, labelOf } from "./catalog.js";
import { field, h } from "./dom.js";
import { noEntity } from "./entity.js";
import { snippetPanel, type Asked } from "./snippets.js";
import { type TextKey, dayText, countText } from "./texts.js";
import type { CatalogEntity, Versions, Envelope, Value } from "./types.js";

/** Reads the parameters that a part of the form stands for. */
type Part = { readonly element: HTMLElement; readonly read: () => Parameters };

const DEFAULT_LIMIT = "100";

export const queryView: View = (app, _path, search) => {
  const { t, entities } = app;
  const wanted = search.get("entity") ?? entities[0]!.name;
  const entity = entities.find(({ name }) => name === wanted);
  if (entity === undefined) return noEntity(app, wanted);
  const given = (name: string): string => search.get(name) ?? "";
  const limit = search.has("limit") || search.size > 1 ? given("limit") : DEFAULT_LIMIT;
  const parts = partsOf(app, entity, (name) => (name === "limit" ? limit : given(name)));
  const { panel, tell } = snippetPanel(app);
  const rows = h("section", { class: "results", "aria-label": t("results") });

  const read = (): Parameters => Object.assign({}, ...parts.map((part) => part.read())) as Parameters;
  const asked = (): Parameters => {
    const parameters = read();
    tell({ entity: entity.name, address: addressOf(`api/v1/entities/${entity.name}`), parameters });
    return parameters;
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const parameters = asked();
    const kept = new URLSearchParams({ entity: entity.name, ...parameters });
    if (parameters["limit"] === undefined) kept.set("limit", "");
    history.replaceState(null, "", `#/query?${kept.toString()}`);
    showRows(app, rows, { entity: entity.name, address: addressOf(`api/v1/entities/${entity.name}`), parameters });
  };
  asked();
  return h(
    "div",
    {},
    h("h1", {}, t("query")),
    h(
      "form",
      { class: "question", "aria-label": t("build"), submit, input: asked, change: asked, novalidate: true },
      field(t("entity"), entitySelect(app, entity)),
      ...parts.map(({ element }) => element),
      h("div", { class: "field" }, h("button", { class: "primary" }, t("run"))),
    ),
    panel,
    rows,
  );
};

function entitySelect(app: App, entity: CatalogEntity): HTMLSelectElement {
  const { t, entities } = app;
  const change = (event: Event): void => {
    location.hash = `#/query?entity=${(event.target as HTMLSelectElement).value}`;
  };
  return h(
    "select",
    { change },
    ...groups.map(([store, key]) =>
      h(
        "optgroup",
        { label: t(key) },
        ...entities
          .filter((one) => one.store === store)
          .map((one) =>
            h("option", { value: one.name, selected: one === entity }, `${one.name} · ${titleOf(app, one)}`),
          ),
      ),
    ),
  );
}

/** The parts that this entity has a use for. `given` are values to begin with. */
function partsOf(app: App, entity: CatalogEntity, given: (name: string) => string): readonly Part[] {
  const { t } = app;
  const day = (name: string, text: TextKey, hint: TextKey | null = null): Part => {
    const value = given(name) === "" ? "" : dayText(dayValue(given(name)));
    return part(name, t(text), h("input", { type: "date", value }), hint === null ? null : t(hint), dayValue);
  };
  const options = (name: string, text: TextKey, values: readonly (readonly [string, string])[]): Part =>
    part(name, t(text), select(values, given(name)), null);
  const number = h("input", { type: "number", min: "1", step: "1", inputmode: "numeric", value: given("limit") });
  const codes = h("input", { type: "text", autocomplete: "off", spellcheck: "false", value: given(entity.code) });
  const ADJUST = [
    ["", t("adjustNone")],
    ["forward", t("adjustForward")],
    ["backward", t("adjustBackward")],
  ] as const;
  const LATEST = [
    ["", t("revisionsAll")],
    ["true", t("revisionsLatest")],
  ] as const;
  const ORDER = [
    ["", t("ascending")],
    ["desc", t("descending")],
  ] as const;
  /** In the order of the form; the page itself sees to what is null. */
  const byKind: Record<ParameterKind, (() => Part) | null> = {
    start_date: () => day("start_date", "start"),
    end_date: () => day("end_date", "end"),
    as_of: () => day("as_of", "asOf", "asOfHint"),
    as_of_days: null,
    as_of_start: null,
    as_of_end: null,
    latest: () => options("latest", "revisions", LATEST),
    adjust: () => options("adjust", "adjustment", ADJUST),
    adjust_volume: null,
    order: () => options("order", "order", ORDER),
    limit: () => part("limit", t("limit"), number, t("limitHint", { n: SHOWN })),
    data_version: () => versionPart(app, given("data_version")),
    fields: () => fieldsPart(app, entity, given("fields")),
    cursor: null,
    format: null,
  };
  const taken: readonly string[] = entity.parameters;
  return [
    part(entity.code, `${t("codes")} (${entity.code})`, codes, t("codesHint"), trimList),
    ...Object.entries(byKind).flatMap(([kind, make]) => (make !== null && taken.includes(kind) ? [make()] : [])),
  ];
}

function select(options: readonly (readonly [value: string, label: string])[], chosen: string): HTMLSelectElement {
  return h("select", {}, ...options.map(([value, label]) => h("option", { value, selected: value === chosen }, label)));
}

/** `2024-01-05` as `20240105`; what is written without dashes stays. */
const dayValue = (text: string): string => text.replaceAll("-", "");

const trimList = (text: string): string =>
  text
    .split(/[\s,，;；]+/)
    .filter((item) => item !== "")
    .join(",");

/** A control under its label; what is left empty is not asked. */
function part(
  name: string,
  label: string,
  control: HTMLInputElement | HTMLSelectElement,
  hint: string | null,
  toValue: (text: string) => string = (text) => text.trim(),
): Part {
  return {
    element: field(label, control, hint),
    read() {
      const value = toValue(control.value);
      return value === "" ? {} : { [name]: value };
    },
  };
}

function versionPart(app: App, given: string): Part {
  const { t } = app;
  const control = select([["", t("current")], ...(given === "" ? [] : [[given, given] as const])], given);
  const made = part("data_version", t("version"), control, null);
  ask<Versions>("api/v1/versions", {}, app.signal)
    .then(({ versions }) =>
      control.append(
        ...versions.filter((version) => version !== given).map((version) => h("option", { value: version }, version)),
      ),
    )
    .catch((error: unknown) => {
      if (!app.signal.aborted) made.element.append(troubleOf(app, error));
    });
  return made;
}

function fieldsPart(app: App, { columns }: CatalogEntity, given: string): Part {
  const { t } = app;
  const chosen = new Set(given === "" ? [] : given.split(","));
  const boxes = columns.map(({ name }) => h("input", { type: "checkbox", value: name, checked: chosen.has(name) }));
  const summary = h("summary", {});
  const read = (): Parameters => {
    const names = boxes.filter(({ checked }) => checked).map(({ value }) => value);
    summary.textContent = `${t("fields")}: ${names.length === 0 ? t("fieldsAll") : names.join(", ")}`;
    return names.length === 0 ? {} : { fields: names.join(",") };
  };
  read();
  const labels = columns.map((column, index) =>
    h("label", { title: tooltipOf(app, column) }, boxes[index]!, ` ${column.name}`),
  );
  return {
    element: h(
      "details",
      { class: "field wide" },
      summary,
      h("fieldset", { class: "boxes" }, h("legend", { class: "quiet" }, t("fields")), ...labels),
    ),
    read,
  };
}

// The rows of a request, a page at a time.

/** Rows that the page shows at a time. */
const SHOWN = 200;

/** Asks for the first page of `asked` and shows it in `place`, with a way to the next one. */
function showRows(app: App, place: HTMLElement, asked: Asked): void {
  const { t } = app;
  const wanted = Number(asked.parameters["limit"] ?? SHOWN);
  const limit = wanted > SHOWN ? String(SHOWN) : (asked.parameters["limit"] ?? String(SHOWN));

  const page = (number: number, cursor: string | null): void => {
    void fill(app, place, async () => {
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
          h("p", { role: "status" }, t("resultCount", { n: countText(count), more, version: data_version, ms })),
          h("span", {}, t("page", { n: number })),
          h("button", { type: "button", disabled: number === 1, click: () => page(1, null) }, t("again")),
          h("button", { type: "button", disabled: next === null, click: () => page(number + 1, next) }, t("next")),
        ),
        count === 0 ? h("p", {}, t("noRows")) : tableOf(app, answer),
      ];
    });
  };
  page(1, null);
}

function tableOf(app: App, { entity, columns, rows }: Envelope): HTMLElement {
  const { t } = app;
  const known = new Map(
    app.entities.find(({ name }) => name === entity)?.columns.map((column) => [column.name, column]),
  );
  const head = ({ name, dtype }: Envelope["columns"][number], index: number): HTMLElement => {
    const column = known.get(name);
    return h(
      "th",
      { scope: "col", class: isNumber[index] ? "number" : null, title: column ? tooltipOf(app, column) : null },
      name,
      h("small", {}, column ? labelOf(app, column, dtype) : dtype),
    );
  };
  const isNumber = columns.map(({ dtype }) => dtype !== "string");
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
