// The catalog: entities by group with what they cover, and a search.
import type { Store } from "../catalog/types.js";
import type { View, App } from "./app.js";
import { field, h } from "./dom.js";
import { type TextKey, countText, dayText, stateOf, type Language } from "./texts.js";
import type { CatalogEntity, Coverage, CatalogColumn } from "./types.js";

const GROUPS = {
  market: "market",
  auction: "auction",
  index: "index",
  reference: "referenceStore",
  reports: "reports",
  finance: "finance",
} as const satisfies Record<Exclude<Store, "state">, TextKey>;

export const groups = Object.entries(GROUPS);

export const catalogView: View = (app) => {
  const { t, language, entities, meta } = app;
  const covered = Object.values(meta.entities);
  const rows = covered.reduce((sum, { rows: count }) => sum + (count ?? 0), 0);
  const list = h("div", { class: "groups" });
  const status = h("p", { role: "status", class: "note" });
  const search = h("input", { type: "search", autocomplete: "off", input: () => draw() });

  const rowOf = (entity: CatalogEntity): HTMLElement => {
    const coverage: Coverage | undefined = meta.entities[entity.name];
    const state = stateOf(coverage);
    const days = coveredDays(entity, coverage)?.map(dayText) ?? ["", ""];
    return h(
      "tr",
      { class: state },
      h(
        "th",
        { scope: "row" },
        h("a", { href: `#/entity/${entity.name}` }, h("code", {}, entity.name)),
        h("span", {}, titleOf(app, entity)),
      ),
      ...days.map((day, index) => h("td", { class: "day", "data-label": t(index === 0 ? "first" : "last") }, day)),
      h(
        "td",
        { class: "number", "data-label": t("rows") },
        coverage?.rows === undefined ? "" : countText(coverage.rows),
      ),
      h("td", { "data-label": t("state") }, h("span", { class: `state ${state}` }, t(state))),
    );
  };

  const draw = (): void => {
    const words = search.value
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    const fitting = entities.filter((entity) => words.every((word) => textOf(entity).includes(word)));
    const textOf_ = groups.map(([store, key]) => [key, fitting.filter((entity) => entity.store === store)] as const);
    list.replaceChildren(
      ...textOf_
        .filter(([, members]) => members.length > 0)
        .map(([key, members]) =>
          h(
            "section",
            {},
            h("h2", {}, t(key)),
            h(
              "div",
              { class: "scroll" },
              h(
                "table",
                { class: "entities cards" },
                h("caption", { class: "quiet" }, t(key)),
                h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, t(head))))),
                h("tbody", {}, ...members.map(rowOf)),
              ),
            ),
          ),
        ),
    );
    status.textContent = t("found", { n: fitting.length });
  };
  const textOf = (entity: CatalogEntity): string =>
    [entity.name, titleOf(app, entity), aboutOf(app, entity)]
      .concat(entity.columns.flatMap((column) => [column.name, meaningOf(app, column)]))
      .join(" ")
      .toLowerCase();

  draw();
  return h(
    "div",
    {},
    h("h1", {}, t("catalog")),
    h(
      "p",
      { class: "lead" },
      t("total", {
        entities: covered.filter(({ available }) => available).length,
        all: entities.length,
        rows: shortCount(language, rows),
      }),
      h("span", { class: "version" }, `${t("version")} ${meta.data_version}`),
    ),
    h("div", { class: "bar end", role: "search" }, field(t("search"), search), status),
    list,
  );
};

/** A million as `1M` or `100万`: at most three digits. */
const shortCount = (language: Language, count: number): string =>
  count.toLocaleString(language === "en" ? "en-US" : "zh-CN", { notation: "compact", maximumSignificantDigits: 3 });

const heads = ["entity", "first", "last", "rows", "state"] as const satisfies readonly TextKey[];

/** First and last day; null without rows, and of an entity without dates, of which the server tells the day of import. */
export const coveredDays = (entity: CatalogEntity, coverage: Coverage | undefined): [string, string] | null =>
  coverage?.data_start !== undefined && coverage.data_end !== undefined && entity.parameters.includes("start_date")
    ? [coverage.data_start, coverage.data_end]
    : null;

// What the catalog says of entities and columns, in the language of the page.

type Speaker = Pick<App, "t" | "language" | "units">;

export const titleOf = ({ language }: Pick<App, "language">, { title, chinese }: CatalogEntity): string =>
  language === "en" ? title : chinese.title;

export const aboutOf = ({ language }: Pick<App, "language">, { about, chinese }: CatalogEntity): string =>
  language === "en" ? about : chinese.about;

export const meaningOf = ({ language }: Pick<App, "language">, { meaning, chinese }: CatalogColumn): string =>
  language === "en" ? meaning : chinese;

/** Empty where there is none. */
export const unitOf = ({ language, units }: Speaker, { unit }: CatalogColumn): string =>
  unit === undefined ? "" : language === "en" ? unit : units[unit];

/** Meaning and unit. */
export function tooltipOf(app: Speaker, column: CatalogColumn): string {
  const [meaning, unit] = [meaningOf(app, column), unitOf(app, column)];
  return unit === "" ? meaning : app.t("inUnit", { meaning, unit });
}

const TYPES = {
  ...{ code: "typeCode", text: "typeText", date: "typeDate", float64: "typeNumber", int64: "typeInteger" },
} as const satisfies Record<CatalogColumn["type"], TextKey>;

export function typeOf({ t }: Speaker, { type, nullable }: CatalogColumn): string {
  const name = t(TYPES[type]);
  return nullable ? t("orNull", { type: name }) : name;
}

/** What stands under the name of a column: its Chinese name, or in English its type. */
export const labelOf = ({ language }: Speaker, { chinese }: CatalogColumn, dtype: string): string =>
  language === "en" ? dtype : chinese.split(/[：；，]/, 1)[0]!;
