// The only path on which rows are served: version, plan, slot, session, body, send.
import type { Request, Response } from "express";
import type { Format } from "../catalog/formats.js";
import { REVISION } from "../encode/index.js";
import type { Encoder, Head, Summary } from "../encode/types.js";
import { readPage, type Page, type PageEnd } from "../engine/page.js";
import type { Rows, ReadSession } from "../engine/reader.js";
import type { FileList } from "../lake/manifest.js";
import { encodeCursor, fingerprint, type Position } from "../query/cursor.js";
import { rowsIn } from "../query/files.js";
import { planRead, type Plan } from "../query/plan.js";
import type { EntityRequest } from "../query/request.js";
import { givesStoredRows } from "../query/scan.js";
import { bodyOf, type Section } from "../segments/body.js";
import { PACKERS, type Encoding } from "../segments/packer.js";
import { checkRight } from "./auth.js";
import { sentNotModified } from "./headers.js";
import type { Context } from "./context.js";
import { findSnapshot } from "./lookup.js";
import { endStage, notesOf } from "./observe.js";
import { requestSignal, sendBody } from "./respond.js";

/** What is wanted for, and how it is answered. */
export interface RowsRequest {
  readonly request: EntityRequest;
  /** Name of the entity in the lake; the response may use another name. */
  readonly entityName: string;
  /** The version to read; null is the current one. */
  readonly dataVersion: string | null;
  /** The end of the previous page. */
  readonly after: Position | null;
  /** Rows to skip at the beginning. */
  readonly offset: number;
  readonly encoderOf: (head: Head) => Encoder;
  readonly contentType: string;
  readonly encoding: Encoding;
  /** The format, if the client may cache the response and the server its encoded rows; null if not. */
  readonly cachedFormat: Format | null;
  /** Whether headers say where the page ends, because the body does not. */
  readonly endInHeaders: boolean;
}

export async function answerRows(context: Context, req: Request, res: Response, wanted: RowsRequest): Promise<void> {
  const { request, entityName, after, offset, encoding, cachedFormat } = wanted;
  const { config, integrity, segments } = context;
  const snapshot = await findSnapshot(context, res, wanted.dataVersion);
  const dataVersion = snapshot.version.data_version;
  if (cachedFormat === null) res.setHeader("Cache-Control", "no-store");
  else {
    const factors = request.adjust === null ? [] : [request.entity.adjustment!.factors];
    const lists = [entityName, ...factors].map((name) => snapshot.version.lists[name] ?? null);
    if (sentNotModified(req, res, [lists, fingerprint(request), request.limit, after, cachedFormat])) return;
  }

  const signal = requestSignal(res, config.deadline);
  const page = { ...request, limit: request.limit === null ? null : offset + request.limit };
  const files = snapshot.files(entityName);
  const plan = planRead(page, files, after);
  endStage(res, "plan");
  await context.tokenAdmission.admit(res, plan.cost, signal);
  const adjusted = await context.adjustments.prepare(snapshot, page, after, signal);
  const encoder = wanted.encoderOf({ entity: request.entity.name, dataVersion, columns: request.columns });
  res.setHeader("Content-Type", wanted.contentType);
  if (encoding !== "identity") res.setHeader("Content-Encoding", encoding);
  const cursorOf = ({ last }: PageEnd): string | null =>
    last === null ? null : encodeCursor(request, { dataVersion, position: last });
  const session = await context.reader.open(signal, plan.cost);
  try {
    if (wanted.endInHeaders) {
      const end = await findEnd(session, request, files, after);
      setPageHeaders(res, end, cursorOf(end));
    }
    if (req.method === "HEAD") {
      // What GET would check before its first byte.
      await integrity.check([...(plan.scans[0]?.files ?? []), ...(adjusted?.files ?? [])]);
      res.end();
      return;
    }
    const { sections, endOf } =
      cachedFormat !== null && request.limit === null && !adjusted
        ? fullAnswer(context, plan, session, encoder.isReusable ? [cachedFormat, encoding] : null)
        : pageAnswer(plan, adjusted?.over(session) ?? session, request.limit, offset);
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

/** Throws `forbidden` if the request needs an entity of factors that the token does not cover. */
export function checkFactors(res: Response, { entity, adjust }: EntityRequest): void {
  if (adjust === null) return;
  const { factors } = entity.adjustment!;
  checkRight(res, factors, `adjust needs ${factors} in addition to ${entity.name}`);
}

/** Where a limited response will end, read from the key columns alone. */
async function findEnd(
  session: ReadSession,
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

interface RowsAnswer {
  readonly sections: Iterable<Section>;
  /** Where the response ended, once all sections are sent. */
  endOf(count: number): PageEnd;
}

/** Minimum number of rows of a cached segment: fewer are read about as fast as they are found in the cache. */
const LEAST_CACHED_ROWS = 50_000;

/** All rows of a plan. `form` is how they are encoded and packed; null if they cannot be cached. */
function fullAnswer(
  { integrity }: Context,
  { scans, columns }: Plan,
  rows: Rows,
  form: readonly unknown[] | null,
): RowsAnswer {
  const shape = columns.map(({ name, type }) => [name, type]);
  const sections = scans.map((scan): Section => {
    const files = scan.files.map(({ sha256 }) => sha256);
    const isCached = form !== null && givesStoredRows(scan) && rowsIn(scan.files) >= LEAST_CACHED_ROWS;
    return {
      read: () => rows.read([scan], columns, "all"),
      caching: isCached ? { key: [REVISION, ...form, files, shape], check: () => integrity.check(scan.files) } : null,
    };
  });
  return { sections, endOf: (count) => ({ count, truncated: false, last: null }) };
}

/** Rows of a plan that are never cached: adjusted ones, or at most `limit` after the first `offset`. */
function pageAnswer(plan: Plan, rows: Rows, limit: number | null, offset: number): RowsAnswer {
  let end: PageEnd = { count: 0, truncated: false, last: null };
  async function* read(): Page {
    return (end = yield* readPage(rows, plan, limit, offset));
  }
  return { sections: [{ read, caching: null }], endOf: () => end };
}
