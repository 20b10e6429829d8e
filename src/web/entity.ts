// One entity: what it is, its columns, and where it has gaps.
import { ask } from "./api.js";
import { fill, type App, type View } from "./app.js";
import { aboutOf, coveredDays, meaningOf, titleOf, typeOf, unitOf } from "./catalog.js";
import { h, table } from "./dom.js";
import { gapNodes } from "./entity-gaps.js";
import { type TextKey, countText, dayText, stateOf } from "./texts.js";
import type { CatalogEntity, Checks, EntityVersions, Statistics, Value } from "./types.js";

export const entityView: View = (app, name) => {
  const { t, entities, meta } = app;
  const entity = entities.find((one) => one.name === name);
  if (entity === undefined) return noEntity(app, name);
  const coverage = meta.entities[entity.name];
  const gaps = h("div", {});
  if (coverage?.available) void fill(app, gaps, () => gapNodes(app, entity, coverage));
  else gaps.append(h("p", {}, t(stateOf(coverage))));
  const checks = h("div", {});
  if (coverage?.available) void fill(app, checks, () => checkNodes(app, entity));
  const [first, last] = coveredDays(entity, coverage)?.map(dayText) ?? ["–", "–"];
  const facts: readonly (readonly [TextKey, string])[] = [
    ["first", first!],
    ["last", last!],
    ["rows", coverage?.rows === undefined ? "–" : countText(coverage.rows)],
  ];
  return h(
    "div",
    {},
    h("p", {}, h("a", { href: "#/catalog" }, `← ${t("backToCatalog")}`)),
    h("h1", {}, titleOf(app, entity), " ", h("code", {}, entity.name)),
    h("p", {}, ...prose(aboutOf(app, entity))),
    h("dl", { class: "facts" }, ...facts.map(([key, value]) => h("div", {}, h("dt", {}, t(key)), h("dd", {}, value)))),
    h("p", {}, h("a", { class: "button", href: `#/query?entity=${entity.name}` }, t("queryThis"))),
    h("section", {}, h("h2", {}, t("gaps")), gaps),
    checks,
    h(
      "section",
      {},
      h("h2", {}, t("columns")),
      columnTable(app, entity),
      // The server reads rows for these two, so it is asked only when they are opened.
      coverage?.available ? onOpening(app, "statistics", () => statisticsNodes(app, entity)) : null,
      onOpening(app, "history", () => historyNodes(app, entity)),
    ),
  );
};

/** Text in which backticks mark code. */
const prose = (text: string): (Node | string)[] =>
  text.split("`").map((part, index) => (index % 2 === 0 ? part : h("code", {}, part)));

/** For a name that is none: what the server says of it, which names the nearest and all that there are. */
export function noEntity(app: App, name: string): HTMLElement {
  const said = h("div", {});
  void fill(app, said, async () => {
    await ask(`api/v1/entities/${encodeURIComponent(name)}`, {}, app.signal);
    return [];
  });
  return h(
    "div",
    {},
    h("p", {}, h("a", { href: "#/catalog" }, `← ${app.t("backToCatalog")}`)),
    h("h1", {}, app.t("noEntity"), " ", h("code", {}, name)),
    said,
  );
}

function columnTable(app: App, { columns }: CatalogEntity): HTMLElement {
  const heads: readonly TextKey[] = ["column", "type", "unit", "meaning"];
  return table(
    app.t("columns"),
    heads.map((head) => app.t(head)),
    columns.map((column) => [column.name, typeOf(app, column), unitOf(app, column), meaningOf(app, column)]),
  );
}

/** A section that is filled when it is opened. */
function onOpening(app: App, title: TextKey, make: () => Promise<Node[]>): HTMLElement {
  const found = h("div", {});
  const toggle = (): void => {
    if (details.open && found.childNodes.length === 0) void fill(app, found, make);
  };
  const details = h("details", { toggle }, h("summary", {}, app.t(title)), found);
  return details;
}

async function historyNodes({ t, signal }: App, { name }: CatalogEntity): Promise<Node[]> {
  const { versions } = await ask<EntityVersions>(`api/v1/entities/${name}/versions`, {}, signal);
  if (versions.length === 0) return [h("p", { class: "note" }, t("historyNone"))];
  const heads: readonly TextKey[] = ["version", "added", "removed", "changed", "first", "last"];
  const rows = versions.map(({ data_version, added, removed, changed, first, last }) => [
    data_version,
    ...[added, removed, changed].map(countText),
    ...[first, last].map((day) => (day === null ? "–" : dayText(day))),
  ]);
  return [
    table(
      t("history"),
      heads.map((head) => t(head)),
      rows,
    ),
  ];
}

/** Characters of a text that a table shows. */
const SHOWN = 60;

async function statisticsNodes({ t, signal }: App, { name, columns }: CatalogEntity): Promise<Node[]> {
  const answer = await ask<Statistics>(`api/v1/entities/${name}/statistics`, {}, signal);
  const heads: readonly TextKey[] = ["column", "nulls", "distinct", "least", "greatest", "lastValue"];
  const shown = (column: string, value: Value): string => {
    const text = value === null ? "–" : String(value);
    if (value !== null && columns.find((one) => one.name === column)?.type === "date") return dayText(text);
    return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  };
  const rows = answer.columns.map(({ name: column, nulls, distinct, min, max, last }) => [
    ...[column, countText(nulls), countText(distinct), shown(column, min), shown(column, max)],
    last === null ? "–" : dayText(last),
  ]);
  return [
    table(
      t("statistics"),
      heads.map((head) => t(head)),
      rows,
    ),
  ];
}

/** What the checks found; nothing for an entity without checks. */
async function checkNodes({ t, language, signal }: App, { name }: CatalogEntity): Promise<Node[]> {
  const { checks } = await ask<Checks>(`api/v1/entities/${name}/checks`, {}, signal);
  if (checks.length === 0) return [];
  const found = checks.filter(({ count }) => count > 0);
  const [n, all] = [found.length, checks.length];
  const heads: readonly TextKey[] = ["check", "checkFound", "checkSeverity", "checkCount", "first", "last"];
  const rows = found.map(({ check, says, chinese, severity, count, first, last }) => [
    ...[check, language === "zh" ? chinese : says, t(severity), countText(count)],
    ...[first, last].map((day) => (day === null ? "–" : dayText(day))),
  ]);
  return [
    h("h2", {}, t("checks")),
    h("p", { class: n === 0 ? "good" : "bad" }, n === 0 ? t("checksNone", { n: all }) : t("checksSome", { n, all })),
    ...(n === 0
      ? []
      : [
          table(
            t("checks"),
            heads.map((head) => t(head)),
            rows,
          ),
        ]),
  ];
}
