// One request as text for other tools, in a panel with a tab for each. Text from the user stands in it only
// percent-encoded or as a JSON string.
import type { Parameters } from "./api.js";
import type { App } from "./app.js";
import { h, quietStatus } from "./dom.js";

/** A request of rows. `address` is that of the entity, absolute and without a query. */
export interface Asked {
  readonly entity: string;
  readonly address: string;
  readonly parameters: Parameters;
}

const urlOf = ({ address, parameters }: Asked, more: Parameters = {}): string => {
  const query = new URLSearchParams({ ...parameters, ...more }).toString().replaceAll("%2C", ",");
  return query === "" ? address : `${address}?${query}`;
};

const HEADER = `-H "Authorization: Bearer $TOKEN"`;

/** A dict of Python, or an object of TypeScript. */
const dictOf = (parameters: Parameters): string => {
  const items = Object.entries(parameters).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return items.length === 0 ? "{}" : `{\n        ${items.join(",\n        ")},\n    }`;
};

const pythonRequest = ({ address, parameters }: Asked, more: Parameters = {}): string => `answer = requests.get(
    ${JSON.stringify(address)},
    params=${dictOf({ ...parameters, ...more })},
    headers={"Authorization": f"Bearer {os.environ['TOKEN']}"},
)
answer.raise_for_status()`;

/** As the Python client asks by default. JSON has no dates: there the TypeScript client gives text too. */
const REAL_DATES: Parameters = { dates: "date" };

const SNIPPETS = {
  URL: (asked) => urlOf(asked),
  curl: (asked) => `curl -sSf ${HEADER} "${urlOf(asked)}"`,
  pandas: (asked) => `import os
import pyarrow as pa
import requests

${pythonRequest(asked, { format: "arrow", ...REAL_DATES })}
frame = pa.ipc.open_stream(answer.content).read_pandas(date_as_object=False)
print(frame)`,
  polars: (asked) => `import io
import os
import polars as pl
import requests

${pythonRequest(asked, { format: "arrow", ...REAL_DATES })}
frame = pl.read_ipc_stream(io.BytesIO(answer.content))
print(frame)`,
  DuckDB: (
    asked,
  ) => `curl -sSf ${HEADER} "${urlOf(asked, { format: "parquet", ...REAL_DATES })}" -o ${asked.entity}.parquet
duckdb -c "SELECT * FROM '${asked.entity}.parquet'"`,
  TypeScript: (asked) => `const answer = await fetch(${JSON.stringify(urlOf(asked))}, {
  headers: { Authorization: \`Bearer \${process.env.TOKEN}\` },
});
if (!answer.ok) throw new Error(await answer.text());
const { columns, rows } = (await answer.json()) as { columns: { name: string }[]; rows: (string | number | null)[][] };
console.table(rows.map((row) => Object.fromEntries(columns.map(({ name }, i) => [name, row[i]]))));`,
} as const satisfies Record<string, (asked: Asked) => string>;

type SnippetName = keyof typeof SNIPPETS;

// The panel; each tab has a button that copies.

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
