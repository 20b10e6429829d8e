// The server as it meets the network: plain or TLS, with a limit on all that a client could draw out or pile up.
import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { ServerConfig } from "../config.js";
import { affordableConnections, limitConnections } from "./connections.js";
import type { Context } from "./context.js";
import { refuseMalformed } from "./refuse.js";
import { followCertificate, readCertificate } from "./tls.js";
import { MAX_HEADER_BYTES } from "./well-formed.js";

export interface Listener {
  readonly server: Server;
  /** Takes up a certificate that changed on the disk. Rejects where it does not serve; the old one goes on then. */
  refresh(): Promise<void>;
}

/**
 * How long a connection may wait for its next request, in milliseconds. Backtests come back to theirs after a pause;
 * closing it early races with their next request.
 */
export const KEEP_ALIVE = 75_000;

/** Milliseconds. A request has no body, so it is there at once; a new connection brings one at once, too. */
const TIMES = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: KEEP_ALIVE,
} as const satisfies ServerOptions;

/** The application refuses a request without a host: what Node answers is no problem document. */
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
  if (limit < connections) log.warn({ connections: limit }, "few open files are allowed, so connections are limited");
  limitConnections(server, tls ? "secureConnection" : "connection", limit);
  refuseMalformed(server, metrics.refuse);
  return { server, refresh };
}

const nothing = (): Promise<void> => Promise.resolve();

async function encrypted(files: NonNullable<ServerConfig["tls"]>, app: RequestListener) {
  const changed = await followCertificate(files);
  const certificate = await readCertificate(files);
  const server: TlsServer = createTlsServer(
    { ...OPTIONS, ...certificate, handshakeTimeout: TIMES.headersTimeout },
    app,
  );
  // The first listener: no answer can be sent before the handshake, and waiting until it is sent would never end.
  server.prependListener("tlsClientError", (_error, socket) => socket.destroy());
  const refresh = async (): Promise<void> => {
    const next = await changed();
    if (next) server.setSecureContext(next);
  };
  return { server, refresh };
}
