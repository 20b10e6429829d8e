// SQL over one version: GET and POST /api/v1/sql. The statement runs in a process of its own; this one checks the token and
// the files, and passes the bytes on.
import { createHash } from "node:crypto";
import type { Express, Request, RequestHandler, Response } from "express";
import { contentTypeOf, FORMATS } from "../catalog/formats.js";
import { Problem } from "../errors.js";
import { SQL } from "../lake/tokens.js";
import { parseSqlBody, parseSqlSearch, type SqlRequest } from "../query/sql-request.js";
import type { Side } from "../sql/messages.js";
import { withStatement } from "../sql/statement.js";
import { checkRight, mayRead } from "./auth.js";
import type { Context } from "./context.js";
import { nameFile, negotiateEncoding, negotiateFormat, sentNotModified } from "./headers.js";
import { findSnapshot, searchOf } from "./lookup.js";
import { endStage, notesOf } from "./observe.js";
import { readsJson, requireEmptySearch } from "./queries.js";
import { createAdmissions, type TokenAdmission } from "./limits.js";
import { requestSignal, sendBody } from "./respond.js";

type RequestOf = (req: Request) => SqlRequest;

/** Adds the routes to `app`; `before` are the handlers that check a token, `large` the one that admits large requests. */
export function addSqlRoutes(
  app: Express,
  context: Context,
  before: readonly RequestHandler[],
  large: RequestHandler,
): void {
  const { config } = context;
  const admissions = createAdmissions(mostOfToken(config.sqlProcesses), config.queue, tooMany);
  const inUrl = answerSql(context, admissions, (req) => parseSqlSearch(searchOf(req), config));
  const inBody = answerSql(context, admissions, (req) => {
    requireEmptySearch(req);
    return parseSqlBody(req.body as Uint8Array, config);
  });
  app
    .route("/api/v1/sql")
    .get([...before, large, inUrl])
    .post([...before, ...readsJson, large, inBody])
    .all(onlyGetAndPost);
}

/** One token leaves processes for others, where there are several. */
const mostOfToken = (processes: number): number => Math.max(1, Math.floor(processes / 2));

const tooMany = (): Problem =>
  new Problem("too_many_requests", "this token has too many statements waiting", {
    hint: "send fewer at a time",
    retryAfter: 5,
  });

const onlyGetAndPost: RequestHandler = (req, res) => {
  res.setHeader("Allow", "GET, HEAD, POST");
  throw new Problem("method_not_allowed", `${req.method} is not supported here: SQL is sent by GET or POST`);
};

function answerSql(context: Context, admissions: TokenAdmission, requestOf: RequestOf): RequestHandler {
  return async (req, res) => {
    if (!mayRead(res, SQL)) {
      throw new Problem("forbidden", "this token may not run SQL", {
        hint: "the operator creates a token for it with: tapehouse token create NAME --entities … --sql",
      });
    }
    const request = requestOf(req);
    const format = negotiateFormat(req, request);
    const encoding = FORMATS[format].isCompressed || request.compression !== null ? "identity" : negotiateEncoding(req);
    const snapshot = await findSnapshot(context, res, request.dataVersion, "data_version");
    const { sql, parameters, dates, compression, bom, limit, engine } = request;
    const form = { format, dates, compression, bom };
    if (sentNotModified(req, res, ["sql", snapshot.version.data_version, sql, parameters, limit, engine, form])) return;
    const signal = requestSignal(res, context.config.sqlDeadline);
    const deadline = context.now().getTime() + context.config.sqlDeadline;
    await admissions.admit(res, "light", signal);
    const answering = {
      ...{ ...form, encoding, limit, mostRows: context.config.sqlRows, deadline },
      dataVersion: snapshot.version.data_version,
      endFirst: !FORMATS[format].hasSummary,
    };
    const allow = (entities: readonly string[]): void => {
      for (const name of entities) checkRight(res, name, "a statement needs every entity that it names");
      endStage(res, "plan");
    };
    const onRows = (rows: number): void => void (notesOf(res).rows = rows);
    const statement = { asked: { sql, parameters }, engine, snapshot, answering, allow, onRows };
    await withStatement(context.sql, statement, signal, async ({ side, truncated, pieces }) => {
      setHead(res, request, { format, encoding, truncated, side });
      if (req.method === "HEAD") res.end();
      else await sendBody(res, pieces, signal);
    });
  };
}

interface Head {
  readonly format: keyof typeof FORMATS;
  readonly encoding: string;
  readonly truncated: boolean | null;
  readonly side: Side;
}

function setHead(res: Response, { sql, limit }: SqlRequest, { format, encoding, truncated, side }: Head): void {
  res.setHeader("Content-Type", contentTypeOf(format));
  if (encoding !== "identity") res.setHeader("Content-Encoding", encoding);
  res.setHeader("X-Engine", side);
  if (!FORMATS[format].hasSummary) res.setHeader("X-Truncated", String(limit !== null && truncated === true));
  nameFile(res, format, ["sql", createHash("sha256").update(sql).digest("hex").slice(0, 12)]);
}
