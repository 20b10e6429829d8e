// Looks up what a request names: the entity, the version, and the parameters in its URL.
import type { Request, Response } from "express";
import { ENTITY_NAMES, entityNamed } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import { Problem, nearest } from "../errors.js";
import type { Snapshot } from "../lake/lake.js";
import { printable } from "../words.js";
import { invalidParameter, quote } from "../query/parameters.js";
import type { Context } from "./context.js";

/** Where a request has its parameters. */
export type SearchOf = (req: Request) => URLSearchParams;

/** The query part of a request. Throws if it is not percent-encoded UTF-8, e.g. GBK. */
export function searchOf(req: Pick<Request, "originalUrl">): URLSearchParams {
  const at = req.originalUrl.indexOf("?");
  const text = at < 0 ? "" : req.originalUrl.slice(at + 1);
  for (const pair of text.split("&")) {
    if (isUtf8(pair)) continue;
    const [name = ""] = [...new URLSearchParams(pair).keys()];
    throw invalidParameter(printable(name), "it is not percent-encoded UTF-8", [
      "UTF-8, each byte as % and two hex digits",
    ]);
  }
  return new URLSearchParams(text);
}

function isUtf8(encoded: string): boolean {
  try {
    decodeURIComponent(encoded);
    return true;
  } catch {
    return false;
  }
}

/** The entity of this name. Throws a problem that names the nearest one. */
export function knownEntity(name: string): Entity {
  const entity = entityNamed(name);
  if (entity) return entity;
  const near = nearest(name, ENTITY_NAMES);
  throw new Problem("unknown_entity", `there is no entity ${quote(name)}`, {
    allowed: ENTITY_NAMES,
    ...(near ? { hint: `did you mean ${near}?` } : {}),
  });
}

/** The parameters that name a version. */
type VersionParameter = "data_version" | "from" | "to" | "cursor";

const WITHOUT_VERSION: Record<VersionParameter, string> = {
  data_version: "leave data_version out to read the current version",
  from: "give one of the versions in /api/v1/versions",
  to: "leave to out to read the current version",
  cursor: "begin again without the cursor, which belongs to that version",
};

/**
 * The snapshot of a version, or of the current one for null; sets the header that names it. `parameter` is the one that
 * named it. Throws 404 if the version never existed, 410 if it was removed.
 */
export async function findSnapshot(
  { lake }: Context,
  res: Response,
  dataVersion: string | null,
  parameter: VersionParameter = "data_version",
): Promise<Snapshot> {
  const found = dataVersion === null ? lake.current() : await lake.at(dataVersion);
  if (found === "unknown") {
    throw new Problem("unknown_version", `there has never been a data_version ${dataVersion}`, { parameter });
  }
  if (found === "removed") {
    const hint = WITHOUT_VERSION[parameter];
    throw new Problem("version_removed", `data_version ${dataVersion} is no longer kept`, { parameter, hint });
  }
  res.setHeader("X-Data-Version", found.version.data_version);
  return found;
}
