// GET /api/v1/entities/<entity>: parse, plan, read, encode, send.
import type { RequestHandler, Response } from "express";
import { entityNamed, ENTITY_NAMES } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import { ENCODERS } from "../encode/index.js";
import type { Summary } from "../encode/types.js";
import { readPage, type PageEnd } from "../engine/page.js";
import type { Session } from "../engine/reader.js";
import { nearest, Problem } from "../errors.js";
import type { Snapshot } from "../lake/lake.js";
import type { FileList } from "../lake/manifest.js";
import { decodeCursor, encodeCursor, fingerprint, type Cursor, type Position } from "../query/cursor.js";
import { quote } from "../query/parameters.js";
import { planRead } from "../query/plan.js";
import { parseRequest, type EntityRequest } from "../query/request.js";
import { bodyOf } from "../segments/body.js";
import { PACKERS } from "../segments/packer.js";
import { pageParts, wholeParts } from "./parts.js";
import { checkEntity, checkRight, searchOf } from "./auth.js";
import { answeredFromCache } from "./caching.js";
import type { Context } from "./context.js";
import { negotiateEncoding, negotiateFormat } from "./negotiate.js";
import { notesOf } from "./notes.js";
import { requestSignal, sendBody } from "./respond.js";
import { endStage } from "./timing.js";

export function entityHandler(context: Context): RequestHandler<{ entity: string }> {
  return async (req, res) => {
    const entity = knownEntity(req.params.entity);
    checkEntity(res, entity.name);
    const request = parseRequest(entity, searchOf(req), context.config);
    const factors = checkFactors(res, request);
    const format = negotiateFormat(req, request.format);
    const encoding = negotiateEncoding(req, format);
    const cursor = request.cursor === null ? null : decodeCursor(request, request.cursor);
    const snapshot = await findSnapshot(context, res, wantedVersion(request, cursor));
    const dataVersion = snapshot.version.data_version;
    const lists = [entity.name, ...(factors ? [factors] : [])].map((name) => snapshot.version.lists[name] ?? null);
    const question = [fingerprint(request), request.limit, cursor?.position ?? null, format];
    if (answeredFromCache(req, res, [lists, ...question])) return;

    const signal = requestSignal(res, context.config.deadline);
    const files = snapshot.files(entity.name);
    const after = cursor?.position ?? null;
    const plan = planRead(request, files, after);
    endStage(res, "plan");
    await context.tokenAdmission.admit(res, plan.cost, signal);
    const adjusted = await context.adjustments.prepare(snapshot, request, after, signal);
    const encoder = ENCODERS[format]({ entity: entity.name, dataVersion, columns: request.columns });
    res.setHeader("Content-Type", encoder.contentType);
    if (encoding !== "identity") res.setHeader("Content-Encoding", encoding);
    const cursorOf = ({ last }: PageEnd): string | null =>
      last === null ? null : encodeCursor(request, { dataVersion, position: last });
    const session = await context.reader.open(signal, plan.cost);
    try {
      if (format !== "json") {
        const end = await findEnd(session, request, files, after);
        setPageHeaders(res, end, cursorOf(end));
      }
      if (req.method === "HEAD") {
        // What GET would find out before its first byte.
        await context.integrity.check([...(plan.scans[0]?.files ?? []), ...(adjusted?.files ?? [])]);
        res.end();
        return;
      }
      const answer =
        request.limit === null && !adjusted
          ? wholeParts(plan, session, context.integrity, encoder.runsStandAlone ? [format, encoding] : null)
          : pageParts(plan, adjusted?.over(session) ?? session, request.limit);
      const summarise = (count: number): Summary => {
        const end = answer.end(count);
        return { count, truncated: end.truncated, nextCursor: cursorOf(end) };
      };
      const body = bodyOf(answer.parts, encoder, PACKERS[encoding](), context.segments, notesOf(res), summarise);
      await sendBody(res, body, { signal, stall: context.config.stall });
    } finally {
      session.close();
    }
  };
}

/** The entity of factors that the request needs, if any. Throws `forbidden` where the token does not cover it. */
export function checkFactors(res: Response, { entity, adjust }: EntityRequest): string | null {
  if (adjust === null) return null;
  const { factors } = entity.adjustment!;
  checkRight(res, factors, `adjust needs ${factors} beside ${entity.name}`);
  return factors;
}

/** Where a limited answer will end, read from the key columns alone: only JSON can say it after the rows. */
async function findEnd(
  session: Session,
  request: EntityRequest,
  files: FileList,
  after: Position | null,
): Promise<PageEnd> {
  if (request.limit === null) return { count: 0, truncated: false, last: null };
  const page = readPage(session, planRead({ ...request, columns: [] }, files, after), request.limit);
  for (;;) {
    const { done, value } = await page.next();
    if (done) return value;
  }
}

function setPageHeaders(res: Response, { truncated }: PageEnd, nextCursor: string | null): void {
  res.setHeader("X-Truncated", String(truncated));
  if (nextCursor !== null) res.setHeader("X-Next-Cursor", nextCursor);
}

/** The entity of this name, or a problem that names the nearest one. */
export function knownEntity(name: string): Entity {
  const entity = entityNamed(name);
  if (entity) return entity;
  const near = nearest(name, ENTITY_NAMES);
  throw new Problem("unknown_entity", `there is no entity ${quote(name)}`, {
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

/**
 * The snapshot of a version, the current one for null; the answer's header names it. Throws 404 for one that never was,
 * 410 for one removed.
 */
export async function findSnapshot({ lake }: Context, res: Response, dataVersion: string | null): Promise<Snapshot> {
  const found = dataVersion === null ? lake.current() : await lake.at(dataVersion);
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
  res.setHeader("X-Data-Version", found.version.data_version);
  return found;
}
