// The catalog: entities by group with what they cover, and a search.
import type { Store } from "../catalog/types.js";
import type { View } from "./app.js";
import { aboutOf, meaningOf, titleOf } from "./catalog-words.js";
import { field, h } from "./dom.js";
import { type TextKey, countText, dayText, shortCount, stateOf } from "./texts.js";
import type { CatalogEntity, Coverage } from "./types.js";

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
    const day = (text: string | undefined): string => (text === undefined ? "" : dayText(text));
    return h(
      "tr",
      { class: state },
      h(
        "th",
        { scope: "row" },
        h("a", { href: `#/entity/${entity.name}` }, h("code", {}, entity.name)),
        h("span", {}, titleOf(app, entity)),
      ),
      h("td", { class: "day" }, day(coverage?.data_start)),
      h("td", { class: "day" }, day(coverage?.data_end)),
      h("td", { class: "number" }, coverage?.rows === undefined ? "" : countText(coverage.rows)),
      h("td", {}, h("span", { class: `state ${state}` }, t(state))),
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
                { class: "entities" },
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

const heads = ["entity", "first", "last", "rows", "state"] as const satisfies readonly TextKey[];
