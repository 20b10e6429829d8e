// One request at a time: what is a failure, what may be tried again, and when a body is whole.
import { ConnectionFailedError, IncompleteAnswerError, ProblemError, TapehouseError, type Problem } from "./errors.js";

/** A value of a parameter; undefined is not sent. Items of a list mean any of them. */
export type Value = string | number | readonly (string | number)[] | undefined;
export type Params = Readonly<Record<string, Value>>;

export interface Patience {
  /** Failures in a row after which it gives up. Default 6. */
  readonly retries?: number;
  /** Milliseconds before the first retry; twice as long each time, or as `Retry-After` says. Default 250. */
  readonly backoff?: number;
  /** Milliseconds; a server that asks for more is not waited for. Default 60,000. */
  readonly longestWait?: number;
}

export interface Transport {
  /** One attempt. Throws where the status is not 200. */
  get(path: string, params: Params, accept: string, signal?: AbortSignal): Promise<Response>;
  retry(): Retry;
}

export interface Retry {
  /** Something came: count anew. */
  progress(): void;
  /** Resolves when it is time to ask again; throws `error` where that would not help. */
  after(error: unknown): Promise<void>;
}

export function createTransport(url: string, token: string | undefined, patience: Patience): Transport {
  const root = url.replace(/\/+$/, "");
  const authorization: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return {
    async get(path, params, accept, signal) {
      const search = queryOf(params);
      const address = `${root}${path}${search === "" ? "" : `?${search}`}`;
      const init = { headers: { Accept: accept, ...authorization }, ...(signal ? { signal } : {}) };
      const response = await fetch(address, init).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw new ConnectionFailedError(`no answer from ${root}`, { cause: error });
      });
      if (response.status === 200) return response;
      throw await problemOf(response);
    },
    retry: () => createRetry(patience),
  };
}

/** The whole of a JSON answer, asked for again where that can help. */
export async function getJson<T>(transport: Transport, path: string, params: Params): Promise<T> {
  const retry = transport.retry();
  for (;;) {
    try {
      const response = await transport.get(path, params, "application/json");
      return (await response.json().catch((error: unknown) => {
        throw new IncompleteAnswerError("the answer was cut", { cause: error });
      })) as T;
    } catch (error) {
      await retry.after(error);
    }
  }
}

/** A reader of bytes, as Node and browsers have it. */
interface PieceReader {
  read(): Promise<
    { readonly done: false; readonly value: Uint8Array } | { readonly done: true; readonly value?: never }
  >;
  cancel(): Promise<void>;
}

/** The bytes of a body as they come. Throws IncompleteAnswerError where the connection ends before the body does. */
export async function* piecesOf(response: Response, signal?: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const reader = response.body!.getReader() as PieceReader;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        signal?.throwIfAborted();
        throw new IncompleteAnswerError("the answer was cut", { cause: error });
      });
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function createRetry({ retries = 6, backoff = 250, longestWait = 60_000 }: Patience): Retry {
  let failures = 0;
  return {
    progress: () => void (failures = 0),
    async after(error) {
      if (!(error instanceof TapehouseError) || !error.passing || failures >= retries) throw error;
      const asked = error.retryAfter ?? 0;
      if (asked > longestWait) throw error;
      const own = Math.min(backoff * 2 ** failures, longestWait) * (0.5 + Math.random() / 2);
      failures++;
      await new Promise((resolve) => setTimeout(resolve, Math.max(asked, own)));
    },
  };
}

/** A text in a list that holds a comma is one text, so it goes in quotes. A text that is no list goes as it is. */
function queryOf(params: Params): string {
  const quoted = (item: string | number): string =>
    String(item).includes(",") ? `"${String(item).replaceAll('"', '""')}"` : String(item);
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue;
    search.set(name, typeof value === "object" ? value.map(quoted).join(",") : String(value));
  }
  return search.toString();
}

/** The problem document of an answer, or what can be said without one (a proxy may have answered). */
async function problemOf(response: Response): Promise<ProblemError> {
  const { status, headers } = response;
  const told = (await response.json().catch(() => null)) as Partial<Problem> | null;
  const wait = headers.get("Retry-After");
  const retryAfter = wait === null ? null : /^\d+$/.test(wait) ? Number(wait) * 1000 : Date.parse(wait) - Date.now();
  const problem = { code: `http_${status}`, detail: response.statusText || "no reason given", ...told, status };
  return new ProblemError(problem, headers.get("X-Request-Id"), retryAfter);
}
