// One entity: what it is, its columns, and where it has gaps.
import { ask, Refusal } from "./api.js";
import { fill, type App, type View } from "./app.js";
import { aboutOf, meaningOf, titleOf, typeOf, unitOf } from "./catalog-words.js";
import { h, prose } from "./dom.js";
import { gapYears, weekdays, type GapYear } from "./gap-days.js";
import { heatMap } from "./heat-map.js";
import { type TextKey, countText, dayText, stateOf } from "./texts.js";
import type { Calendar, CatalogEntity, Coverage, Gap, Gaps } from "./types.js";

/** Gaps that are listed one by one. */
const LISTED = 200;

export const entityView: View = (app, name) => {
  const { t, entities, meta } = app;
  const entity = entities.find((one) => one.name === name);
  if (entity === undefined) return noEntity(app, name);
  const coverage = meta.entities[entity.name];
  const gaps = h("div", {});
  if (coverage?.available) void fill(app, gaps, () => gapNodes(app, entity, coverage));
  else gaps.append(h("p", {}, t(stateOf(coverage))));
  const facts: readonly (readonly [TextKey, string])[] = [
    ["first", coverage?.data_start === undefined ? "–" : dayText(coverage.data_start)],
    ["last", coverage?.data_end === undefined ? "–" : dayText(coverage.data_end)],
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
    h("section", {}, h("h2", {}, t("columns")), columnTable(app, entity)),
  );
};

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

/** A table whose first cell heads its row. */
function table(
  caption: string,
  heads: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): HTMLElement {
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", { class: "quiet" }, caption),
      h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))),
      h(
        "tbody",
        {},
        ...rows.map(([head, ...cells]) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, h("code", {}, String(head))),
            ...cells.map((cell) => h("td", { class: typeof cell === "number" ? "number" : null }, String(cell))),
          ),
        ),
      ),
    ),
  );
}

async function gapNodes(app: App, entity: CatalogEntity, coverage: Coverage): Promise<Node[]> {
  const { t } = app;
  const { data_start: first = "", data_end: last = "" } = coverage;
  const { gaps } = await ask<Gaps>(`api/v1/entities/${entity.name}/gaps`, {}, app.signal);
  if (gaps.length === 0 && entity.gaps === "none") return [h("p", {}, t("gapsNotComputed"))];
  const begin = gaps.reduce((day, { gap_start }) => (gap_start < day ? gap_start : day), first);
  const end = gaps.reduce((day, { gap_end }) => (gap_end > day ? gap_end : day), last);
  const open = await tradingDays(app, begin, end);
  const years = gapYears(begin, end, open ?? weekdays(begin, end), gaps);
  const days = years.reduce((sum, { none, partial }) => sum + none + partial, 0);
  const summary =
    gaps.length === 0
      ? t("gapsNone", { first: dayText(first), last: dayText(last) })
      : t("gapsSome", { n: countText(gaps.length), days: countText(days) });
  return [
    h("p", { class: gaps.length === 0 ? "good" : "bad" }, summary),
    ...(open === null ? [h("p", { class: "note" }, t("noCalendar"))] : []),
    heatMap(app, years),
    yearTable(app, years),
    ...(gaps.length === 0 ? [] : [gapList(app, gaps)]),
  ];
}

/** Null where the token does not cover the calendar. */
async function tradingDays({ signal }: App, start_date: string, end_date: string): Promise<ReadonlySet<string> | null> {
  try {
    const { days } = await ask<Calendar>("api/v1/calendar", { start_date, end_date, is_open: "1" }, signal);
    return new Set(days.map(({ cal_date }) => cal_date));
  } catch (error) {
    if (error instanceof Refusal && error.status === 403) return null;
    throw error;
  }
}

function yearTable({ t }: App, years: readonly GapYear[]): HTMLElement {
  const heads: readonly TextKey[] = ["year", "openDays", "missingDays", "partialDays"];
  const rows = [...years].reverse().map(({ year, open, none, partial }) => [year, open, none, partial]);
  const caption = t("gapYears");
  return h(
    "details",
    {},
    h("summary", {}, caption),
    table(
      caption,
      heads.map((head) => t(head)),
      rows,
    ),
  );
}

/** Kinds of computed gaps in words; others are the words of who recorded them. */
const kindOf = (t: App["t"], kind: string): string =>
  kind === "missing" ? t("kindMissing") : kind === "missing_day" ? t("kindMissingDay") : kind;

function gapList({ t }: App, gaps: readonly Gap[]): HTMLElement {
  const heads: readonly TextKey[] = ["code", "first", "last", "kind"];
  const rows = gaps
    .slice(0, LISTED)
    .map(({ ts_code, gap_start, gap_end, kind }) => [
      ts_code ?? t("everyCode"),
      dayText(gap_start),
      dayText(gap_end),
      kindOf(t, kind),
    ]);
  const caption = t("gapList");
  return h(
    "details",
    {},
    h("summary", {}, caption),
    gaps.length > LISTED ? h("p", { class: "note" }, t("gapMore", { n: LISTED, all: countText(gaps.length) })) : null,
    table(
      caption,
      heads.map((head) => t(head)),
      rows,
    ),
  );
}
