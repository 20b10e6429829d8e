// The reference of the API: the description of this server, where requests can be tried with the token of this tab.
// Swagger UI has English labels only; what comes from the catalog is shown in the language of the page.
import { addressOf, token } from "./api.js";
import { inChinese } from "./openapi-chinese.js";
import { COLOURS_CHANGED, isDark, settings } from "./settings.js";
import { textsOf } from "./texts.js";
import type { Catalog } from "./types.js";

interface SwaggerUi {
  preauthorizeApiKey(scheme: string, value: string): void;
}

/** A response of Swagger UI's own client. Its `text` becomes the description. */
interface Loaded {
  readonly url: string;
  text: string;
}

declare const SwaggerUIBundle: (options: Readonly<Record<string, unknown>>) => SwaggerUi;

const language = settings.language();
const t = textsOf(language);
document.documentElement.lang = language === "en" ? "en" : "zh-CN";
document.title = `Tapehouse: ${t("reference")}`;
document.querySelector(".back")!.append(` · ${t("referenceAbout")}`);

const showColours = (): void => void document.documentElement.classList.toggle("dark-mode", isDark());
document.addEventListener(COLOURS_CHANGED, showColours);
showColours();

const description = addressOf("openapi.json");
const catalog = async (): Promise<Catalog> => (await (await fetch(addressOf("web/catalog.json"))).json()) as Catalog;

const ui = SwaggerUIBundle({
  url: description,
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  // Nothing is sent to a host that checks descriptions.
  validatorUrl: null,
  responseInterceptor: async (loaded: Loaded) => {
    if (language === "zh" && loaded.url === description) loaded.text = inChinese(loaded.text, await catalog());
    return loaded;
  },
  onComplete: () => {
    const secret = token.get();
    if (secret !== null) ui.preauthorizeApiKey("bearer", secret);
  },
});
