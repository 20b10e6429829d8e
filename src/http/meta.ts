// GET /api/v1/meta: what there is, from the manifest alone, and whether it can be read at the moment.
import type { RequestHandler } from "express";
import { ENTITIES } from "../catalog/index.js";
import { collectParameters } from "../query/parameters.js";
import { mayRead, tokenOf } from "./auth.js";
import type { Context } from "./context.js";
import { findSnapshot, searchOf } from "./lookup.js";
import { sendJson } from "./respond.js";

export function metaHandler(context: Context): RequestHandler {
  return async (req, res) => {
    collectParameters(searchOf(req), []);
    const snapshot = await findSnapshot(context, res, null);
    // A full table without dates holds what was true on the day of its version.
    const today = snapshot.version.data_version.slice(0, 10).replaceAll("-", "");
    const { absent } = context.lake.faults();
    const entities = Object.fromEntries(
      ENTITIES.filter((entity) => mayRead(tokenOf(res), entity.name)).map((entity) => {
        const { rows, first, last } = snapshot.files(entity.name);
        if (rows === 0) return [entity.name, { entity: entity.name, available: false }];
        const dates = { data_start: first ?? today, data_end: last ?? today };
        return [entity.name, { entity: entity.name, available: !absent.includes(entity.name), ...dates, rows }];
      }),
    );
    const { data_version } = snapshot.version;
    await sendJson(req, res, { data_version, entities }, { data_version, entities });
  };
}
