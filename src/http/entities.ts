// GET /api/v1/entities/<entity>: reads the request from the URL and the headers.
import type { RequestHandler } from "express";
import { contentTypeOf, FORMATS } from "../catalog/formats.js";
import { ENCODERS } from "../encode/index.js";
import { Problem } from "../errors.js";
import { decodeCursor, type Cursor } from "../query/cursor.js";
import { parseRequest, type EntityRequest } from "../query/request.js";
import { checkEntity } from "./auth.js";
import type { Context } from "./context.js";
import { negotiateEncoding, negotiateFormat } from "./headers.js";
import { knownEntity, searchOf } from "./lookup.js";
import { answerRows, checkFactors } from "./rows.js";

export function entityHandler(context: Context): RequestHandler<{ entity: string }> {
  return async (req, res) => {
    const entity = knownEntity(req.params.entity);
    checkEntity(res, entity.name);
    const request = parseRequest(entity, searchOf(req), context.config);
    checkFactors(res, request);
    const format = negotiateFormat(req, request.format);
    const cursor = request.cursor === null ? null : decodeCursor(request, request.cursor);
    await answerRows(context, req, res, {
      request,
      entityName: entity.name,
      dataVersion: wantedVersion(request, cursor),
      after: cursor?.position ?? null,
      offset: 0,
      encoderOf: ENCODERS[format],
      contentType: contentTypeOf(format),
      encoding: negotiateEncoding(req, format),
      cachedFormat: format,
      endInHeaders: !FORMATS[format].hasSummary,
    });
  };
}

/** A cursor fixes its version, so it cannot be combined with another one. */
function wantedVersion(request: EntityRequest, cursor: Cursor | null): string | null {
  const { dataVersion } = request;
  if (cursor && dataVersion !== null && dataVersion !== cursor.dataVersion) {
    throw new Problem("contradictory_parameters", "the cursor belongs to another data_version", {
      parameter: "data_version",
      hint: "leave data_version out: the cursor contains it",
    });
  }
  return cursor?.dataVersion ?? dataVersion;
}
