// The same request for other tools: one tab a tool, each with a button that copies.
import type { App } from "./app.js";
import { h, quietStatus } from "./dom.js";
import { SNIPPETS, type Asked, type SnippetName } from "./snippets.js";

const NAMES = Object.keys(SNIPPETS) as SnippetName[];

/** A panel, and how to tell it another request. */
export function snippetPanel({ t }: App): { readonly panel: HTMLElement; readonly tell: (asked: Asked) => void } {
  let asked: Asked | undefined;
  let shown: SnippetName = "curl";
  const code = h("code", {});
  const status = quietStatus();
  const button = h("button", { type: "button", click: () => void copy() }, t("copy"));

  const tabs = NAMES.map((name) =>
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

  const show = (name: SnippetName): void => {
    shown = name;
    for (const [index, tab] of tabs.entries()) {
      tab.setAttribute("aria-selected", String(NAMES[index] === name));
      tab.tabIndex = NAMES[index] === name ? 0 : -1;
    }
    body.setAttribute("aria-labelledby", `tab-${name}`);
    code.textContent = asked ? SNIPPETS[name](asked) : "";
    button.textContent = t("copy");
  };

  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    show(NAMES[(NAMES.indexOf(shown) + step + NAMES.length) % NAMES.length]!);
    tabs[NAMES.indexOf(shown)]!.focus();
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
