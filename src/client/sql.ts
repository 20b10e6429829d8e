// SQL: the rows of one statement, read as a stream: complete, or an error.
import { linesOf, paramsOf, persist, rowOf, type Rows, wholeBytes } from "./answer.js";
import { ProblemError, TapehouseError } from "./errors.js";
import { MEDIA_TYPES } from "./formats.js";
import type { Body, Transport } from "./http.js";

/** A value of a parameter. A day is `2024-01-05`, or `20240105` if it is compared with a date. */
export type SqlValue = string | number | boolean | null | readonly string[] | readonly number[];

export interface SqlOptions {
  /** Values of parameters such as `$from`, by name. */
  readonly params?: Readonly<Record<string, SqlValue>>;
  /** At most this many rows. */
  readonly limit?: number;
  readonly data_version?: string | undefined;
  /** Where the statement runs; the server chooses by default. */
  readonly engine?: "auto" | "local" | "cluster";
}

/** Days are `YYYYMMDD`, truth values 1 and 0. */
export type SqlRow = Readonly<Record<string, string | number | null>>;

/**
 * The rows of one statement. Their order may differ from run to run unless the statement orders them. So `all` requests a
 * response that was cut off again as a whole, and iteration throws if rows of it were already returned.
 */
export interface SqlAnswer<Row> extends Rows<Row> {
  /** Whether `limit` truncated the result; false before reading. */
  readonly truncated: boolean;
}

export function createSqlAnswer<Row extends object>(
  transport: Transport,
  statement: string,
  { params = {}, ...options }: SqlOptions,
  signal?: AbortSignal,
): SqlAnswer<Row> {
  for (const [name, value] of Object.entries(params)) requireValue(name, value);
  let dataVersion: string | null = null;
  let truncated = false;

  const ask = async (accept: string, more: object = {}): Promise<Body> => {
    const body = await transport.post("/api/v1/sql", { sql: statement, params, ...options, ...more }, accept, signal);
    dataVersion = body.headers.get("X-Data-Version");
    truncated = body.headers.get("X-Truncated") === "true";
    if (!truncated || options.limit !== undefined) return body;
    await body.cancel();
    throw new TapehouseError(
      "this server limits results, and the statement has more rows: set a limit to accept fewer, or read rows with the " +
        "method of their entity",
    );
  };

  async function* lines(): AsyncGenerator<Row, void> {
    for await (const some of linesOf(await ask(MEDIA_TYPES.ndjson))) {
      for (const line of some) yield rowOf(line) as Row;
    }
  }

  const tried = <T>(work: () => Promise<T>): Promise<T> => persist(transport, work, needsTooMuch);

  return {
    get dataVersion() {
      return dataVersion;
    },
    get truncated() {
      return truncated;
    },
    async *[Symbol.asyncIterator]() {
      const { rows, first } = await tried(async () => {
        const begun = lines();
        return { rows: begun, first: await begun.next() };
      });
      if (first.done === true) return;
      try {
        yield first.value;
        yield* rows;
      } finally {
        await rows.return();
      }
    },
    all: () =>
      tried(async () => {
        const found: Row[] = [];
        for await (const row of lines()) found.push(row);
        return found;
      }),
    async *bytes(format, asked) {
      yield* wholeBytes(await tried(() => ask(MEDIA_TYPES[format], paramsOf(format, asked))), format);
    },
  };
}

/** A statement that needs more than it may use needs it again. */
const needsTooMuch = (error: unknown): boolean => error instanceof ProblemError && error.code === "out_of_room";

/** Throws TypeError for what JSON would change or leave out. */
function requireValue(name: string, value: unknown): void {
  const isPlain = (one: unknown): boolean =>
    typeof one === "string" || (typeof one === "number" && Number.isFinite(one));
  const isList = Array.isArray(value) && value.every((one) => typeof one === typeof value[0]);
  const isFit = isList ? value.every(isPlain) : value === null || typeof value === "boolean" || isPlain(value);
  if (isFit) return;
  throw new TypeError(
    `params: ${name} is not a value: use text, finite numbers, true, false, null, or a list of texts or of numbers`,
  );
}
