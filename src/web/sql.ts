// SQL over one version: a statement with its parameters, its rows as a table and as lines, and the request for other tools.
import { post } from "./api.js";
import { fill, type App, type View } from "./app.js";
import { makers } from "./chart-words.js";
import { h, unbroken, field } from "./dom.js";
import { downloader, type Opener } from "./download.js";
import { drawLines, type DrawnLines, LINE_COLOURS, type Lines, linesIn } from "./lines.js";
import { rowTable } from "./results.js";
import { settings } from "./settings.js";
import { snippetPanel } from "./snippet-panel.js";
import { EXAMPLES } from "./sql-examples.js";
import { sqlForm } from "./sql-form.js";
import { type AskedSql, SQL_SNIPPETS } from "./sql-snippets.js";
import { countText, type TextKey } from "./texts.js";
import type { Envelope } from "./types.js";

const LIMITS = ["100", "1000", "10000"] as const;

const PATH = "api/v1/sql";

export const sqlView: View = (app, _path, search) => {
  const { t, meta } = app;
  if (meta.sql !== "available") return refusal(app, meta.sql);
  const { panel, tell } = snippetPanel(app, SQL_SNIPPETS);
  const place = h("section", { class: "results", "aria-label": t("results") });
  const wanted = search.get("limit") ?? "1000";
  const limit = h(
    "select",
    {},
    ...LIMITS.map((value) => h("option", { value, selected: value === wanted }, countText(Number(value)))),
  );
  let drawn: DrawnLines | undefined;
  app.signal.addEventListener("abort", () => drawn?.remove());

  const run = (): void => {
    const asked = form.read();
    form.absolve();
    const kept = new URLSearchParams({ q: asked.sql, values: JSON.stringify(form.typed()), limit: limit.value });
    history.replaceState(null, "", `#/sql?${kept.toString()}`);
    drawn?.remove();
    drawn = undefined;
    let begin = (): void => undefined;
    const work = async (): Promise<readonly Node[]> => {
      try {
        const { nodes, draw } = await resultOf(app, asked, Number(limit.value));
        begin = () => (drawn = draw?.());
        return nodes;
      } catch (error) {
        if (form.blame(error)) return [];
        throw error;
      }
    };
    // Only what is in the page has a size to draw into.
    void fill(app, place, work).then((isShown) => isShown && begin());
  };
  const changed = (): void => tell(form.read());
  const first = EXAMPLES[0]!;
  const sql = search.get("q");
  const begun = sql === null ? first : { sql, values: valuesIn(search.get("values")) };
  const form = sqlForm(app, begun, run, changed);
  changed();
  const opener: Opener = () => {
    const asked = form.read();
    form.absolve();
    return (more, signal) => post(PATH, { ...asked, ...more }, signal);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    run();
  };
  return h(
    "div",
    { "data-rise": settings.rise(app.language) },
    h("h1", {}, t("sql")),
    h("p", { class: "note" }, t("sqlAbout")),
    h(
      "form",
      { class: "question", "aria-label": t("build"), submit, input: changed, novalidate: true },
      ...form.elements,
      field(t("limit"), limit, t("sqlLimitHint")),
      h(
        "div",
        { class: "acts wide" },
        h("button", { class: "primary" }, t("run")),
        downloader(app, opener, form.blame),
      ),
    ),
    place,
    panel,
  );
};

/** Where there is no SQL: why, and the way out. */
function refusal({ t }: App, why: "forbidden" | "off"): HTMLElement {
  const [what, hint] =
    why === "off" ? (["sqlOff", "sqlOffHint"] as const) : (["sqlForbidden", "sqlForbiddenHint"] as const);
  return h(
    "div",
    {},
    h("h1", {}, t("sql")),
    h("div", { role: "alert", class: "trouble" }, h("p", {}, t(what)), h("p", {}, t(hint))),
  );
}

/** An address that was mistyped has no values. */
function valuesIn(text: string | null): Readonly<Record<string, string>> {
  try {
    const found: unknown = JSON.parse(text ?? "{}");
    const entries = typeof found === "object" && found !== null ? Object.entries(found) : [];
    return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
  } catch {
    return {};
  }
}

const TYPES: Readonly<Record<string, TextKey>> = { string: "typeText", int64: "typeInteger", float64: "typeNumber" };

async function resultOf(
  app: App,
  asked: AskedSql,
  limit: number,
): Promise<{ readonly nodes: readonly Node[]; readonly draw: (() => DrawnLines) | null }> {
  const { t, signal } = app;
  const began = performance.now();
  const answer = (await (await post(PATH, { ...asked, limit }, signal)).json()) as Envelope;
  const ms = Math.round(performance.now() - began);
  const { count, truncated, data_version: version } = answer;
  const more = t(truncated ? "sqlTruncated" : "whole");
  const summary = unbroken(t("sqlCount", { n: countText(count), more, version, ms }));
  const lines = linesIn(answer);
  const chart = lines === null ? null : chartOf(app, lines);
  const describe = ({ dtype }: Envelope["columns"][number]) => ({ label: t(TYPES[dtype]!), title: null });
  return {
    nodes: [
      h("p", { role: "status" }, ...summary),
      ...(chart === null ? [] : chart.nodes),
      count === 0 ? h("p", {}, t("noRows")) : rowTable(app, answer, describe),
    ],
    draw: chart === null ? null : chart.draw,
  };
}

function chartOf(app: App, lines: Lines): { readonly nodes: readonly Node[]; readonly draw: () => DrawnLines } {
  const { t, language } = app;
  const { days, lines: drawn, isPart } = lines;
  const canvas = h("div", {
    ...{ class: "canvas", tabindex: "0", role: "application", "aria-describedby": "lines-summary" },
    "aria-label": t("chartKeys"),
  });
  const reading = h("p", { class: "reading", role: "status" });
  const read = (index: number): void => {
    const values = drawn.map(({ name, values: of }, at) => {
      const value = of.get(days[index]!);
      return h(
        "span",
        {},
        `${name} `,
        h("b", { class: `colour-${LINE_COLOURS[at]!}` }, value === undefined ? "–" : numberText(value)),
      );
    });
    reading.replaceChildren(h("strong", {}, days[index]!), ...values);
  };
  let shown: DrawnLines | undefined;
  const boxes = drawn.map(({ name }, index) => {
    const box = h("input", { type: "checkbox", checked: true, change: () => shown?.show(index, box.checked) });
    return h("label", {}, box, ` ${name}`);
  });
  const names = drawn.map(({ name }) => name).join(", ");
  const summary = t("linesSummary", { names, n: days.length, first: days[0]!, last: days.at(-1)! });
  return {
    nodes: [
      h("p", { id: "lines-summary", class: "note" }, ...unbroken(summary)),
      h("fieldset", { class: "boxes" }, h("legend", { class: "quiet" }, t("lines")), ...boxes),
      reading,
      canvas,
      h(
        "p",
        { class: "note" },
        `${isPart ? `${t("linesMore", { n: drawn.length })} ` : ""}${t("chartKeys")} ${t("charts")} `,
        makers(),
      ),
    ],
    draw() {
      read(days.length - 1);
      shown = drawLines(canvas, lines, language === "en" ? "en-GB" : "zh-CN", read);
      return shown;
    },
  };
}

const numberText = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 6 });
