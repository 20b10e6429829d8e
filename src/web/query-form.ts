// The form of a query: a field for each parameter that the entity takes, and what the server says of one beside it.
import type { ParameterKind } from "../catalog/parameters.js";
import { ask, Refusal, type Parameters } from "./api.js";
import { troubleOf, type App } from "./app.js";
import { labelOf, tooltipOf } from "./catalog.js";
import { absolve, accuse, field, h } from "./dom.js";
import type { TextKey } from "./texts.js";
import type { CatalogColumn, CatalogEntity, Versions } from "./types.js";

export interface QueryForm {
  readonly elements: readonly HTMLElement[];
  /** What is filled in. Also hides fields that are of no use with it, and what was said of earlier values. */
  read(): Parameters;
  /** Shows a refusal beside the field that it names, and resolves to whether there is one. */
  blame(error: unknown): boolean;
}

/** A parameter and its field. */
interface Part {
  readonly name: string;
  readonly element: HTMLElement;
  readonly value: () => string;
  /** The field is of no use while this parameter is empty. */
  readonly needs?: ParameterKind;
}

/** `given` are values to begin with. */
export function queryForm(app: App, entity: CatalogEntity, given: (name: string) => string): QueryForm {
  const main = partsOf(app, entity, given);
  const filters = filtersOf(app, entity, given);
  const parts = [...main, ...filters];
  const wide = [
    moreFilters(app, filters),
    ...main.filter(({ name }) => name === "fields").map(({ element }) => element),
  ];
  const narrow = main.filter(({ name }) => name !== "fields").map(({ element }) => element);
  return {
    elements: [...narrow, ...wide.filter((element) => element !== null)],
    read() {
      const filled = parts.map(({ name, value }) => [name, value()] as const).filter(([, value]) => value !== "");
      const parameters = Object.fromEntries(filled);
      for (const { element, name, needs } of main) {
        if (needs !== undefined) element.hidden = !(needs in parameters) && !(name in parameters);
      }
      for (const { element } of parts) absolve(element);
      return parameters;
    },
    blame(error) {
      const part = error instanceof Refusal ? parts.find(({ name }) => name === error.problem.parameter) : undefined;
      if (part === undefined) return false;
      accuse(part.element, troubleOf(app, error));
      return true;
    },
  };
}

function partsOf(app: App, entity: CatalogEntity, given: (name: string) => string): readonly Part[] {
  const { t } = app;
  const text = (name: string, key: TextKey, hint: TextKey | null = null, placeholder = ""): Part =>
    textPart(name, t(key), given(name), hint && t(hint), placeholder);
  const day = (name: ParameterKind, key: TextKey, hint: TextKey | null = null): Part => text(name, key, hint, DAY);
  const options = (name: string, key: TextKey, values: readonly (readonly [string, TextKey])[]): Part => {
    const labels = values.map(([value, label]) => [value, t(label)] as const);
    return selectPart(name, t(key), select(labels, given(name)));
  };
  /** In the order of the form. The page asks for pages and formats by itself. */
  const byKind: Record<ParameterKind, (() => Part) | null> = {
    start_date: () => day("start_date", "start"),
    end_date: () => day("end_date", "end"),
    as_of: () => day("as_of", "asOf", "asOfHint"),
    as_of_days: () => options("as_of_days", "asOfDays", AS_OF_DAYS),
    as_of_start: () => ({ ...day("as_of_start", "asOfStart", "asOfRangeHint"), needs: "as_of_days" }),
    as_of_end: () => ({ ...day("as_of_end", "asOfEnd", "asOfRangeHint"), needs: "as_of_days" }),
    latest: () => options("latest", "revisions", LATEST),
    adjust: () => options("adjust", "adjustment", ADJUST),
    adjust_volume: () => ({ ...options("adjust_volume", "adjustVolume", ADJUST_VOLUME), needs: "adjust" }),
    order: () => options("order", "order", ORDER),
    limit: () => text("limit", "limit", "limitHint"),
    data_version: () => versionPart(app, given("data_version")),
    fields: () => fieldsPart(app, entity, given("fields")),
    cursor: null,
    format: null,
    dates: null,
    compression: null,
    bom: null,
  };
  const taken: readonly string[] = entity.parameters;
  return [
    textPart(
      entity.code,
      t("labelNamed", { label: t("codes"), name: entity.code }),
      given(entity.code),
      t("codesHint"),
    ),
    ...Object.entries(byKind).flatMap(([kind, make]) => (make !== null && taken.includes(kind) ? [make()] : [])),
  ];
}

/** How the API writes days. */
const DAY = "YYYYMMDD";

type Options = readonly (readonly [string, TextKey])[];
const AS_OF_DAYS: Options = [
  ["", "asOfDaysNone"],
  ["month_end", "asOfMonthEnd"],
  ["week_end", "asOfWeekEnd"],
];
const LATEST: Options = [
  ["", "revisionsAll"],
  ["true", "revisionsLatest"],
];
const ADJUST: Options = [
  ["", "adjustNone"],
  ["forward", "adjustForward"],
  ["backward", "adjustBackward"],
];
const ADJUST_VOLUME: Options = [
  ["", "volumeTraded"],
  ["true", "volumeAdjusted"],
];
const ORDER: Options = [
  ["", "ascending"],
  ["desc", "descending"],
];

/** A filter on each other column that has one. */
function filtersOf(
  app: App,
  { columns, code, filters }: CatalogEntity,
  given: (name: string) => string,
): readonly Part[] {
  return filters
    .filter(({ name }) => name !== code)
    .map(({ name, column: of }) => {
      const column = columns.find((one) => one.name === of)!;
      const label = app.language === "en" ? name : app.t("labelNamed", { label: labelOf(app, column, ""), name });
      const part = textPart(name, label, given(name), null, column.type === "date" ? DAY : "", listOf(column));
      part.element.title = tooltipOf(app, column);
      return part;
    });
}

function moreFilters({ t }: App, filters: readonly Part[]): HTMLElement | null {
  if (filters.length === 0) return null;
  return h(
    "details",
    { class: "field wide", open: filters.some(({ value }) => value() !== "") },
    h("summary", {}, t("filters")),
    h("p", { class: "note" }, t("filtersHint")),
    h("div", { class: "filters" }, ...filters.map(({ element }) => element)),
  );
}

function select(options: readonly (readonly [value: string, label: string])[], chosen: string): HTMLSelectElement {
  return h("select", {}, ...options.map(([value, label]) => h("option", { value, selected: value === chosen }, label)));
}

/** Values separated by commas or spaces, also Chinese ones. */
const trimList = (text: string): string =>
  text
    .split(/[\s,，;；]+/)
    .filter((item) => item !== "")
    .join(",");

/** Text may itself hold spaces and Chinese commas. */
const listOf = ({ type }: CatalogColumn): ((text: string) => string) =>
  type === "text" ? (text) => text.trim() : trimList;

function textPart(
  name: string,
  label: string,
  value: string,
  hint: string | null,
  placeholder = "",
  toValue: (text: string) => string = trimList,
): Part {
  const input = h("input", { type: "text", autocomplete: "off", spellcheck: "false", value, placeholder });
  return { name, element: field(label, input, hint), value: () => toValue(input.value) };
}

const selectPart = (name: string, label: string, control: HTMLSelectElement): Part => ({
  name,
  element: field(label, control),
  value: () => control.value,
});

function versionPart(app: App, given: string): Part {
  const { t } = app;
  const control = select([["", t("current")], ...(given === "" ? [] : [[given, given] as const])], given);
  const part = selectPart("data_version", t("version"), control);
  ask<Versions>("api/v1/versions", {}, app.signal)
    .then(({ versions }) =>
      control.append(
        ...versions.filter((version) => version !== given).map((version) => h("option", { value: version }, version)),
      ),
    )
    .catch((error: unknown) => {
      if (!app.signal.aborted) part.element.append(h("div", {}, troubleOf(app, error)));
    });
  return part;
}

function fieldsPart(app: App, { columns }: CatalogEntity, given: string): Part {
  const { t } = app;
  const chosen = new Set(given === "" ? [] : given.split(","));
  const boxes = columns.map(({ name }) => h("input", { type: "checkbox", value: name, checked: chosen.has(name) }));
  const summary = h("summary", {});
  const value = (): string => {
    const names = boxes.filter(({ checked }) => checked).map((box) => box.value);
    summary.textContent = t("fieldsChosen", { names: names.length === 0 ? t("fieldsAll") : names.join(", ") });
    return names.join(",");
  };
  const labels = columns.map((column, index) =>
    h("label", { title: tooltipOf(app, column) }, boxes[index]!, ` ${column.name}`),
  );
  const boxSet = h("fieldset", { class: "boxes" }, h("legend", { class: "quiet" }, t("fields")), ...labels);
  return { name: "fields", element: h("details", { class: "field wide" }, summary, boxSet), value };
}
