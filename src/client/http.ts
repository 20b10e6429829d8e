// Requests: which responses are failures, which requests are retried, and how slow and how large a response may be.
import { ConnectionFailedError, IncompleteAnswerError, readable, TapehouseError } from "./errors.js";
import { problemOf } from "./problem.js";

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
  /** The same for rows: parameters that are too long for a URL are sent in the body. */
  rows(path: string, params: Params, accept: string, signal?: AbortSignal): Promise<Body>;
  /** The same with JSON as the body. */
  post(path: string, content: object, accept: string, signal?: AbortSignal): Promise<Body>;
  retry(): Retry;
}

interface Retry {
  /** Data arrived: resets the count of failures. */
  progress(): void;
  /** Resolves when it is time to retry; throws `error` if a retry would not help. */
  after(error: unknown): Promise<void>;
}

/** Maximum characters of path and query: many proxies refuse URLs longer than 8 KB. */
const LONGEST_URL = 4096;

export function createTransport(url: string, token: string | undefined, patience: Patience): Transport {
  const root = url.replace(/\/+$/, "");
  const { timeout = 120_000 } = patience;
  if (token !== undefined && !/^[\x20-\x7e]*$/.test(token)) {
    throw new TypeError("the token contains an invalid character, perhaps a line break at its end");
  }
  const authorization: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  /** `path` includes the query, `text` is the body of a POST. */
  const send = async (path: string, text: string | null, accept: string, signal?: AbortSignal): Promise<Body> => {
    const leaving = new AbortController();
    const response = await within(
      fetch(root + path, {
        ...(text === null ? {} : { method: "POST", body: text }),
        headers: { Accept: accept, ...authorization, ...(text === null ? {} : { "Content-Type": "application/json" }) },
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
    if (!isAnswerTo(response, path, text)) {
      await body.cancel();
      throw new ConnectionFailedError(`${root} sent the response to another request`);
    }
    if (response.status !== 200) {
      const problem = problemOf(response, await textOf(body, LONGEST_ERROR).catch(() => ""));
      signal?.throwIfAborted();
      throw problem;
    }
    const came = response.headers.get("Content-Type") ?? "no content type";
    if (came.split(";")[0]!.trim().toLowerCase() === accept) return body;
    await body.cancel();
    throw new TapehouseError(`not a Tapehouse response: ${readable(came)} instead of ${accept}`);
  };
  const get: Transport["get"] = (path, params, accept, signal) => {
    const search = new URLSearchParams(textsOf(params)).toString();
    return send(search === "" ? path : `${path}?${search}`, null, accept, signal);
  };
  const post: Transport["post"] = (path, content, accept, signal) =>
    send(path, JSON.stringify(content), accept, signal);
  return {
    get,
    post,
    rows(path, params, accept, signal) {
      const texts = textsOf(params);
      return path.length + new URLSearchParams(texts).toString().length < LONGEST_URL
        ? get(path, params, accept, signal)
        : post(`${path}/query`, texts, accept, signal);
    },
    retry: () => createRetry(patience),
  };
}

/**
 * Whether a response belongs to this request, as far as its header `X-Answer-To` tells. A proxy may mix up responses, or
 * remove the header.
 */
function isAnswerTo({ headers, status }: Response, path: string, text: string | null): boolean {
  const received = headers.get("X-Answer-To");
  const decoded = decodedBytes(path);
  const body = new TextEncoder().encode(text ?? "");
  if (received === null || received === checksum([...decoded, ...body])) return true;
  // A refusal may come before the body was read.
  return status >= 400 && received === checksum(decoded);
}

/** A proxy may encode a URL in another way, so it is compared as it was before. */
const decodedBytes = (path: string): number[] =>
  Array.from(
    path.replace(/%[0-9a-f]{2}/gi, (hex) => String.fromCharCode(Number(`0x${hex.slice(1)}`))),
    (character) => character.charCodeAt(0),
  );

/** CRC-32 in hexadecimal. */
function checksum(bytes: readonly number[]): string {
  let sum = -1;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (~sum >>> 0).toString(16).padStart(8, "0");
}

/** Maximum bytes of a body that explains an error, and of a JSON response. */
const LONGEST_ERROR = 64 * 1024;
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

/** Lists whose order counts. In all others a value may be repeated, and is sent once. */
const ORDERED: readonly string[] = ["fields", "entities"];

/**
 * The parameters that are set. Items of a list that contain a comma are quoted. Text that is not in a list is kept as it
 * is. Throws TypeError if an item is null.
 */
function textsOf(params: Params): Record<string, string> {
  const quoted = (item: string | number): string =>
    String(item).includes(",") ? `"${String(item).replaceAll('"', '""')}"` : String(item);
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue;
    if (typeof value !== "object") texts[name] = String(value);
    else {
      const items = ORDERED.includes(name) ? Array.from(value) : [...new Set(value)];
      if (items.includes(null as never)) throw new TypeError(`${name} has an item that is null`);
      texts[name] = items.map(quoted).join(",");
    }
  }
  return texts;
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
