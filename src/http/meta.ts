// GET /api/v1/meta: what there is, from the manifest alone.
import type { RequestHandler } from "express";
import { ENTITIES } from "../catalog/index.js";
import { collectParameters } from "../query/parameters.js";
import { mayRead, searchOf, tokenOf } from "./auth.js";
import { answeredFromCache } from "./caching.js";
import type { Context } from "./context.js";

export function metaHandler(context: Context): RequestHandler {
  return (req, res) => {
    collectParameters(searchOf(req), []);
    const snapshot = context.lake.current();
    if (answeredFromCache(req, res, ["meta", snapshot.version.data_version, tokenOf(res).entities])) return;
    const entities = Object.fromEntries(
      ENTITIES.filter((entity) => mayRead(tokenOf(res), entity.name)).map((entity) => {
        const { rows, first, last } = snapshot.files(entity.name);
        const dates = first === null ? {} : { data_start: first, data_end: last };
        const found = rows === 0 ? { available: false } : { available: true, ...dates, rows };
        return [entity.name, { entity: entity.name, ...found }];
      }),
    );
    res.json({ data_version: snapshot.version.data_version, entities });
  };
}
