// The query builder: a question put together from what the entity takes, its rows, and the request for other tools.
import { addressOf, open } from "./api.js";
import type { App, View } from "./app.js";
import { groups, titleOf } from "./catalog.js";
import { field, h } from "./dom.js";
import { downloader, type Opener } from "./download.js";
import { noEntity } from "./entity.js";
import { queryForm } from "./query-form.js";
import { showRows } from "./results.js";
import { snippetPanel } from "./snippet-panel.js";
import { SNIPPETS, type Asked } from "./snippets.js";
import type { CatalogEntity } from "./types.js";

export const queryView: View = (app, _path, search) => {
  const { t, entities } = app;
  const wanted = search.get("entity") ?? entities[0]!.name;
  const entity = entities.find(({ name }) => name === wanted);
  if (entity === undefined) return noEntity(app, wanted);
  const form = queryForm(app, entity, (name) => search.get(name) ?? "");
  const { panel, tell } = snippetPanel(app, SNIPPETS);
  const rows = h("section", { class: "results", "aria-label": t("results") });

  const asked = (): Asked => {
    const address = addressOf(`api/v1/entities/${entity.name}`);
    const request = { entity: entity.name, address, parameters: form.read() };
    tell(request);
    return request;
  };
  const opener: Opener = () => {
    const { parameters } = asked();
    return (more, signal) => open(`api/v1/entities/${entity.name}`, { ...parameters, ...more }, signal);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const request = asked();
    const kept = new URLSearchParams({ entity: entity.name, ...request.parameters });
    history.replaceState(null, "", `#/query?${kept.toString()}`);
    showRows(app, rows, request, form.blame);
  };
  asked();
  return h(
    "div",
    {},
    h("h1", {}, t("query")),
    h(
      "form",
      { class: "question", "aria-label": t("build"), submit, input: asked, change: asked, novalidate: true },
      field(t("entity"), entitySelect(app, entity)),
      ...form.elements,
      h(
        "div",
        { class: "acts wide" },
        h("button", { class: "primary" }, t("run")),
        downloader(app, opener, form.blame),
      ),
    ),
    panel,
    rows,
  );
};

function entitySelect(app: App, entity: CatalogEntity): HTMLSelectElement {
  const { t, entities } = app;
  const change = (event: Event): void => {
    location.hash = `#/query?entity=${(event.target as HTMLSelectElement).value}`;
  };
  return h(
    "select",
    { change },
    ...groups.map(([store, key]) =>
      h(
        "optgroup",
        { label: t(key) },
        ...entities
          .filter((one) => one.store === store)
          .map((one) =>
            h("option", { value: one.name, selected: one === entity }, `${one.name} · ${titleOf(app, one)}`),
          ),
      ),
    ),
  );
}
