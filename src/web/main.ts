// The page: who looks at it, in which language and light, and which view is shown.
import { ask, Refusal, token } from "./api.js";
import { troubleOf, type App, type View } from "./app.js";
import { catalogView } from "./catalog.js";
import { chartView } from "./chart.js";
import { choice, field, h } from "./dom.js";
import { entityView } from "./entity.js";
import { queryView } from "./query.js";
import { sqlView } from "./sql.js";
import { applyTheme, settings, type Theme } from "./settings.js";
import { LANGUAGES, textsOf, type TextKey } from "./texts.js";
import type { Catalog, Meta } from "./types.js";

const VIEWS: Readonly<Record<string, View>> = {
  catalog: catalogView,
  entity: entityView,
  chart: chartView,
  query: queryView,
  sql: sqlView,
};

const LINKS: readonly (readonly [address: string, text: TextKey, views: readonly string[]])[] = [
  ["#/catalog", "catalog", ["catalog", "entity"]],
  ["#/chart", "chart", ["chart"]],
  ["#/query", "query", ["query"]],
  ["#/sql", "sql", ["sql"]],
  ["docs", "reference", []],
];

let left = new AbortController();
let catalog: Catalog | undefined;
let meta: Meta | undefined;

/** Shows what the address names. `message` is said where a token is asked for. */
async function show(message: string | null = null): Promise<void> {
  left.abort();
  left = new AbortController();
  const { signal } = left;
  const language = settings.language();
  const t = textsOf(language);
  document.documentElement.lang = language === "en" ? "en" : "zh-CN";
  document.title = t("title");
  const [name = "", path = "", search] = splitAddress();
  if (token.get() === null) {
    frame("", signIn(message));
    return;
  }
  try {
    catalog ??= await ask<Catalog>("web/catalog.json", {}, signal);
    meta = await ask<Meta>("api/v1/meta", {}, signal);
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof Refusal && error.status === 401) askAgain(t("tokenRefused"));
    else frame(name, troubleOf({ t, language, ...catalog, tokenRefused: () => undefined }, error));
    return;
  }
  const app: App = { t, language, ...catalog, meta, signal, tokenRefused: () => askAgain(t("tokenRefused")) };
  const known = name in VIEWS ? name : "catalog";
  frame(known, VIEWS[known]!(app, path, search));
}

function splitAddress(): [name: string | undefined, path: string | undefined, search: URLSearchParams] {
  const [way = "", search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...path] = way.split("/");
  return [name, decoded(path.join("/")), new URLSearchParams(search)];
}

/** An address that was cut or mistyped stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function askAgain(message: string | null): void {
  token.forget();
  void show(message);
}

function signIn(message: string | null): HTMLElement {
  const t = textsOf(settings.language());
  const input = h("input", { type: "password", autocomplete: "off", required: true, spellcheck: "false" });
  const submit = (event: Event): void => {
    event.preventDefault();
    token.set(input.value.trim());
    void show();
  };
  return h(
    "div",
    { class: "sign-in" },
    h("h1", {}, t("signIn")),
    h("p", {}, t("signInAbout")),
    h(
      "form",
      { submit },
      message === null ? null : h("p", { role: "alert", class: "trouble" }, message),
      field(t("token"), input, t("tokenHint")),
      h("button", { class: "primary" }, t("enter")),
    ),
  );
}

/** The page around a view. */
function frame(name: string, view: HTMLElement): void {
  const t = textsOf(settings.language());
  const links = LINKS.map(([href, text, views]) =>
    h("li", {}, h("a", { href, "aria-current": views.includes(name) ? "page" : null }, t(text))),
  );
  const header = h(
    "header",
    {},
    h(
      "a",
      { class: "brand", href: "#/catalog" },
      h("img", { src: "web/icon.svg", alt: "", width: 22, height: 22 }),
      "Tapehouse",
    ),
    h("nav", { "aria-label": t("sections") }, h("ul", {}, ...links)),
    h(
      "div",
      { class: "settings" },
      choice(t("language"), LANGUAGES, settings.language(), (language) => {
        settings.setLanguage(language);
        void show();
      }),
      choice<Theme>(
        t("theme"),
        [
          ["system", t("system")],
          ["light", t("light")],
          ["dark", t("dark")],
        ],
        settings.theme(),
        (theme) => applyTheme(theme),
      ),
      token.get() === null ? null : h("button", { class: "plain", click: () => askAgain(null) }, t("leave")),
    ),
  );
  const main = h("main", { id: "content", tabindex: "-1" }, view);
  const chosen = document.activeElement instanceof HTMLInputElement ? document.activeElement.value : null;
  document.body.replaceChildren(h("a", { class: "skip", href: "#content", click: skip }, t("skip")), header, main);
  // Who switches the language with the keyboard stays on the switch.
  const same = chosen === null ? null : header.querySelector<HTMLElement>(`input[value="${CSS.escape(chosen)}"]`);
  if (same) same.focus();
  else if (document.body.dataset["begun"] !== undefined) main.focus({ preventScroll: true });
  document.body.dataset["begun"] = "";
}

function skip(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#content")?.focus();
}

applyTheme(settings.theme());
addEventListener("hashchange", () => void show());
void show();
