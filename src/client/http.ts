// One request at a time: what is a failure, and what may be tried again.
import { type Body, bodyOf, problemOf, textOf, within } from "./body.js";
import { ConnectionFailedError, IncompleteAnswerError, readable, TapehouseError } from "./errors.js";

/** A value of a parameter; undefined is not sent. Items of a list mean any of them. */
type Value = string | number | readonly (string | number)[] | undefined;
export type Params = Readonly<Record<string, Value>>;

export interface Patience {
  /** Failures in a row after which it gives up. Default 6. */
  readonly retries?: number;
  /** Milliseconds before the first retry; twice as long each time, or as `Retry-After` says. Default 250. */
  readonly backoff?: number;
  /** Milliseconds; a server that asks for more is not waited for. Default 60,000. */
  readonly longestWait?: number;
  /** Milliseconds without a byte after which a connection is given up, or five times as many of a mere drip. Default 120,000. */
  readonly timeout?: number;
}

export interface Transport {
  /** One attempt. Throws where the status is not 200, and where something of another media type came. */
  get(path: string, params: Params, accept: string, signal?: AbortSignal): Promise<Body>;
  retry(): Retry;
}

interface Retry {
  /** Something came: count anew. */
  progress(): void;
  /** Resolves when it is time to ask again; throws `error` where that would not help. */
  after(error: unknown): Promise<void>;
}

export function createTransport(url: string, token: string | undefined, patience: Patience): Transport {
  const root = url.replace(/\/+$/, "");
  const { timeout = 120_000 } = patience;
  if (token !== undefined && !/^[\x20-\x7e]*$/.test(token)) {
    throw new TypeError("the token holds a character that no token has, perhaps a line break at its end");
  }
  const authorization: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return {
    async get(path, params, accept, signal) {
      const search = queryOf(params);
      const address = `${root}${path}${search === "" ? "" : `?${search}`}`;
      const leaving = new AbortController();
      const response = await within(
        fetch(address, {
          headers: { Accept: accept, ...authorization },
          // The token is for this server alone.
          redirect: "manual",
          signal: signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal,
        }),
        timeout,
      ).catch((error: unknown) => {
        leaving.abort();
        signal?.throwIfAborted();
        throw new ConnectionFailedError(`no answer from ${root}`, { cause: error });
      });
      const body = bodyOf(response, timeout, signal);
      if (response.status !== 200) {
        const problem = await problemOf(response, body);
        signal?.throwIfAborted();
        throw problem;
      }
      const came = response.headers.get("Content-Type") ?? "no content type";
      if (came.split(";")[0]!.trim().toLowerCase() === accept) return body;
      await body.cancel();
      throw new TapehouseError(`this is no answer of Tapehouse: ${readable(came)} instead of ${accept}`);
    },
    retry: () => createRetry(patience),
  };
}

/** Bytes of a JSON answer. */
const LONGEST_JSON = 64 * 1024 * 1024;

/** The object that a JSON answer is, asked for again where that can help. */
export async function getJson<T extends object>(transport: Transport, path: string, params: Params): Promise<T> {
  const retry = transport.retry();
  for (;;) {
    try {
      const found = parseJson(await textOf(await transport.get(path, params, "application/json"), LONGEST_JSON));
      if (typeof found === "object" && found !== null && !Array.isArray(found)) return found as T;
      throw new TapehouseError("this is no answer of Tapehouse: it is no object");
    } catch (error) {
      await retry.after(error);
    }
  }
}

/** Throws IncompleteAnswerError where a text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new IncompleteAnswerError("the answer was cut or is no JSON", { cause: error });
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
