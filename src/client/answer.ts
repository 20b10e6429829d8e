// Rows of an entity: read as a stream, whole or an error.
import { IncompleteAnswerError, TapehouseError } from "./errors.js";
import { piecesOf, type Params, type Transport } from "./http.js";

const MEDIA_TYPES = {
  arrow: "application/vnd.apache.arrow.stream",
  parquet: "application/vnd.apache.parquet",
  csv: "text/csv",
  ndjson: "application/x-ndjson",
} as const;

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
  bytes(format: keyof typeof MEDIA_TYPES): AsyncGenerator<Uint8Array, void>;
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

  const ask = async (asked: Params, accept: string): Promise<Response> => {
    const response = await transport.get(path, asked, accept, signal);
    dataVersion = response.headers.get("X-Data-Version");
    nextCursor = response.headers.get("X-Next-Cursor");
    return response;
  };

  /**
   * What was cut is read again in the same version, without the rows that came already. A server that cuts every answer
   * to a limit of its own is asked for the rest.
   */
  async function* rows(first: Params): AsyncGenerator<Row, void> {
    const retry = transport.retry();
    let asked = first;
    let done = 0;
    for (;;) {
      try {
        let skip = done;
        for await (const lines of linesOf(await ask(asked, MEDIA_TYPES.ndjson), signal)) {
          for (const line of lines) {
            if (skip > 0) {
              skip--;
              continue;
            }
            done++;
            yield JSON.parse(line) as Row;
          }
          if (skip === 0) retry.progress();
        }
      } catch (error) {
        await retry.after(error);
        if (dataVersion !== null && asked.cursor === undefined) asked = { ...asked, data_version: dataVersion };
        continue;
      }
      if (nextCursor === null || asked.limit !== undefined) return;
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
        asked = { ...asked, cursor };
      }
    },
    async *bytes(format) {
      const response = await begin(transport, () => ask(params, MEDIA_TYPES[format]));
      if (nextCursor !== null && params.limit === undefined) {
        await response.body?.cancel();
        throw new TapehouseError("this server cuts answers to a limit of its own; read rows or pages instead");
      }
      let tail: number[] = [];
      for await (const piece of piecesOf(response, signal)) {
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
async function begin(transport: Transport, ask: () => Promise<Response>): Promise<Response> {
  const retry = transport.retry();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      await retry.after(error);
    }
  }
}

/** The lines of a body, as many at a time as came. Throws where the last one has no end. */
async function* linesOf(response: Response, signal?: AbortSignal): AsyncGenerator<readonly string[], void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of piecesOf(response, signal)) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop()!;
    yield lines;
  }
  if (rest !== "") throw new IncompleteAnswerError("the answer was cut within a row");
}

async function gather<T>(items: AsyncIterable<T>): Promise<T[]> {
  const gathered: T[] = [];
  for await (const item of items) gathered.push(item);
  return gathered;
}
