// Rows of an entity, read as a stream: complete, or an error.
import { decoder, type Body, parseJson, type Params, type Transport } from "./http.js";
import { IncompleteAnswerError, readable, TapehouseError } from "./errors.js";
import { MEDIA_TYPES, WITH_DATES } from "./formats.js";

/** Not JSON: it has its cursor in the body. */
export type BytesFormat = Exclude<keyof typeof MEDIA_TYPES, "json">;

const END_OF_ARROW = [255, 255, 255, 255, 0, 0, 0, 0];

export interface BytesOptions {
  /** Arrow and Parquet have dates, or with `text` the same `YYYYMMDD` text as the other formats. */
  readonly dates?: "date" | "text";
  /** `zstd`: the buffers of Arrow are compressed. The reader must have zstd, and the server Node 22.15 or later. */
  readonly compression?: "none" | "zstd";
}

/** The rows of one request, which is sent when they are read. */
export interface Rows<Row> extends AsyncIterable<Row> {
  /** The version that was read; null before reading. */
  readonly dataVersion: string | null;
  /** All rows in one array. */
  all(): Promise<Row[]>;
  /** The body as it arrives, for readers of Arrow, Parquet and CSV. It is not retried once it has begun. */
  bytes(format: BytesFormat, options?: BytesOptions): AsyncGenerator<Uint8Array, void>;
}

/** Rows of an entity or a panel. */
export interface Answer<Row> extends Rows<Row> {
  /** The cursor of the next page; null if there is none, and before reading. */
  readonly nextCursor: string | null;
  /** Pages of at most `limit` rows, all of one version. */
  pages(limit: number): AsyncGenerator<Row[], void>;
}

/** What is read, and the parameter that names its version. */
export interface Source {
  readonly name: string;
  /** Below `/api/v1/`. */
  readonly path: string;
  readonly version: "data_version" | "to";
}

export function createAnswer<Row>(
  transport: Transport,
  { name: entity, path: route, version: versionParameter }: Source,
  params: Params,
  signal?: AbortSignal,
): Answer<Row> {
  const path = `/api/v1/${route}`;
  let dataVersion: string | null = null;
  let nextCursor: string | null = null;

  const ask = async (request: Params, accept: string): Promise<Body> => {
    const body = await transport.rows(path, request, accept, signal);
    dataVersion = body.headers.get("X-Data-Version");
    nextCursor = body.headers.get("X-Next-Cursor");
    return body;
  };

  /**
   * A response that was cut off is requested again in the same version, and rows that were already returned are
   * skipped. If the server truncates every response to a limit of its own, the rest is requested too.
   */
  async function* rows(first: Params): AsyncGenerator<Row, void> {
    const retry = transport.retry();
    let request = first;
    let version: string | null = null;
    let done = 0;
    for (;;) {
      try {
        let skip = done;
        const body = await ask(request, MEDIA_TYPES.ndjson);
        if ((skip > 0 || request !== first) && version !== null && dataVersion !== version) {
          await body.cancel();
          throw new TapehouseError(`the server continued with a version other than ${readable(version)}`);
        }
        version = dataVersion;
        for await (const lines of linesOf(body)) {
          for (const line of lines) {
            if (skip > 0) {
              skip--;
              continue;
            }
            const row = rowOf(line);
            if (done === 0) requireColumns(row, entity, params.fields);
            done++;
            yield row as Row;
          }
          if (skip === 0) retry.progress();
        }
      } catch (error) {
        await retry.after(error);
        if (version !== null && request.cursor === undefined) request = { ...request, [versionParameter]: version };
        continue;
      }
      if (nextCursor === null || request.limit !== undefined) return;
      requireProgress(done, nextCursor, request);
      request = { ...request, cursor: nextCursor };
      done = 0;
    }
  }

  return {
    get dataVersion() {
      return dataVersion;
    },
    get nextCursor() {
      return nextCursor;
    },
    [Symbol.asyncIterator]: () => rows(params),
    all: () => gather(rows(params)),
    async *pages(limit) {
      let request: Params = { ...params, limit };
      for (;;) {
        const page = await gather(rows(request));
        const cursor = nextCursor;
        yield page;
        if (cursor === null) return;
        requireProgress(page.length, cursor, request);
        request = { ...request, cursor };
      }
    },
    async *bytes(format, options) {
      const request = { ...params, ...paramsOf(format, options) };
      const body = await persist(transport, () => ask(request, MEDIA_TYPES[format]));
      if (nextCursor !== null && params.limit === undefined) {
        await body.cancel();
        throw new TapehouseError("this server limits responses; read rows or pages instead");
      }
      yield* wholeBytes(body, format);
    },
  };
}

/** The parameters that ask for these bytes. */
export function paramsOf(
  format: BytesFormat,
  { dates = WITH_DATES.includes(format) ? "date" : "text", compression = "none" }: BytesOptions = {},
): Params {
  return { ...(dates === "text" ? {} : { dates }), ...(compression === "none" ? {} : { compression }) };
}

/** The bytes of a body. Throws if the end of Arrow is missing. */
export async function* wholeBytes(body: Body, format: BytesFormat): AsyncGenerator<Uint8Array, void> {
  let tail: number[] = [];
  for await (const piece of body.pieces()) {
    tail = [...tail, ...piece.subarray(-8)].slice(-8);
    yield piece;
  }
  if (format === "arrow" && END_OF_ARROW.some((byte, i) => tail[i] !== byte)) {
    throw new IncompleteAnswerError("the response was cut off: the end of the stream is missing");
  }
}

/** What `work` gives. It is retried if that may help, unless its error `isFinal`. */
export async function persist<T>(
  transport: Transport,
  work: () => Promise<T>,
  isFinal: (error: unknown) => boolean = () => false,
): Promise<T> {
  const retry = transport.retry();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (isFinal(error)) throw error;
      await retry.after(error);
    }
  }
}

/** Maximum characters of one row. */
const LONGEST_ROW = 16 * 1024 * 1024;

/** The lines of a body, in batches as they arrive. Throws if the last line is incomplete. */
export async function* linesOf(body: Body): AsyncGenerator<readonly string[], void> {
  const decode = decoder();
  let rest = "";
  for await (const piece of body.pieces()) {
    const lines = decode(piece).split("\n");
    lines[0] = rest + lines[0]!;
    rest = lines.pop()!;
    if (rest.length > LONGEST_ROW) throw new TapehouseError(`a row is longer than ${LONGEST_ROW} characters`);
    yield lines;
  }
  if (rest + decode() !== "") throw new IncompleteAnswerError("the response was cut off within a row");
}

export function rowOf(line: string): object {
  const row = parseJson(line);
  if (typeof row === "object" && row !== null && !Array.isArray(row)) return row;
  throw new TapehouseError("not a Tapehouse response: a row is not an object");
}

/** Throws if a row lacks a requested column. */
function requireColumns(row: object, entity: string, fields: Params[string]): void {
  if (fields === undefined) return;
  const names = typeof fields === "object" ? fields : String(fields).split(",");
  const missing = names.map((name) => String(name).trim()).filter((name) => !Object.hasOwn(row, name));
  if (missing.length === 0) return;
  throw new TapehouseError(`not a Tapehouse response for ${entity}: the columns ${missing.join(", ")} are missing`);
}

/** Throws if a cursor does not advance: following it would never end. */
function requireProgress(rows: number, cursor: string, request: Params): void {
  if (rows > 0 && cursor !== request.cursor) return;
  throw new TapehouseError("not a Tapehouse response: its cursor does not advance");
}

async function gather<T>(items: AsyncIterable<T>): Promise<T[]> {
  const gathered: T[] = [];
  for await (const item of items) gathered.push(item);
  return gathered;
}
