// What can be read and how the server is: GET /api/v1/meta and GET /api/v1/versions, from the manifest alone; and for
// monitoring GET /health and GET /metrics.
import type { RequestHandler } from "express";
import { ENTITIES } from "../catalog/index.js";
import { collectParameters } from "../query/parameters.js";
import { mayRead, checkRight } from "./auth.js";
import type { Context } from "./context.js";
import { findSnapshot, searchOf } from "./lookup.js";
import { sendJson } from "./respond.js";
import { STORES, type Entity, type Store } from "../catalog/types.js";
import { METRICS, SQL } from "../lake/tokens.js";
import { renderMetrics } from "./metrics.js";

/** All entities that the token covers, whether they can be read at the moment, and whether it may run SQL. */
export function metaHandler(context: Context): RequestHandler {
  return async (req, res) => {
    collectParameters(searchOf(req), []);
    const snapshot = await findSnapshot(context, res, null);
    // An entity without dates describes the day of its version.
    const today = snapshot.version.data_version.slice(0, 10).replaceAll("-", "");
    const { absent } = context.lake.faults();
    const covered = ENTITIES.filter((entity) => mayRead(res, entity.name));
    const entities = Object.fromEntries(
      covered.map((entity) => {
        const { rows, first, last } = snapshot.files(entity.name);
        if (rows === 0) return [entity.name, { entity: entity.name, available: false }];
        const dates = { data_start: first ?? today, data_end: last ?? today };
        return [entity.name, { entity: entity.name, available: !absent.includes(entity.name), ...dates, rows }];
      }),
    );
    const { data_version } = snapshot.version;
    const point_in_time = Object.fromEntries(covered.map((entity) => [entity.name, pointInTimeOf(entity)]));
    const sql = context.config.sqlProcesses === 0 ? "off" : mayRead(res, SQL) ? "available" : "forbidden";
    const answer = { data_version, entities, point_in_time, sql };
    await sendJson(req, res, answer, answer);
  };
}

/** What `as_of`, `latest` and a panel mean for an entity, as the catalog has it. */
function pointInTimeOf({ pointInTime, revisions, panel }: Entity): object {
  const { rule = null, hides = [] } = pointInTime ?? {};
  const { columns = [], periodEnd = null } = pointInTime?.rule === "announced" ? pointInTime : {};
  return {
    rule,
    known_from: columns,
    period_end: periodEnd,
    hides: hides.map(({ column, knownFrom, before }) => ({ column, known_from: knownFrom, before })),
    revisions: revisions && { of: revisions.of, date: revisions.date, flag: revisions.flag ?? null },
    panel: panel?.by ?? null,
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

/**
 * GET /health, without a token. A store is true while the folder of each of its entities exists and no opened file is
 * damaged; `state` is true while the manifest can be read. What should be
 * done beside the workers is there only while it is not: `inbox` is not watched, or `bucket` cannot be followed.
 */
export function healthHandler({ integrity, lake, tokens, background }: Context): RequestHandler {
  return async (req, res) => {
    collectParameters(searchOf(req), []);
    const { state, absent } = lake.faults();
    const opened = lake.opened();
    const damaged = new Set<Store>(state === null && tokens.isSound() ? [] : ["state"]);
    for (const { name, store } of ENTITIES) {
      if (opened === null || absent.includes(name)) damaged.add(store);
      if (opened === null) continue;
      if ((await integrity.stillDamaged([opened.files(name)])).length > 0) damaged.add(store);
    }
    const missing = Object.entries(background()).filter(([, runs]) => !runs);
    res.setHeader("Cache-Control", "no-store");
    res.json({
      status: damaged.size === 0 && missing.length === 0 ? "ok" : "degraded",
      data_version: lake.mark().data_version,
      databases: Object.fromEntries(STORES.map((store) => [store, !damaged.has(store)])),
      ...Object.fromEntries(missing),
    });
  };
}

/**
 * GET /metrics, for Prometheus. A token with a list of entities needs `metrics` in it: the figures show what other
 * clients request.
 */
export function metricsHandler(context: Context): RequestHandler {
  return async (req, res) => {
    checkRight(res, METRICS);
    collectParameters(searchOf(req), []);
    const text = await renderMetrics(await context.gatherMetrics());
    res.setHeader("Cache-Control", "no-store");
    res.type("text/plain; version=0.0.4; charset=utf-8").send(text);
  };
}
