// GET /api/v1/meta and GET /api/v1/versions, from the manifest alone.
import type { RequestHandler } from "express";
import { ENTITIES } from "../catalog/index.js";
import { collectParameters } from "../query/parameters.js";
import { mayRead, tokenOf } from "./auth.js";
import type { Context } from "./context.js";
import { findSnapshot, searchOf } from "./lookup.js";
import { sendJson } from "./respond.js";

/** All entities that the token covers, and whether they can be read at the moment. */
export function metaHandler(context: Context): RequestHandler {
  return async (req, res) => {
    collectParameters(searchOf(req), []);
    const snapshot = await findSnapshot(context, res, null);
    // An entity without dates describes the day of its version.
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

/** The versions that can be read. They name no entity, so any token may ask. */
export function versionsHandler(context: Context): RequestHandler {
  return async (req, res) => {
    collectParameters(searchOf(req), []);
    const { version } = await findSnapshot(context, res, null);
    const { data_version } = version;
    const kept = (await context.lake.versions()).map((one) => one.data_version).reverse();
    // Leaves out a version that was published in the meantime.
    const answer = { data_version, versions: kept.filter((one) => one <= data_version) };
    await sendJson(req, res, answer, answer);
  };
}
