// The one way in which rows are served, whoever asks: version, plan, slot, session, body, send.
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
import { answeredFromCache } from "./headers.js";
import type { Context } from "./context.js";
import { findSnapshot } from "./lookup.js";
import { endStage, notesOf } from "./observe.js";
import { requestSignal, sendBody } from "./respond.js";

/** What is asked for, and how it is answered. */
export interface Asked {
  readonly request: EntityRequest;
  /** Name of the entity in the lake: a request may show it under another one. */
  readonly source: string;
  /** The version to read; null is the current one. */
  readonly dataVersion: string | null;
  /** Where the page before ended. */
  readonly after: Position | null;
  /** Rows left out at the beginning. */
  readonly offset: number;
  readonly encoderOf: (head: Head) => Encoder;
  readonly contentType: string;
  readonly encoding: Encoding;
  /** The format where clients may keep the answer, and the server its encoded rows; null where nobody may. */
  readonly kept: Format | null;
  /** Whether headers say where the answer ends, because its body does not. */
  readonly endInHeaders: boolean;
}

export async function answerRows(context: Context, req: Request, res: Response, asked: Asked): Promise<void> {
  const { request, source, after, offset, encoding, kept } = asked;
  const { config, integrity, segments } = context;
  const snapshot = await findSnapshot(context, res, asked.dataVersion);
  const dataVersion = snapshot.version.data_version;
  if (kept === null) res.setHeader("Cache-Control", "no-store");
  else {
    const factors = request.adjust === null ? [] : [request.entity.adjustment!.factors];
    const lists = [source, ...factors].map((name) => snapshot.version.lists[name] ?? null);
    if (answeredFromCache(req, res, [lists, fingerprint(request), request.limit, after, kept])) return;
  }

  const signal = requestSignal(res, config.deadline);
  const page = { ...request, limit: request.limit === null ? null : offset + request.limit };
  const files = snapshot.files(source);
  const plan = planRead(page, files, after);
  endStage(res, "plan");
  await context.tokenAdmission.admit(res, plan.cost, signal);
  const adjusted = await context.adjustments.prepare(snapshot, page, after, signal);
  const encoder = asked.encoderOf({ entity: request.entity.name, dataVersion, columns: request.columns });
  res.setHeader("Content-Type", asked.contentType);
  if (encoding !== "identity") res.setHeader("Content-Encoding", encoding);
  const cursorOf = ({ last }: PageEnd): string | null =>
    last === null ? null : encodeCursor(request, { dataVersion, position: last });
  const session = await context.reader.open(signal, plan.cost);
  try {
    if (asked.endInHeaders) {
      const end = await findEnd(session, request, files, after);
      setPageHeaders(res, end, cursorOf(end));
    }
    if (req.method === "HEAD") {
      // What GET would find out before its first byte.
      await integrity.check([...(plan.scans[0]?.files ?? []), ...(adjusted?.files ?? [])]);
      res.end();
      return;
    }
    const { sections, endOf } =
      kept !== null && request.limit === null && !adjusted
        ? wholeAnswer(context, plan, session, encoder.isReusable ? [kept, encoding] : null)
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

/** Throws `forbidden` where the request needs an entity of factors that the token does not cover. */
export function checkFactors(res: Response, { entity, adjust }: EntityRequest): void {
  if (adjust === null) return;
  const { factors } = entity.adjustment!;
  checkRight(res, factors, `adjust needs ${factors} beside ${entity.name}`);
}

/** Where a limited answer will end, read from the key columns alone. */
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

interface Answer {
  readonly sections: Iterable<Section>;
  /** Where the answer ended, once all sections are sent. */
  endOf(count: number): PageEnd;
}

/** Rows of a section that is worth keeping: fewer are read about as fast as they are found. */
const WORTH_KEEPING = 50_000;

/** All rows of a plan. `form` is how they are encoded and packed; null where encoded rows cannot be used again. */
function wholeAnswer(
  { integrity }: Context,
  { scans, columns }: Plan,
  rows: Rows,
  form: readonly unknown[] | null,
): Answer {
  const shape = columns.map(({ name, type }) => [name, type]);
  const sections = scans.map((scan): Section => {
    const files = scan.files.map(({ sha256 }) => sha256);
    const isKept = form !== null && givesStoredRows(scan) && rowsIn(scan.files) >= WORTH_KEEPING;
    return {
      read: () => rows.read([scan], columns, "all"),
      keeping: isKept ? { key: [REVISION, ...form, files, shape], check: () => integrity.check(scan.files) } : null,
    };
  });
  return { sections, endOf: (count) => ({ count, truncated: false, last: null }) };
}

/** Rows of a plan that are read each time: adjusted, or at most `limit` of them after the first `offset`. */
function pageAnswer(plan: Plan, rows: Rows, limit: number | null, offset: number): Answer {
  let end: PageEnd = { count: 0, truncated: false, last: null };
  async function* read(): Page {
    return (end = yield* readPage(rows, plan, limit, offset));
  }
  return { sections: [{ read, keeping: null }], endOf: () => end };
}
