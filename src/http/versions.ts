// GET /api/v1/versions: the versions that can still be read. They tell no entity, so any token may ask.
import type { RequestHandler } from "express";
import { collectParameters } from "../query/parameters.js";
import type { Context } from "./context.js";
import { findSnapshot, searchOf } from "./lookup.js";
import { sendJson } from "./respond.js";

export function versionsHandler(context: Context): RequestHandler {
  return async (req, res) => {
    collectParameters(searchOf(req), []);
    const { version } = await findSnapshot(context, res, null);
    const { data_version } = version;
    const kept = (await context.lake.versions()).map((one) => one.data_version).reverse();
    // One may have been published meanwhile.
    const answer = { data_version, versions: kept.filter((one) => one <= data_version) };
    await sendJson(req, res, answer, answer);
  };
}
