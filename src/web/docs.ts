// The reference of the API: the description of this server, where requests can be tried with the token of this tab.
import { addressOf, token } from "./api.js";

interface SwaggerUi {
  preauthorizeApiKey(scheme: string, value: string): void;
}

declare const SwaggerUIBundle: (options: Readonly<Record<string, unknown>>) => SwaggerUi;

const ui = SwaggerUIBundle({
  url: addressOf("openapi.json"),
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  // Nothing is sent to a host that checks descriptions.
  validatorUrl: null,
  onComplete: () => {
    const secret = token.get();
    if (secret !== null) ui.preauthorizeApiKey("bearer", secret);
  },
});
