// One HTTP request and its whole response. Slow is fine as long as bytes move; a response that is cut short is an error.
import { createReadStream } from "node:fs";
import { Agent as HttpAgent, request as requestHttp, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";

/** A file and its length when it was hashed. */
export interface FileBody {
  readonly path: string;
  readonly size: number;
}

export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | FileBody | undefined;
  /** Milliseconds without progress after which the exchange fails. */
  readonly stall: number;
  readonly signal: AbortSignal | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** Why an exchange failed before its response was complete. */
export class ExchangeError extends Error {
  /** In words, e.g. `connection refused`. */
  constructor(
    readonly reason: string,
    /** Whether the server may have carried the request out. */
    readonly mayBeDone: boolean,
    /** Whether another attempt may succeed. */
    readonly isTransient = true,
  ) {
    super(reason);
    this.name = "ExchangeError";
  }
}

/** The file has changed since it was hashed. */
export class ChangedFileError extends Error {}

/** Connections of this process to all stores together. */
const CONNECTIONS = 64;
const agents = {
  http: new HttpAgent({ keepAlive: true, maxTotalSockets: CONNECTIONS, scheduling: "lifo" }),
  https: new HttpsAgent({ keepAlive: true, maxTotalSockets: CONNECTIONS, scheduling: "lifo" }),
};

/** The server may refuse a body of this many bytes before it is sent: a refusal during the body often arrives as a reset. */
const ASKS_FIRST = 1 << 20;
/** A server that knows no `Expect` gets the body after this long. In milliseconds. */
const ASKS_FOR = 1_000;

export function exchange({ method, url, headers, body, stall, signal }: Exchange): Promise<Answer> {
  const length = body instanceof Uint8Array ? body.length : body?.size;
  const asksFirst = length !== undefined && length >= ASKS_FIRST;
  const all = {
    ...headers,
    ...(length === undefined ? {} : { "content-length": String(length) }),
    ...(asksFirst ? { expect: "100-continue" } : {}),
  };
  const isPlain = url.protocol === "http:";
  return new Promise((resolve, reject) => {
    const options = { method, headers: all, timeout: stall, signal, agent: isPlain ? agents.http : agents.https };
    const request = (isPlain ? requestHttp : requestHttps)(url, options);
    let isSent = false;
    const fail = (error: Error): void => reject(signal?.aborted ? (signal.reason as Error) : asFailure(error, isSent));
    const send = (): void => {
      isSent = true;
      sendBody(request, body, fail);
    };
    request.on("timeout", () => request.destroy(new ExchangeError(`no progress in ${stall / 1_000} s`, isSent)));
    request.on("error", fail);
    request.on("response", (response) => void readWhole(response).then(resolve, fail));
    if (!asksFirst) {
      send();
      return;
    }
    const patience = setTimeout(send, ASKS_FOR);
    request.once("continue", () => {
      clearTimeout(patience);
      if (!isSent) send();
    });
    for (const event of ["response", "close"]) request.once(event, () => clearTimeout(patience));
    request.flushHeaders();
  });
}

function sendBody(request: ClientRequest, body: Exchange["body"], fail: (error: Error) => void): void {
  if (body === undefined || body instanceof Uint8Array) {
    request.end(body);
    return;
  }
  let left = body.size;
  const file = createReadStream(body.path, { highWaterMark: 1 << 20 });
  const stop = (error: Error): void => {
    file.destroy();
    request.destroy();
    fail(error);
  };
  file.on("data", (bytes) => (left -= bytes.length) < 0 && stop(new ChangedFileError()));
  file.on("end", () => left > 0 && stop(new ChangedFileError()));
  file.on("error", stop);
  request.on("close", () => file.destroy());
  file.pipe(request);
}

async function readWhole(response: IncomingMessage): Promise<Answer> {
  const { statusCode: status = 0, headers } = response;
  const { "content-length": length, "transfer-encoding": coding } = headers;
  // Pieces that are kept until the last one arrives would outlive the collection of young objects.
  const body =
    length === undefined ? await joined(response) : await filled(Buffer.allocUnsafe(Number(length)), response);
  const isWhole = length === undefined ? coding !== undefined || body.length === 0 : body.length === Number(length);
  if (!isWhole && status !== 304) throw new ExchangeError("the response was cut short", true);
  return { status, headers, body };
}

async function joined(response: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The bytes of a response in a buffer of the announced length; fewer if the response is cut short. */
async function filled(buffer: Buffer, response: AsyncIterable<Buffer>): Promise<Buffer> {
  let at = 0;
  for await (const piece of response) {
    buffer.set(piece, at);
    at += piece.length;
  }
  return at === buffer.length ? buffer : buffer.subarray(0, at);
}

/** Failures before a request is sent, in words. */
const UNSENT: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "no such host name",
  EAI_AGAIN: "the host name could not be looked up",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
};

const CUT: Readonly<Record<string, string>> = {
  ECONNRESET: "the connection was cut",
  EPIPE: "the connection was cut",
  ETIMEDOUT: "the connection timed out",
};

/** Failures that last: certificates, and servers that speak no TLS or no HTTP. */
const LASTING = /^(ERR_(TLS|SSL)|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|HPE_)/;

function asFailure(error: Error, isSent: boolean): Error {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (LASTING.test(code)) return new ExchangeError(lastingReason(code), false, false);
  const unsent = UNSENT[code];
  if (unsent !== undefined) return new ExchangeError(unsent, false);
  const cut = CUT[code];
  return cut === undefined ? error : new ExchangeError(cut, isSent);
}

const lastingReason = (code: string): string => {
  if (code.startsWith("HPE_")) return "it does not speak HTTP; is the port right?";
  if (code === "EPROTO" || code.startsWith("ERR_SSL")) return "it does not speak TLS; use http:// if that is intended";
  return `its certificate is not trusted (${code}); name the certificate of its authority in NODE_EXTRA_CA_CERTS`;
};
