// The names of serving copies: those of the data files, and what the layout depends on.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { entityNamed } from "../catalog/index.js";
import { REVISION } from "./layout.js";

const endings = new Map<string, string>();

/** Copies of another layout or of other columns have another ending. */
function endingOf(entityName: string): string {
  const known = endings.get(entityName);
  if (known !== undefined) return known;
  const entity = entityNamed(entityName);
  const columns = entity?.columns.map(({ name, type }) => [name, type]);
  const depends = JSON.stringify([REVISION, columns, entity?.mainDate, entity?.code]);
  const ending = `.${createHash("sha256").update(depends).digest("hex").slice(0, 8)}.arrow`;
  endings.set(entityName, ending);
  return ending;
}

/** Where the copy of a data file is; `path` is relative to the lake folder. */
export function copyPath(folder: string, path: string): string {
  const [entity = ""] = path.split("/");
  return join(folder, path.replace(/\.parquet$/, endingOf(entity)));
}

/** The data file of a copy with this path, relative to the folder; null if the copy is unfinished or of another layout. */
export function sourceOf(path: string): string | null {
  const [entity = ""] = path.split("/");
  const ending = endingOf(entity);
  return path.endsWith(ending) ? `${path.slice(0, -ending.length)}.parquet` : null;
}

/** Whether a file has the name of a copy, also of an unfinished one or of another layout. */
export const isCopy = (path: string): boolean =>
  entityNamed(path.split("/")[0]!) !== undefined &&
  /[-/][0-9a-f]{16}\.[0-9a-f]{8}\.arrow(\.[0-9a-f-]+\.part)?$/.test(path);
