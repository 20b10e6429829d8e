// What every view is given, and how it tells what went wrong.
import { Refusal } from "./api.js";
import { h } from "./dom.js";
import type { Language, Translate } from "./texts.js";
import type { Catalog, Meta } from "./types.js";

export interface App extends Catalog {
  readonly t: Translate;
  readonly language: Language;
  readonly meta: Meta;
  /** Aborted when the view is left. */
  readonly signal: AbortSignal;
  /** Called where the server no longer takes the token. */
  readonly tokenRefused: () => void;
}

/** A view shows itself at once and fills itself in; `path` is what follows its name in the address, `search` the rest. */
export type View = (app: App, path: string, search: URLSearchParams) => HTMLElement;

/** What each place was last asked to show: later work replaces earlier work. */
const works = new WeakMap<HTMLElement, object>();

/** Puts what `work` makes into `place`, or what went wrong. Resolves to true where it stands in the page. */
export async function fill(app: App, place: HTMLElement, work: () => Promise<readonly Node[]>): Promise<boolean> {
  place.replaceChildren(h("p", { class: "loading" }, app.t("loading")));
  place.setAttribute("aria-busy", "true");
  works.set(place, work);
  const nodes = await work().catch((error: unknown) => (app.signal.aborted ? [] : [troubleOf(app, error)]));
  if (app.signal.aborted || works.get(place) !== work) return false;
  place.removeAttribute("aria-busy");
  place.replaceChildren(...nodes);
  return true;
}

type Troubled = Pick<App, "t" | "language" | "tokenRefused"> & Partial<Pick<App, "problems">>;

/** What went wrong, what would be accepted, and in English the server's own words. */
export function troubleOf(app: Troubled, error: unknown): HTMLElement {
  const { t, language } = app;
  if (!(error instanceof Refusal)) {
    if (!(error instanceof TypeError) && !(error instanceof DOMException)) reportError(error);
    return h("p", { role: "alert", class: "trouble" }, t("unreachable"));
  }
  if (error.status === 401) app.tokenRefused();
  const { detail, hint, allowed } = language === "en" ? error.problem : inChinese(app, error);
  return h(
    "div",
    { role: "alert", class: "trouble" },
    h("p", {}, detail),
    hint === null ? null : h("p", {}, t("hint") + hint),
    allowed.length === 0 ? null : h("p", { class: "allowed" }, t("allowed") + allowed.join(", ")),
  );
}

/** The server explains in English; its code, the parameter and accepted words need no translation. */
function inChinese({ t, problems = {} }: Troubled, { status, problem }: Refusal) {
  const { code, parameter, allowed } = problem;
  const what = problems[code] ?? t("failed", { status });
  return {
    detail: parameter === null ? what : t("troubleOf", { what, parameter }),
    hint: code === "invalid_parameter" ? t("howWritten") : null,
    allowed: allowed.filter((item) => /^[\w.-]+$/.test(item)),
  };
}
