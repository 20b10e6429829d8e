// All rows of a query as a file, in the format of choice. A response that is cut becomes no file.
import type { Parameters } from "./api.js";
import { troubleOf, type App } from "./app.js";
import { field, h } from "./dom.js";

/** Takes what is filled in, and returns how to ask for it with more parameters. */
export type Opener = () => (more: Parameters, signal: AbortSignal) => Promise<Response>;

/** A format to choose, and the parameters that ask for it. */
interface Choice {
  readonly label: string;
  readonly parameters: Parameters;
}

/** A choice of formats and a button. `blame` may take a refusal. */
export function downloader(app: App, opener: Opener, blame: (error: unknown) => boolean): HTMLElement {
  const { t, formats, signal } = app;
  const first = "csv";
  const choices: readonly Choice[] = [
    ...formats.map((name) => ({ label: name, parameters: { format: name } })),
    { label: t("csvForExcel"), parameters: { format: "csv", bom: "true" } },
  ];
  const format = h(
    "select",
    {},
    ...choices.map(({ label }) => h("option", { value: label, selected: label === first }, label)),
  );
  const button = h("button", { type: "button", click: () => press() }, t("download"));
  const progress = h("span", { class: "note" });
  const said = h("div", { role: "status" });
  let running: AbortController | undefined;
  signal.addEventListener("abort", () => running?.abort());

  const press = (): void => {
    if (running === undefined)
      void save(
        opener(),
        choices.find(({ label }) => label === format.value)!,
      );
    else running.abort();
  };

  const save = async (open: ReturnType<Opener>, chosen: Choice): Promise<void> => {
    const own = (running = new AbortController());
    button.textContent = t("cancel");
    said.replaceChildren();
    progress.textContent = t("downloading", { size: sizeText(0) });
    try {
      const answer = await open(chosen.parameters, own.signal);
      const file = await counted(answer, (bytes) => {
        progress.textContent = t("downloading", { size: sizeText(bytes) });
      });
      const name = nameOf(answer);
      offer(file, name);
      const key = answer.headers.get("X-Truncated") === "true" ? "downloadedPart" : "downloaded";
      said.replaceChildren(t(key, { name, size: sizeText(file.size) }));
    } catch (error) {
      if (!own.signal.aborted && !blame(error)) said.replaceChildren(troubleOf(app, error));
    }
    running = undefined;
    progress.textContent = "";
    button.textContent = t("download");
  };
  return h("div", { class: "download wide" }, field(t("format"), format), button, progress, said);
}

/** The name that the server suggests. */
const nameOf = (answer: Response): string =>
  /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")![1]!;

/** The whole body. Calls `received` with the number of bytes so far. */
function counted(answer: Response, received: (bytes: number) => void): Promise<Blob> {
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      received(bytes);
      controller.enqueue(chunk);
    },
  });
  return new Response(answer.body!.pipeThrough(counter)).blob();
}

function offer(file: Blob, name: string): void {
  const href = URL.createObjectURL(file);
  h("a", { href, download: name }).click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

const sizeText = (bytes: number): string =>
  bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
