// The form of SQL: a statement, the values of its parameters, and what is wrong with it.
import { Refusal } from "./api.js";
import { troubleOf, type App } from "./app.js";
import { absolve, accuse, field, h } from "./dom.js";
import { EXAMPLES } from "./sql-examples.js";
import type { AskedSql, SqlValue } from "./sql-snippets.js";
import { dayText } from "./texts.js";

export interface SqlForm {
  readonly elements: readonly HTMLElement[];
  /** What is filled in. */
  read(): AskedSql;
  /** The values of the parameters as they were typed. */
  typed(): Readonly<Record<string, string>>;
  /** Takes back what was said of an earlier statement. */
  absolve(): void;
  /** Shows a refusal beside the statement, with the place at fault, and says that it did. */
  blame(error: unknown): boolean;
}

interface Begun {
  readonly sql: string;
  readonly values: Readonly<Record<string, string>>;
}

/** `run` is called on Ctrl+Enter and when an example was chosen, `changed` after every change. */
export function sqlForm(app: App, begun: Begun, run: () => void, changed: () => void): SqlForm {
  const { t } = app;
  const kept = new Map(Object.entries(begun.values));
  const area = h("textarea", {
    ...{ rows: "9", spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off", class: "statement" },
    input: () => drawValues(),
    keydown: (event) => {
      const { key, ctrlKey, metaKey } = event as KeyboardEvent;
      if (key !== "Enter" || !(ctrlKey || metaKey)) return;
      event.preventDefault();
      run();
    },
  });
  area.value = begun.sql;
  const statement = field(t("statement"), area, t("statementHint"));
  statement.classList.add("wide");
  const boxes = h("div", { class: "filters" });
  const values = h(
    "fieldset",
    { class: "wide values" },
    h("legend", {}, t("values")),
    h("p", { class: "note" }, t("valuesHint")),
    boxes,
  );

  const drawValues = (): void => {
    const names = parametersIn(area.value);
    values.hidden = names.length === 0;
    const shown = [...boxes.querySelectorAll("input")].map(({ name }) => name);
    if (shown.join() === names.join()) return;
    boxes.replaceChildren(
      ...names.map((name) => {
        const value = kept.get(name) ?? "";
        const input = h("input", { type: "text", name, value, autocomplete: "off", spellcheck: "false" });
        input.addEventListener("input", () => kept.set(name, input.value));
        return field(`$${name}`, input);
      }),
    );
  };

  const choose = (event: Event): void => {
    const example = EXAMPLES[Number((event.target as HTMLSelectElement).value)];
    if (example === undefined) return;
    area.value = example.sql;
    for (const [name, value] of Object.entries(example.values)) kept.set(name, value);
    boxes.replaceChildren();
    drawValues();
    changed();
    run();
  };
  const examples = h(
    "select",
    { change: choose },
    h("option", { value: "" }, t("exampleNone")),
    ...EXAMPLES.map(({ title }, index) => h("option", { value: index }, t(title))),
  );
  drawValues();
  const typed = (): Readonly<Record<string, string>> =>
    Object.fromEntries(parametersIn(area.value).map((name) => [name, kept.get(name) ?? ""]));
  return {
    elements: [field(t("example"), examples), statement, values],
    read: () => ({
      sql: area.value,
      params: Object.fromEntries(Object.entries(typed()).map(([name, text]) => [name, valueOf(text)])),
    }),
    typed,
    absolve: () => absolve(statement),
    blame(error) {
      if (!(error instanceof Refusal) || error.status === 401) return false;
      absolve(statement);
      accuse(statement, troubleWith(app, error, area.value));
      const { place } = error.problem;
      if (place !== null) selectWord(area, place.line, place.column);
      return true;
    },
  };
}

/** Names of parameters in a statement, in the order of their first use; not those in quotes and comments. */
function parametersIn(sql: string): readonly string[] {
  const plain = sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[^]*?\*\//g, " ");
  return [...new Set([...plain.matchAll(/\$(\w+)/g)].map(([, name]) => name!))];
}

/** A value as it was typed. A number of eight digits is a day; what stands in quotes is text. */
function valueOf(text: string): SqlValue {
  const items = [...text.matchAll(ITEM)].map(([item]) => item.trim()).filter((item) => item !== "");
  const areNumbers = items.every((item) => /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(item) && !DAY.test(item));
  const [one, ...others] = areNumbers ? items.map(Number) : items.map(textOf);
  if (one === undefined) return null;
  return others.length === 0 ? one : ([one, ...others] as readonly string[] | readonly number[]);
}

const DAY = /^\d{8}$/;

/** Up to the next comma or semicolon outside quotes. */
const ITEM = /(?:"[^"]*"|[^,，;；"]|"(?![^"]*"))+/g;

/** Days as SQL has them. */
const textOf = (item: string): string => (DAY.test(item) ? dayText(item) : item.replace(/^"(.*)"$/, "$1"));

/** Selects the word at a place of the text, both counted from 1. */
function selectWord(area: HTMLTextAreaElement, line: number, column: number): void {
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
  area.setSelectionRange(start, start + wordAt(lines[line - 1] ?? "", column).length);
}

const wordAt = (line: string, column: number): string => /^[\w$]+|^[^]?/u.exec(line.slice(column - 1))![0];

/** What went wrong, with the line and the word at fault. */
function troubleWith(app: App, error: Refusal, sql: string): HTMLElement {
  const { t, language } = app;
  const { code, place, detail, hint, allowed } = error.problem;
  if (code === "forbidden")
    return said(t(allowed.length === 0 ? "sqlForbidden" : "sqlEntityForbidden"), detail, language);
  const trouble = troubleOf(app, error);
  if (place !== null) {
    const line = sql.split("\n")[place.line - 1] ?? "";
    const word = wordAt(line, place.column);
    trouble.append(
      h("p", {}, t("sqlPlace", place)),
      h(
        "pre",
        { tabindex: "0", "aria-label": t("sqlPlace", place) },
        h("code", {}, line.slice(0, place.column - 1), h("mark", {}, word), line.slice(place.column - 1 + word.length)),
      ),
    );
  }
  // Messages of the engine are in English, and say more than our translation.
  if (language !== "en") trouble.append(original(t("sqlDetail"), hint === null ? detail : `${detail}\n${hint}`));
  return trouble;
}

const said = (text: string, detail: string, language: App["language"]): HTMLElement =>
  h("div", { role: "alert", class: "trouble" }, h("p", {}, text), language === "en" ? h("p", {}, detail) : null);

const original = (label: string, text: string): HTMLElement =>
  h("pre", { lang: "en", tabindex: "0", "aria-label": label }, h("code", {}, text));
