// Requests: which responses are failures, and which requests are retried.
import { type Body, bodyOf, problemOf, textOf, within } from "./body.js";
import { ConnectionFailedError, IncompleteAnswerError, readable, TapehouseError } from "./errors.js";

/** A value of a parameter; undefined is not sent. A list matches any of its items. */
type Value = string | number | readonly (string | number)[] | undefined;
export type Params = Readonly<Record<string, Value>>;

export interface Patience {
  /** Consecutive failures after which it gives up. Default 6. */
  readonly retries?: number;
  /** Milliseconds before the first retry; doubled each time, or as `Retry-After` says. Default 250. */
  readonly backoff?: number;
  /** Milliseconds; if a server asks for a longer wait, the request fails. Default 60,000. */
  readonly longestWait?: number;
  /**
   * Milliseconds without a byte after which a connection is abandoned; five times as long for a very slow one. Default
   * 120,000.
   */
  readonly timeout?: number;
}

export interface Transport {
  /** One attempt. Throws if the status is not 200 or the media type is another one. */
  get(path: string, params: Params, accept: string, signal?: AbortSignal): Promise<Body>;
  retry(): Retry;
}

interface Retry {
  /** Data arrived: resets the count of failures. */
  progress(): void;
  /** Resolves when it is time to retry; throws `error` if a retry would not help. */
  after(error: unknown): Promise<void>;
}

export function createTransport(url: string, token: string | undefined, patience: Patience): Transport {
  const root = url.replace(/\/+$/, "");
  const { timeout = 120_000 } = patience;
  if (token !== undefined && !/^[\x20-\x7e]*$/.test(token)) {
    throw new TypeError("the token contains an invalid character, perhaps a line break at its end");
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
          // A redirect must not receive the token.
          redirect: "manual",
          signal: signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal,
        }),
        timeout,
      ).catch((error: unknown) => {
        leaving.abort();
        signal?.throwIfAborted();
        throw new ConnectionFailedError(`no response from ${root}`, { cause: error });
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
      throw new TapehouseError(`not a Tapehouse response: ${readable(came)} instead of ${accept}`);
    },
    retry: () => createRetry(patience),
  };
}

/** Maximum bytes of a JSON response. */
const LONGEST_JSON = 64 * 1024 * 1024;

/** The object in a JSON response. The request is retried if that may help. */
export async function getJson<T extends object>(transport: Transport, path: string, params: Params): Promise<T> {
  const retry = transport.retry();
  for (;;) {
    try {
      const found = parseJson(await textOf(await transport.get(path, params, "application/json"), LONGEST_JSON));
      if (typeof found === "object" && found !== null && !Array.isArray(found)) return found as T;
      throw new TapehouseError("not a Tapehouse response: it is not an object");
    } catch (error) {
      await retry.after(error);
    }
  }
}

/** Throws IncompleteAnswerError if a text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new IncompleteAnswerError("the response was cut off or is not JSON", { cause: error });
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

/** Items of a list that contain a comma are quoted. Text that is not in a list is sent as it is. */
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
