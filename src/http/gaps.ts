// GET /api/v1/entities/<entity>/gaps: computed and recorded gaps of one version.
import type { RequestHandler } from "express";
import { readRecordedGaps, type Gap } from "../lake/gaps.js";
import { parseGapRequest, selectGaps } from "../query/gap-request.js";
import { checkEntity } from "./auth.js";
import type { Context } from "./context.js";
import { setCovered } from "./headers.js";
import { findSnapshot, knownEntity, searchOf } from "./lookup.js";
import { requestSignal, sendJson } from "./respond.js";

export function gapsHandler(context: Context): RequestHandler<{ entity: string }> {
  return async (req, res) => {
    const entity = knownEntity(req.params.entity);
    checkEntity(res, entity.name);
    const request = parseGapRequest(entity, searchOf(req));
    const snapshot = await findSnapshot(context, res, request.dataVersion);
    const signal = requestSignal(res, context.config.deadline);
    await context.tokenAdmission.admit(res, "light", signal);
    // If the data directory was replaced in the meantime, the file just read may belong to another one.
    await context.lake.requireState();
    const recorded = (await readRecordedGaps(context.lake.layout.gaps)).filter(
      (gap) => gap.entity === entity.name && gap.resolved === null,
    );
    await context.lake.requireState();
    const found = await context.gaps.find(snapshot, entity, recorded, request, signal);
    const excused = selectGaps(entity, found.excused, request);
    const chosen = request.excused ? excused : selectGaps(entity, found.gaps, request);
    const gaps = chosen.map(({ ts_code, gap_start, gap_end, kind, ...rest }: Gap & { readonly reason?: string }) => ({
      ...{ entity: entity.name, ts_code, gap_start, gap_end, kind },
      ...(rest.reason === undefined ? {} : { reason: rest.reason }),
    }));
    const { covered } = found;
    res.setHeader("X-Excused-Gaps", excused.length);
    setCovered(res, covered);
    await sendJson(req, res, { entity: entity.name, gaps }, [gaps, covered, excused.length]);
  };
}
