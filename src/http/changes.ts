// What differs between versions of an entity: GET /api/v1/entities/<entity>/changes and /versions.
import type { Request, RequestHandler } from "express";
import type { Snapshot } from "../lake/lake.js";
import { parseChangesRequest, planChanges } from "../query/changes.js";
import { decodeCursor } from "../query/cursor.js";
import { collectParameters, integer, single } from "../query/parameters.js";
import { parseVersion } from "../query/request.js";
import { checkEntity } from "./auth.js";
import type { Context } from "./context.js";
import { findSnapshot, knownEntity, searchOf, type SearchOf } from "./lookup.js";
import { requestSignal, sendJson } from "./respond.js";
import { answerRows, framingOf, wantedVersion, type Source } from "./rows.js";

export function changesHandler(context: Context, search: SearchOf = searchOf): RequestHandler<{ entity: string }> {
  return async (req, res) => {
    const entity = knownEntity(req.params.entity);
    checkEntity(res, entity.name);
    const request = parseChangesRequest(entity, search(req as Request), context.config);
    const framing = framingOf(req, request);
    const cursor = request.cursor === null ? null : decodeCursor(request, request.cursor);
    const older = await findSnapshot(context, res, request.from, "from");
    await answerRows(context, req, res, {
      request,
      source: changesSince(older, entity.name),
      dataVersion: wantedVersion(request, cursor, "to"),
      after: cursor?.position ?? null,
      ...framing,
    });
  };
}

/** How many versions are compared unless `limit` says otherwise, and at most. */
const COMPARED = { usual: 10, most: 50 } as const;

/** GET /api/v1/entities/<entity>/versions: what each of the newest versions changed in an entity. */
export function historyHandler(context: Context): RequestHandler<{ entity: string }> {
  return async (req, res) => {
    const entity = knownEntity(req.params.entity);
    checkEntity(res, entity.name);
    const parameters = collectParameters(searchOf(req), ["limit", "data_version"]);
    const limit = single(parameters, "limit", integer(1, COMPARED.most)) ?? COMPARED.usual;
    const snapshot = await findSnapshot(context, res, single(parameters, "data_version", parseVersion));
    const signal = requestSignal(res, context.config.deadline);
    await context.tokenAdmission.admit(res, "heavy", signal);
    const versions = await context.history.of(context.lake, snapshot, entity, limit, signal);
    const answer = { entity: entity.name, data_version: snapshot.version.data_version, versions };
    // The current version changes with other entities too, so it is no part of the validator.
    await sendJson(req, res, answer, [entity.name, versions]);
  };
}

const changesSince = (older: Snapshot, entityName: string): Source => ({
  name: entityName,
  file: `${entityName}_changes_since_${older.version.data_version.split("+")[0]!}`,
  parts: ({ lists }) => [older.version.lists[entityName] ?? null, lists[entityName] ?? null],
  plan: (page, newer, after) => planChanges(page, older.files(entityName), newer.files(entityName), after),
  parameter: "to",
});
