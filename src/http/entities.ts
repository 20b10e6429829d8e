// GET /api/v1/entities/<entity>: parse, plan, read, encode, send.
import type { RequestHandler } from "express";
import { entityNamed, ENTITY_NAMES } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import { ENCODERS } from "../encode/index.js";
import type { Encoder } from "../encode/types.js";
import { readPage, type Page } from "../engine/page.js";
import { nearest, Problem } from "../errors.js";
import type { Snapshot } from "../lake/lake.js";
import { decodeCursor, encodeCursor, type Cursor } from "../query/cursor.js";
import { planRead } from "../query/plan.js";
import { parseRequest, type EntityRequest } from "../query/request.js";
import { checkEntity, searchOf } from "./auth.js";
import type { Context } from "./context.js";
import { requestSignal, sendBody } from "./respond.js";

export function entityHandler(context: Context): RequestHandler<{ entity: string }> {
  return async (req, res) => {
    const entity = knownEntity(req.params.entity);
    checkEntity(res, entity.name);
    const request = parseRequest(entity, searchOf(req), context.config);
    const cursor = request.cursor === null ? null : decodeCursor(request, request.cursor);
    const snapshot = await findSnapshot(context, wantedVersion(request, cursor));
    const plan = planRead(request, snapshot.files(entity.name), cursor?.position ?? null);
    const encoder = ENCODERS[request.format ?? "json"]({
      entity: entity.name,
      dataVersion: snapshot.version.data_version,
      columns: request.columns,
    });
    const signal = requestSignal(res, context.config.deadline);
    const page = readPage(context.reader, plan, request.limit, signal);
    res.setHeader("Content-Type", encoder.contentType);
    await sendBody(res, encodePage(page, encoder, request, snapshot), signal);
  };
}

/** The entity of this name, or a problem that names the nearest one. */
export function knownEntity(name: string): Entity {
  const entity = entityNamed(name);
  if (entity) return entity;
  const near = nearest(name, ENTITY_NAMES);
  throw new Problem("unknown_entity", `there is no entity ${JSON.stringify(name.slice(0, 60))}`, {
    allowed: ENTITY_NAMES,
    ...(near ? { hint: `did you mean ${near}?` } : {}),
  });
}

/** A cursor pins its version; asking for another one at the same time makes no sense. */
function wantedVersion(request: EntityRequest, cursor: Cursor | null): string | null {
  const { dataVersion } = request;
  if (cursor && dataVersion !== null && dataVersion !== cursor.dataVersion) {
    throw new Problem("contradictory_parameters", "the cursor belongs to another data_version", {
      parameter: "data_version",
      hint: "leave data_version out: the cursor keeps its own",
    });
  }
  return cursor?.dataVersion ?? dataVersion;
}

/** The snapshot of a version, the current one for null. Throws 404 for one that never was, 410 for one removed. */
export async function findSnapshot({ lake }: Context, dataVersion: string | null): Promise<Snapshot> {
  if (dataVersion === null) return lake.current();
  const found = await lake.at(dataVersion);
  if (found === "unknown") {
    throw new Problem("unknown_version", `there never was a data_version ${dataVersion}`, {
      parameter: "data_version",
    });
  }
  if (found === "removed") {
    throw new Problem("version_removed", `data_version ${dataVersion} was removed by vacuum`, {
      parameter: "data_version",
      hint: "leave data_version out to read the current one",
    });
  }
  return found;
}

async function* encodePage(
  page: Page,
  encoder: Encoder,
  request: EntityRequest,
  snapshot: Snapshot,
): AsyncGenerator<Uint8Array> {
  let step = await page.next();
  yield encoder.begin();
  try {
    while (!step.done) {
      yield encoder.batch(step.value);
      step = await page.next();
    }
  } finally {
    await page.return({ count: 0, truncated: false, last: null });
  }
  const { count, truncated, last } = step.value;
  const dataVersion = snapshot.version.data_version;
  const nextCursor = last === null ? null : encodeCursor(request, { dataVersion, position: last });
  yield encoder.end({ count, truncated, nextCursor });
}
