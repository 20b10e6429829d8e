// The server's socket: its certificate, and limits against clients that are slow or open too much.
import { readFile } from "node:fs/promises";
import { type RequestListener, type Server, type ServerOptions, createServer } from "node:http";
import { type Server as TlsServer, createServer as createTlsServer } from "node:https";
import { createSecureContext } from "node:tls";
import type { ServerConfig } from "../config.js";
import { OperatorError } from "../errors.js";
import { stampAt } from "../files.js";
import { invite } from "./body.js";
import type { Context } from "./context.js";
import { affordableConnections, limitConnections } from "./limits.js";
import { refuseMalformed } from "./problem.js";
import { MAX_HEADER_BYTES } from "./well-formed.js";

interface Listener {
  readonly server: Server;
  /** Loads a certificate that changed on disk. Rejects if it cannot be used; the server keeps the old one. */
  refresh(): Promise<void>;
}

/**
 * How long a connection may wait for its next request, in milliseconds. Backtests pause between requests, and closing
 * early races with the next request.
 */
export const KEEP_ALIVE = 75_000;

/** Milliseconds. Requests have no body and arrive at once, also on a new connection. */
const TIMES = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: KEEP_ALIVE,
} as const satisfies ServerOptions;

/** The application refuses requests without a host itself: Node's own response is not a problem document. */
const OPTIONS: ServerOptions = { ...TIMES, maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false };

export async function createListener(
  { tls, connections, streams }: Pick<ServerConfig, "tls" | "connections" | "streams">,
  { metrics, log }: Pick<Context, "metrics" | "log">,
  app: RequestListener,
): Promise<Listener> {
  const { server, refresh } = tls
    ? await encrypted(tls, app)
    : { server: createServer(OPTIONS, app), refresh: nothing };
  const limit = affordableConnections(connections, streams);
  if (limit < connections)
    log.warn({ connections: limit }, "the open-file limit reduces the number of connections; raise it with ulimit -n");
  limitConnections(server, tls ? "secureConnection" : "connection", limit);
  refuseMalformed(server, metrics.refuse);
  invite(server);
  allowForDelays(server);
  return { server, refresh };
}

/**
 * A process that gets little processor time reads late what has arrived in time: its delays are added to the limits. The
 * timer must start before `server` listens, so that it runs before Node's check of the connections.
 */
function allowForDelays(server: Server): void {
  const every = TIMES.connectionsCheckingInterval;
  let due = performance.now() + every;
  let before = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    const late = Math.ceil(Math.max(0, now - due));
    server.headersTimeout = TIMES.headersTimeout + late + before;
    server.requestTimeout = TIMES.requestTimeout + late + before;
    [due, before] = [now + every, late];
  }, every).unref();
  server.once("close", () => clearInterval(timer));
}

const nothing = (): Promise<void> => Promise.resolve();

async function encrypted(files: NonNullable<ServerConfig["tls"]>, app: RequestListener) {
  const changed = await followCertificate(files);
  const certificate = await readCertificate(files);
  const server: TlsServer = createTlsServer(
    { ...OPTIONS, ...certificate, handshakeTimeout: TIMES.headersTimeout },
    app,
  );
  // Runs first: no response can be sent before the handshake, and Node would wait forever to send one.
  server.prependListener("tlsClientError", (_error, socket) => socket.destroy());
  const refresh = async (): Promise<void> => {
    const next = await changed();
    if (next) server.setSecureContext(next);
  };
  return { server, refresh };
}

interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

type Files = NonNullable<ServerConfig["tls"]>;

/** Throws an OperatorError that names the option if a file cannot be read or the pair does not match. */
export async function readCertificate(files: Files): Promise<Certificate> {
  const [cert, key] = await Promise.all([readOption("--tls-cert", files.cert), readOption("--tls-key", files.key)]);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const pair = `--tls-cert ${files.cert} and --tls-key ${files.key}`;
    throw new OperatorError(`${pair} cannot be used for TLS: ${(error as Error).message}`);
  }
  return { cert, key };
}

async function readOption(option: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new OperatorError(`${option} ${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/**
 * Returns a function that resolves to the new certificate if the files have changed since its last success. It rejects
 * while they cannot be used.
 */
async function followCertificate(files: Files): Promise<() => Promise<Certificate | null>> {
  let seen = await stampsOf(files);
  return async () => {
    const now = await stampsOf(files);
    if (now === seen) return null;
    const certificate = await readCertificate(files);
    seen = now;
    return certificate;
  };
}

/** While files are replaced, they may be missing for a moment. */
const stampsOf = async ({ cert, key }: Files): Promise<string> =>
  (await Promise.all([cert, key].map(stampAt))).join(", ");
