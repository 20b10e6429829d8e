// What the checks found: GET /api/v1/entities/<entity>/checks, from the manifest alone.
import type { RequestHandler } from "express";
import { checksOf } from "../catalog/checks.js";
import type { Check } from "../catalog/check-types.js";
import { collectParameters, single } from "../query/parameters.js";
import { parseVersion } from "../query/request.js";
import { checkEntity, mayRead } from "./auth.js";
import type { Context } from "./context.js";
import { findSnapshot, knownEntity, searchOf } from "./lookup.js";
import { sendJson } from "./respond.js";

/** The checks of an entity, each with what it found in a version. */
export function checksHandler(context: Context): RequestHandler<{ entity: string }> {
  return async (req, res) => {
    const { name } = knownEntity(req.params.entity);
    checkEntity(res, name);
    const parameters = collectParameters(searchOf(req), ["data_version"]);
    const snapshot = await findSnapshot(context, res, single(parameters, "data_version", parseVersion));
    const { findings = [] } = snapshot.files(name);
    const checks = checksOf(name).map((check) => {
      const found = findings.find((finding) => finding.check === check.id);
      const days = found?.days ?? [];
      return {
        ...{ check: check.id, severity: check.severity, says: check.says, chinese: check.chinese },
        counts: check.of === "rows" ? "rows" : "days",
        count: found?.count ?? 0,
        first: days[0]?.[0] ?? null,
        last: days.at(-1)?.[1] ?? null,
        examples: isVisible(check, (entity) => mayRead(res, entity)) ? (found?.examples ?? []) : [],
      };
    });
    const { data_version } = snapshot.version;
    const answer = { entity: name, data_version, checks };
    await sendJson(req, res, answer, answer);
  };
}

/** The entities whose values an example shows besides those of its row. */
const SHOWN = { calendar: null, previous: null, suspension: null, listing: "stock_list", limits: "stk_limit" } as const;

function isVisible(check: Check, mayReadEntity: (entity: string) => boolean): boolean {
  if (check.of !== "rows" || check.against === undefined) return true;
  const shown = SHOWN[check.against];
  return shown === null || mayReadEntity(shown);
}
