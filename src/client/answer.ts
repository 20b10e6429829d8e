// Rows of an entity: read as a stream, whole or an error.
import { decoder, type Body } from "./body.js";
import { IncompleteAnswerError, readable, TapehouseError } from "./errors.js";
import { MEDIA_TYPES } from "./formats.js";
import { parseJson, type Params, type Transport } from "./http.js";

/** JSON is not among them: it has its cursor in the body. */
type BytesFormat = Exclude<keyof typeof MEDIA_TYPES, "json">;

const END_OF_ARROW = [255, 255, 255, 255, 0, 0, 0, 0];

/** The rows that one question asks for. It is asked when they are wanted, not before. */
export interface Answer<Row> extends AsyncIterable<Row> {
  /** The version that was read; null before. */
  readonly dataVersion: string | null;
  /** Where the next page begins; null where there is none, and before reading. */
  readonly nextCursor: string | null;
  /** All rows at once. */
  all(): Promise<Row[]>;
  /** Pages of at most `limit` rows, all of one version. */
  pages(limit: number): AsyncGenerator<Row[], void>;
  /** The body as it comes: what Arrow, Parquet and CSV readers take. It is not tried again once it has begun. */
  bytes(format: BytesFormat): AsyncGenerator<Uint8Array, void>;
}

export function createAnswer<Row>(
  transport: Transport,
  entity: string,
  params: Params,
  signal?: AbortSignal,
): Answer<Row> {
  const path = `/api/v1/entities/${entity}`;
  let dataVersion: string | null = null;
  let nextCursor: string | null = null;

  const ask = async (asked: Params, accept: string): Promise<Body> => {
    const body = await transport.get(path, asked, accept, signal);
    dataVersion = body.headers.get("X-Data-Version");
    nextCursor = body.headers.get("X-Next-Cursor");
    return body;
  };

  /**
   * What was cut is read again in the same version, without the rows that came already. A server that cuts every answer
   * to a limit of its own is asked for the rest.
   */
  async function* rows(first: Params): AsyncGenerator<Row, void> {
    const retry = transport.retry();
    let asked = first;
    let version: string | null = null;
    let done = 0;
    for (;;) {
      try {
        let skip = done;
        const body = await ask(asked, MEDIA_TYPES.ndjson);
        if ((skip > 0 || asked !== first) && version !== null && dataVersion !== version) {
          await body.cancel();
          throw new TapehouseError(`the server goes on with another version than ${readable(version)}`);
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
        if (version !== null && asked.cursor === undefined) asked = { ...asked, data_version: version };
        continue;
      }
      if (nextCursor === null || asked.limit !== undefined) return;
      requireProgress(done, nextCursor, asked);
      asked = { ...asked, cursor: nextCursor };
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
      let asked: Params = { ...params, limit };
      for (;;) {
        const page = await gather(rows(asked));
        const cursor = nextCursor;
        yield page;
        if (cursor === null) return;
        requireProgress(page.length, cursor, asked);
        asked = { ...asked, cursor };
      }
    },
    async *bytes(format) {
      const body = await begin(transport, () => ask(params, MEDIA_TYPES[format]));
      if (nextCursor !== null && params.limit === undefined) {
        await body.cancel();
        throw new TapehouseError("this server cuts answers to a limit of its own; read rows or pages instead");
      }
      let tail: number[] = [];
      for await (const piece of body.pieces()) {
        tail = [...tail, ...piece.subarray(-8)].slice(-8);
        yield piece;
      }
      if (format === "arrow" && END_OF_ARROW.some((byte, i) => tail[i] !== byte)) {
        throw new IncompleteAnswerError("the answer was cut: it has no end of stream");
      }
    },
  };
}

/** The beginning of an answer, asked for again where that can help. */
async function begin(transport: Transport, ask: () => Promise<Body>): Promise<Body> {
  const retry = transport.retry();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      await retry.after(error);
    }
  }
}

/** Characters of one row. */
const LONGEST_ROW = 16 * 1024 * 1024;

/** The lines of a body, as many at a time as came. Throws where the last one has no end. */
async function* linesOf(body: Body): AsyncGenerator<readonly string[], void> {
  const decode = decoder();
  let rest = "";
  for await (const piece of body.pieces()) {
    const lines = decode(piece).split("\n");
    lines[0] = rest + lines[0]!;
    rest = lines.pop()!;
    if (rest.length > LONGEST_ROW) throw new TapehouseError(`a row is longer than ${LONGEST_ROW} characters`);
    yield lines;
  }
  if (rest + decode() !== "") throw new IncompleteAnswerError("the answer was cut within a row");
}

function rowOf(line: string): object {
  const row = parseJson(line);
  if (typeof row === "object" && row !== null && !Array.isArray(row)) return row;
  throw new TapehouseError("this is no answer of Tapehouse: a row is no object");
}

/** Throws where a row lacks a column that was asked for. */
function requireColumns(row: object, entity: string, fields: Params[string]): void {
  if (fields === undefined) return;
  const names = typeof fields === "object" ? fields : String(fields).split(",");
  const missing = names.map((name) => String(name).trim()).filter((name) => !Object.hasOwn(row, name));
  if (missing.length === 0) return;
  throw new TapehouseError(`this is no answer of Tapehouse for ${entity}: without the columns ${missing.join(", ")}`);
}

/** Throws where a cursor leads nowhere: following it would never end. */
function requireProgress(rows: number, cursor: string, asked: Params): void {
  if (rows > 0 && cursor !== asked.cursor) return;
  throw new TapehouseError("this is no answer of Tapehouse: its cursor leads nowhere");
}

async function gather<T>(items: AsyncIterable<T>): Promise<T[]> {
  const gathered: T[] = [];
  for await (const item of items) gathered.push(item);
  return gathered;
}
