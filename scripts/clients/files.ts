// The files that are generated from the catalog, by path from the root of the repository.
import { ENTITIES } from "../../src/catalog/index.js";
import { pythonEntities } from "./python.js";
import { typescriptEntities, typescriptFormats } from "./typescript.js";

export const CLIENT_FILES: Readonly<Record<string, () => string>> = {
  "clients/python/src/tapehouse/_entities.py": () => pythonEntities(ENTITIES),
  "src/client/entities.ts": () => typescriptEntities(ENTITIES),
  "src/client/formats.ts": typescriptFormats,
};
