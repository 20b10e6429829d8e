// Panels: GET /api/v1/panel. The token must cover every entity of a panel.
import type { RequestHandler } from "express";
import { decodeCursor } from "../query/cursor.js";
import { parsePanelRequest, type PanelRequest } from "../query/panel.js";
import { planPanel } from "../query/panel-plan.js";
import { checkEntity, checkRight } from "./auth.js";
import type { Context } from "./context.js";
import { searchOf, type SearchOf } from "./lookup.js";
import { answerRows, framingOf, type Source, wantedVersion } from "./rows.js";

export function panelHandler(context: Context, search: SearchOf = searchOf): RequestHandler {
  return async (req, res) => {
    const request = parsePanelRequest(search(req), context.config);
    checkEntity(res, request.entity.name);
    for (const { entity } of request.fields) checkRight(res, entity, "a panel needs every entity that it names");
    const framing = framingOf(req, request);
    const cursor = request.cursor === null ? null : decodeCursor(request, request.cursor);
    await answerRows(context, req, res, {
      request,
      source: panelOf(request),
      dataVersion: wantedVersion(request, cursor),
      after: cursor?.position ?? null,
      ...framing,
    });
  };
}

const panelOf = (request: PanelRequest): Source => ({
  name: "panel",
  file: "panel",
  parts: ({ lists }) => [...new Set(request.fields.map(({ entity }) => entity))].map((entity) => lists[entity] ?? null),
  plan: (page, snapshot, after) => planPanel({ ...request, ...page }, (name) => snapshot.files(name), after),
  parameter: "data_version",
});
