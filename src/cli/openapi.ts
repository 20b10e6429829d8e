// tapehouse openapi
import { Command } from "commander";
import { openApi } from "../http/openapi/index.js";
import { packageVersion } from "../http/package.js";
import { printJson } from "./out.js";

export function openApiCommand(): Command {
  return new Command("openapi")
    .description("Print the OpenAPI 3.1 description of the API, which a server has at /openapi.json.")
    .addHelpText("after", "\nExample:\n  $ tapehouse openapi > openapi.json")
    .action(() => {
      printJson(openApi(packageVersion()), 2);
    });
}
