// Code that asks the same elsewhere, in a panel with a tab for each tool and a button that copies.
import type { App } from "./app.js";
import { h, quietStatus } from "./dom.js";

/** A request as text, by the name of the tool. */
export type Snippets<A> = Readonly<Record<string, (asked: A) => string>>;

/** A panel, which begins with curl, and how to tell it another request. */
export function snippetPanel<A>(
  { t }: App,
  snippets: Snippets<A>,
): { readonly panel: HTMLElement; readonly tell: (asked: A) => void } {
  const names = Object.keys(snippets);
  let asked: A | undefined;
  let shown = "curl";
  const code = h("code", {});
  const status = quietStatus();
  const button = h("button", { type: "button", click: () => void copy() }, t("copy"));

  const tabs = names.map((name) =>
    h(
      "button",
      {
        ...{ type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "snippet" },
        click: () => show(name),
        keydown: (event) => move(event as KeyboardEvent),
      },
      name,
    ),
  );
  const body = h("div", { id: "snippet", role: "tabpanel" }, h("pre", { tabindex: "0" }, code), button);

  const show = (name: string): void => {
    shown = name;
    for (const [index, tab] of tabs.entries()) {
      tab.setAttribute("aria-selected", String(names[index] === name));
      tab.tabIndex = names[index] === name ? 0 : -1;
    }
    body.setAttribute("aria-labelledby", `tab-${name}`);
    code.textContent = asked === undefined ? "" : snippets[name]!(asked);
    button.textContent = t("copy");
  };

  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    show(names[(names.indexOf(shown) + step + names.length) % names.length]!);
    tabs[names.indexOf(shown)]!.focus();
  };

  const copy = async (): Promise<void> => {
    // Browsers lend the clipboard to pages over TLS or of this machine alone.
    const done = await navigator.clipboard?.writeText(code.textContent).then(
      () => true,
      () => false,
    );
    if (!done) getSelection()?.selectAllChildren(code);
    status.textContent = t(done ? "copied" : "copyFailed");
    button.textContent = status.textContent;
  };

  show(shown);
  return {
    panel: h(
      "section",
      { class: "snippets" },
      h("h2", {}, t("take")),
      h("p", { class: "note" }, t("takeAbout")),
      h("div", { role: "tablist", "aria-label": t("take") }, ...tabs),
      body,
      status,
    ),
    tell(request) {
      asked = request;
      show(shown);
    },
  };
}
