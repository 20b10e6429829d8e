// The server's socket: its port, its certificate, and limits against clients that are slow or open too much.
import type { SendHandle } from "node:child_process";
import { lookup } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { type RequestListener, type Server, type ServerOptions, createServer } from "node:http";
import { type Server as TlsServer, createServer as createTlsServer } from "node:https";
import net from "node:net";
import { createSecureContext } from "node:tls";
import { getSystemErrorName } from "node:util";
import type { ServerConfig } from "../config.js";
import { OperatorError } from "../errors.js";
import { stampAt } from "../files.js";
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
    log.warn({ connections: limit }, "connections are limited because few open files are allowed");
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

/**
 * An open port, shared by all processes that accept connections from it. No connection is accepted before a server
 * listens on it, here or in a process that received it.
 */
export type Port = SendHandle & { close(): void };

interface Handle {
  /** Fills in the address, or returns an error code: this is where a port in use is noticed. */
  getsockname(address: object): number;
  close(): void;
}

type Create = (address: string, port: number, family: number, fd: undefined, flags: number) => Handle | number;

/**
 * Opens a port; 0 picks a free one. Throws an OperatorError if that fails. Node has no public API to hold a port
 * without accepting connections, so this calls what node:cluster calls. With cluster itself, the port would be closed
 * and clients refused whenever no worker runs.
 */
export async function openPort(host: string, port: number): Promise<Port> {
  const { _createServerHandle: create } = net as unknown as { readonly _createServerHandle: Create };
  const found = await lookup(host).catch(() => undefined);
  if (!found) throw cannotListen(host, port, "ENOTFOUND");
  const handle = create(found.address, port, found.family, undefined, 0);
  const failure = typeof handle === "number" ? handle : handle.getsockname({});
  if (failure !== 0) throw cannotListen(host, port, getSystemErrorName(failure));
  return handle as unknown as Port;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use; choose another port with --port",
  EACCES: "this user may not open that port",
  EADDRNOTAVAIL: "this machine does not have that address",
  ENOTFOUND: "there is no such host",
};

/** `code` is the system's error code, e.g. EADDRINUSE. */
export const cannotListen = (host: string, port: number, code: string): OperatorError =>
  new OperatorError(`cannot listen on ${host}:${port}: ${REASONS[code] ?? code}`);
