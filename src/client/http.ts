// Requests: which responses are failures, which requests are retried, and how slow and how large a response may be.
import { ConnectionFailedError, IncompleteAnswerError, readable, TapehouseError, ProblemError } from "./errors.js";

/** A value of a parameter; undefined is not sent. A list matches any of its items. */
type Value = string | number | boolean | readonly (string | number)[] | undefined;
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
      if (!isAnswerTo(response, path + new URL(address).search)) {
        await body.cancel();
        throw new ConnectionFailedError(`${root} sent the response to another request`);
      }
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

/**
 * Whether a response belongs to this request, as far as its header `X-Answer-To` tells. A proxy may mix up responses, or
 * remove the header.
 */
function isAnswerTo(response: Response, target: string): boolean {
  const told = response.headers.get("X-Answer-To");
  return told === null || told === checksum(target);
}

/** CRC-32 in hexadecimal. */
function checksum(text: string): string {
  let sum = -1;
  for (let i = 0; i < text.length; i++) {
    sum ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (~sum >>> 0).toString(16).padStart(8, "0");
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

// The bytes of a response, with limits on slowness and size.

/** A response that has begun. */
export interface Body {
  readonly headers: Headers;
  /** The bytes as they arrive. Throws IncompleteAnswerError if the connection ends before the body. */
  pieces(): AsyncGenerator<Uint8Array, void>;
  /** Cancels the rest of the body. */
  cancel(): Promise<void>;
}

/** A body that is slower than this many bytes per second is abandoned after several timeouts of waiting. */
const SLOWEST = 1024;
const PATIENCE = 5;

/** A reader of bytes, as Node and browsers provide it. */
interface PieceReader {
  read(): Promise<
    { readonly done: false; readonly value: Uint8Array } | { readonly done: true; readonly value?: never }
  >;
  cancel(): Promise<void>;
}

/** `timeout` is the longest wait for the next bytes, in milliseconds. */
function bodyOf(response: Response, timeout: number, signal: AbortSignal | undefined): Body {
  async function* pieces(): AsyncGenerator<Uint8Array, void> {
    const reader = response.body?.getReader() as PieceReader | undefined;
    if (!reader) return;
    let waited = 0;
    let bytes = 0;
    try {
      for (;;) {
        const began = performance.now();
        const { done, value } = await within(reader.read(), timeout).catch((error: unknown) => {
          signal?.throwIfAborted();
          throw new IncompleteAnswerError("the response was cut off", { cause: error });
        });
        if (done) return;
        waited += performance.now() - began;
        bytes += value.length;
        if (waited > PATIENCE * timeout + (bytes / SLOWEST) * 1000) {
          throw new IncompleteAnswerError(`only ${bytes} bytes arrived in ${Math.round(waited / 1000)} seconds`);
        }
        yield value;
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  }
  return { headers: response.headers, pieces, cancel: async () => response.body?.cancel() };
}

/** A whole body as text. */
async function textOf(body: Body, mostBytes: number): Promise<string> {
  const decode = decoder();
  let text = "";
  let bytes = 0;
  for await (const piece of body.pieces()) {
    bytes += piece.length;
    if (bytes > mostBytes) throw new TapehouseError(`the response is longer than ${mostBytes} bytes`);
    text += decode(piece);
  }
  return text + decode();
}

/** Returns a function that decodes UTF-8 piece by piece; a call without argument ends the text. */
export function decoder(): (piece?: Uint8Array) => string {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  return (piece) => {
    try {
      return piece ? utf8.decode(piece, { stream: true }) : utf8.decode();
    } catch (error) {
      throw new IncompleteAnswerError("the response was cut off or is not UTF-8", { cause: error });
    }
  };
}

/** The longest duration of a timer. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Rejects if the work takes longer than the given number of milliseconds. */
async function within<T>(work: Promise<T>, timeout: number): Promise<T> {
  if (timeout > LONGEST_TIMER) return work;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no data arrived within ${timeout} milliseconds`)), timeout);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

// Responses other than success, from Tapehouse or a proxy.

/** Maximum bytes of a body that explains an error, and maximum number of accepted values that are kept. */
const LONGEST_ERROR = 65_536;
const MOST_ALLOWED = 1_000;

/** The problem document of a response, or a substitute if there is none, e.g. from a proxy. */
async function problemOf(response: Response, body: Body): Promise<ProblemError> {
  const { status, headers } = response;
  const found = objectOf(await textOf(body, LONGEST_ERROR).catch(() => ""));
  const redirect = isRedirect(response);
  const allowed = Array.isArray(found.allowed) ? found.allowed.slice(0, MOST_ALLOWED).map(textIn) : [];
  const parameter = textIn(found.parameter);
  const hint = textIn(found.hint) ?? (redirect ? "create the client with the final URL" : undefined);
  const reason = redirect
    ? `the server redirects to ${readable(headers.get("Location") ?? "another address")}, which is not followed`
    : readable(response.statusText) || "no reason given";
  const problem = {
    status,
    code: textIn(found.code) || `http_${status}`,
    detail: textIn(found.detail) || reason,
    ...(parameter === undefined ? {} : { parameter }),
    ...(Array.isArray(found.allowed) ? { allowed: allowed.filter((text) => text !== undefined) } : {}),
    ...(hint === undefined ? {} : { hint }),
  };
  return new ProblemError(problem, headers.get("X-Request-Id"), waitOf(headers.get("Retry-After")));
}

/** Browsers hide the target and status of a redirect. */
const isRedirect = ({ status, type }: Response): boolean =>
  type === "opaqueredirect" || (status >= 300 && status < 400 && status !== 304);

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const textIn = (value: unknown): string | undefined => (typeof value === "string" ? readable(value) : undefined);

/** `Retry-After`, in seconds or as a date, in milliseconds. */
function waitOf(text: string | null): number | null {
  if (text === null) return null;
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(wait) ? null : Math.max(0, wait);
}
