// What every view is given, and how it tells what went wrong.
import { Refusal } from "./api.js";
import { h } from "./dom.js";
import type { Language, Translate } from "./texts.js";
import type { CatalogEntity, Meta } from "./types.js";

export interface App {
  readonly t: Translate;
  readonly language: Language;
  readonly entities: readonly CatalogEntity[];
  readonly meta: Meta;
  /** Aborted when the view is left. */
  readonly signal: AbortSignal;
  /** Called where the server no longer takes the token. */
  readonly tokenRefused: () => void;
}

/** A view shows itself at once and fills itself in; `path` is what follows its name in the address, `search` the rest. */
export type View = (app: App, path: string, search: URLSearchParams) => HTMLElement;

/** Puts what `work` makes into `place`, or what went wrong. Resolves to true where it stands in the page. */
export async function fill(app: App, place: HTMLElement, work: () => Promise<readonly Node[]>): Promise<boolean> {
  place.replaceChildren(h("p", { class: "loading" }, app.t("loading")));
  place.setAttribute("aria-busy", "true");
  const nodes = await work().catch((error: unknown) => (app.signal.aborted ? [] : [troubleOf(app, error)]));
  if (app.signal.aborted) return false;
  place.removeAttribute("aria-busy");
  place.replaceChildren(...nodes);
  return true;
}

/** What went wrong, in the words of the server: its detail, its hint, and what it would accept. */
export function troubleOf(app: Pick<App, "t" | "tokenRefused">, error: unknown): HTMLElement {
  const { t } = app;
  if (!(error instanceof Refusal)) {
    if (!(error instanceof TypeError) && !(error instanceof DOMException)) reportError(error);
    return h("p", { role: "alert", class: "trouble" }, t("unreachable"));
  }
  if (error.status === 401) app.tokenRefused();
  const { detail, hint, allowed } = error;
  return h(
    "div",
    { role: "alert", class: "trouble" },
    h("p", {}, detail),
    hint === null ? null : h("p", {}, t("hint") + hint),
    allowed.length === 0 ? null : h("p", { class: "allowed" }, t("allowed") + allowed.join(", ")),
  );
}
