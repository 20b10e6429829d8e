// Rows of an entity, and the only path on which rows are served: version, plan, slot, session, body, send.
import type { Request, Response, RequestHandler } from "express";
import { type Format, contentTypeOf, FORMATS } from "../catalog/formats.js";
import { LOOKUPS } from "../catalog/types.js";
import { encoderFor } from "../encode/index.js";
import type { Encoder, Head, SomePieces, Summary } from "../encode/types.js";
import { readPage, type PageEnd } from "../engine/page.js";
import type { ReadSession } from "../engine/reader.js";
import type { Snapshot } from "../lake/lake.js";
import type { Version } from "../lake/manifest.js";
import { isSchedule, scheduledDays } from "../query/as-of.js";
import { encodeCursor, fingerprint, type Position, decodeCursor, type Cursor } from "../query/cursor.js";
import { lookedUpColumns } from "../query/lookups.js";
import { neededGroups } from "../query/row-groups.js";
import { planRows } from "../query/rows.js";
import type { Plan } from "../query/plan.js";
import { type EntityRequest, parseRequest } from "../query/request.js";
import { bodyOf } from "../segments/body.js";
import { PACKERS, STORED_AS, type Encoding } from "../segments/packer.js";
import { checkRight, checkEntity } from "./auth.js";
import { fileParts } from "./file-name.js";
import { nameFile, negotiateEncoding, negotiateFormat, sentNotModified } from "./headers.js";
import type { Context } from "./context.js";
import { findSnapshot, knownEntity, searchOf, type SearchOf } from "./lookup.js";
import { endStage, notesOf } from "./observe.js";
import { requestSignal, sendBody } from "./respond.js";
import { fullAnswer, pageAnswer } from "./sections.js";
import { Problem } from "../errors.js";

/** GET /api/v1/entities/<entity>: reads the request from the URL, or from where `search` finds it, and the headers. */
export function entityHandler(context: Context, search: SearchOf = searchOf): RequestHandler<{ entity: string }> {
  return async (req, res) => {
    const entity = knownEntity(req.params.entity);
    checkEntity(res, entity.name);
    const request = parseRequest(entity, search(req as Request), context.config);
    checkOthers(res, request);
    const framing = framingOf(req, request);
    const cursor = request.cursor === null ? null : decodeCursor(request, request.cursor);
    await answerRows(context, req, res, {
      request,
      source: rowsOfVersion(entity.name),
      dataVersion: wantedVersion(request, cursor),
      after: cursor?.position ?? null,
      ...framing,
    });
  };
}

/** How a response is written, for requests with a `format`. */
export function framingOf(req: Request, request: EntityRequest) {
  const format = negotiateFormat(req, request);
  const isCompressed = FORMATS[format].isCompressed || request.compression !== null;
  return {
    offset: 0,
    encoderOf: encoderFor(format, request),
    contentType: contentTypeOf(format),
    encoding: isCompressed ? "identity" : negotiateEncoding(req),
    cachedFormat: format,
    endInHeaders: !FORMATS[format].hasSummary,
  };
}

/** The compression if there is one: what has none keeps its validators and its place in the cache. */
const compressionOf = ({ compression }: EntityRequest): readonly string[] =>
  compression === null ? [] : [compression];

/** A cursor fixes its version, so it cannot be combined with another one. `parameter` is the one that names it. */
export function wantedVersion(
  { dataVersion }: EntityRequest,
  cursor: Cursor | null,
  parameter: "data_version" | "to" = "data_version",
): string | null {
  if (cursor && dataVersion !== null && dataVersion !== cursor.dataVersion) {
    throw new Problem("contradictory_parameters", "the cursor belongs to another data_version", {
      parameter,
      hint: `leave ${parameter} out: the cursor contains it`,
    });
  }
  return cursor?.dataVersion ?? dataVersion;
}

/** What is read of a version. */
export interface Source {
  /** What the response calls it. */
  readonly name: string;
  /** What the name of a file with the response begins with. */
  readonly file: string;
  /** What the rows depend on, e.g. the hashes of file lists. */
  parts(version: Version): readonly unknown[];
  /** The plan of a page: columns of the request, rows after the previous page. */
  plan(page: EntityRequest, snapshot: Snapshot, after: Position | null): Plan;
  /** The parameter that names the version. */
  readonly parameter: "data_version" | "to";
}

/** The rows of an entity. */
export const rowsOfVersion = (entityName: string): Source => ({
  name: entityName,
  file: entityName,
  parts: ({ lists }) => [lists[entityName] ?? null],
  plan: (page, snapshot, after) => planRows(page, snapshot.files(entityName), (name) => snapshot.files(name), after),
  parameter: "data_version",
});

/** Which rows are sent, and how. */
interface RowsRequest {
  readonly request: EntityRequest;
  readonly source: Source;
  /** The version to read; null is the current one. */
  readonly dataVersion: string | null;
  /** The end of the previous page. */
  readonly after: Position | null;
  /** Rows to skip at the beginning. */
  readonly offset: number;
  readonly encoderOf: (head: Head) => Encoder<SomePieces>;
  readonly contentType: string;
  readonly encoding: Encoding;
  /** The format, if the client may cache the response and the server its encoded rows; null if not. */
  readonly cachedFormat: Format | null;
  /** Whether headers say where the page ends, because the body does not. */
  readonly endInHeaders: boolean;
}

export async function answerRows(context: Context, req: Request, res: Response, wanted: RowsRequest): Promise<void> {
  const { request: asked, source, after, offset, encoding, cachedFormat } = wanted;
  const { config, integrity, segments } = context;
  const snapshot = await findSnapshot(
    context,
    res,
    wanted.dataVersion,
    asked.cursor === null ? source.parameter : "cursor",
  );
  const dataVersion = snapshot.version.data_version;
  if (cachedFormat === null) res.setHeader("Cache-Control", "no-store");
  else {
    const others = neededBeside(asked).flatMap(({ names }) =>
      names.map((name) => snapshot.version.lists[name] ?? null),
    );
    const lists = [...source.parts(snapshot.version), ...others];
    // The cursor in a page contains the version.
    const page = asked.limit === null ? null : [asked.limit, dataVersion];
    const form = [cachedFormat, asked.bom, ...compressionOf(asked)];
    if (sentNotModified(req, res, [lists, fingerprint(asked), page, after, ...form])) return;
  }

  const signal = requestSignal(res, config.deadline);
  const request = isSchedule(asked.asOfDays)
    ? { ...asked, asOfDays: scheduledDays(asked.asOfDays, await context.calendars.of(snapshot, signal)) }
    : asked;
  const withSkipped = { ...request, limit: request.limit === null ? null : offset + request.limit };
  const plan = source.plan(withSkipped, snapshot, after);
  endStage(res, "plan");
  await context.tokenAdmission.admit(res, plan.cost, signal);
  const adjusted = await context.adjustments.prepare(snapshot, withSkipped, after, signal);
  const encoder = wanted.encoderOf({
    entity: source.name,
    dataVersion,
    columns: request.columns,
    dates: request.dates,
  });
  res.setHeader("Content-Type", wanted.contentType);
  if (encoding !== "identity") res.setHeader("Content-Encoding", encoding);
  if (cachedFormat !== null)
    nameFile(res, cachedFormat, [source.file, ...fileParts(asked), dataVersion.split("+")[0]!]);
  const cursorOf = ({ last }: PageEnd): string | null =>
    last === null ? null : encodeCursor(asked, { dataVersion, position: last });
  const session = await context.reader.open(signal, plan.cost, request.limit === null ? plan.scans : []);
  try {
    if (wanted.endInHeaders) {
      const end = await findEnd(session, request.limit, source.plan({ ...request, columns: [] }, snapshot, after));
      setPageHeaders(res, end, cursorOf(end));
    }
    if (req.method === "HEAD") {
      // What GET would check before its first byte.
      for (const scan of plan.scans.slice(0, 1)) {
        await integrity.check(scan.files, neededGroups(scan));
        await integrity.check(adjusted?.of([scan]).files ?? []);
      }
      res.end();
      return;
    }
    const { sections, endOf } =
      cachedFormat !== null && request.limit === null && plan.positionColumns === 0
        ? fullAnswer(
            context,
            plan,
            { session, adjusted },
            {
              ...{ encoder, format: cachedFormat, dates: request.dates },
              kept: [cachedFormat, STORED_AS[encoding], request.dates, ...compressionOf(request)],
              isPacked: STORED_AS[encoding] !== "identity" || request.compression !== null,
            },
          )
        : pageAnswer(plan, adjusted?.over(session, plan.scans) ?? session, request.limit, offset);
    const summarise = (count: number): Summary => {
      const end = endOf(count);
      return { count, truncated: end.truncated, nextCursor: cursorOf(end) };
    };
    const onRows = (rows: number): void => void (notesOf(res).rows = rows);
    const body = bodyOf(sections, { encoder, packer: PACKERS[encoding](), store: segments, onRows, summarise });
    await sendBody(res, body, signal);
  } finally {
    session.close();
  }
}

/** Throws `forbidden` if the request needs another entity that the token does not cover. */
export function checkOthers(res: Response, request: EntityRequest): void {
  for (const { names, needs } of neededBeside(request)) {
    for (const name of names) checkRight(res, name, needs);
  }
}

/** The entities that a request needs in addition to its own, and what needs them. */
function neededBeside(
  request: EntityRequest,
): readonly { readonly names: readonly string[]; readonly needs: string }[] {
  const { entity, adjust, asOfDays } = request;
  const lookedUp = lookedUpColumns(request).map(({ name, lookup }) => {
    const names = LOOKUPS[lookup];
    return { names, needs: `${name} needs ${names.join(" and ")}; leave ${name} out` };
  });
  if (isSchedule(asOfDays)) {
    return [...lookedUp, { names: ["trade_cal"], needs: `as_of_days needs trade_cal in addition to ${entity.name}` }];
  }
  if (adjust === null) return lookedUp;
  const { factors, days } = entity.adjustment!;
  const names = [factors, ...(days ? [days.entity] : [])];
  return [...lookedUp, { names, needs: `adjust needs ${names.join(" and ")} in addition to ${entity.name}` }];
}

/**
 * Where a limited response will end, for its headers. They are sent before the body, so the page is read twice: first
 * with a plan that may leave out every column but the position, because keeping all its rows until its end is known would
 * take too much memory.
 */
async function findEnd(session: ReadSession, limit: number | null, plan: Plan): Promise<PageEnd> {
  if (limit === null) return { count: 0, truncated: false, last: null };
  const page = readPage(session, plan, limit);
  for (;;) {
    const { done, value } = await page.next();
    if (done) return value;
  }
}

function setPageHeaders(res: Response, { truncated }: PageEnd, nextCursor: string | null): void {
  res.setHeader("X-Truncated", String(truncated));
  if (nextCursor !== null) res.setHeader("X-Next-Cursor", nextCursor);
}
