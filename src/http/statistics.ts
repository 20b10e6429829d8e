// GET /api/v1/entities/<entity>/statistics: what the columns of an entity hold in a version.
import type { RequestHandler } from "express";
import { costOf } from "../query/scan.js";
import { parseStatisticsRequest } from "../query/statistics.js";
import { checkEntity } from "./auth.js";
import type { Context } from "./context.js";
import { findSnapshot, knownEntity, searchOf } from "./lookup.js";
import { requestSignal, sendJson } from "./respond.js";

export function statisticsHandler(context: Context): RequestHandler<{ entity: string }> {
  return async (req, res) => {
    const entity = knownEntity(req.params.entity);
    checkEntity(res, entity.name);
    const { columns, dataVersion } = parseStatisticsRequest(entity, searchOf(req));
    const snapshot = await findSnapshot(context, res, dataVersion);
    const answer = async (): Promise<object> => {
      const signal = requestSignal(res, context.config.deadline);
      await context.tokenAdmission.admit(res, costOf(snapshot.files(entity.name).rows), signal);
      return context.statistics.of(snapshot, entity, columns, signal);
    };
    const list = snapshot.version.lists[entity.name] ?? null;
    await sendJson(req, res, answer, [list, columns.map(({ name }) => name)]);
  };
}
