// The server at the network: its port, its certificate, and limits on whatever a client could draw out or pile up.
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

interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

type Files = NonNullable<ServerConfig["tls"]>;

/** Throws a OperatorError that names the option where a file cannot be read or the two do not serve. */
export async function readCertificate(files: Files): Promise<Certificate> {
  const [cert, key] = await Promise.all([readOption("--tls-cert", files.cert), readOption("--tls-key", files.key)]);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const pair = `--tls-cert ${files.cert} and --tls-key ${files.key}`;
    throw new OperatorError(`${pair} do not make a TLS server: ${(error as Error).message}`);
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

/** A function that resolves to the new certificate where the files have changed since it last did, and rejects until they serve. */
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

/** Files that are being replaced may be gone for a moment. */
const stampsOf = async ({ cert, key }: Files): Promise<string> =>
  (await Promise.all([cert, key].map(stampAt))).join(", ");

/**
 * An open port, shared by every process that accepts connections from it. Nothing is accepted before a server listens on it,
 * here or in a process that it was sent to.
 */
export type Port = SendHandle & { close(): void };

interface Handle {
  /** Fills in the address, or returns why there is none: a port in use is noticed here. */
  getsockname(address: object): number;
  close(): void;
}

type Create = (address: string, port: number, family: number, fd: undefined, flags: number) => Handle | number;

/**
 * Opens a port; 0 picks a free one. Throws a OperatorError where that fails.
 *
 * Node has no public way to hold a port without accepting from it, so this is the call that node:cluster itself makes.
 * Through cluster the port would be closed, and clients refused, whenever no worker lives.
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
  EADDRINUSE: "something else listens there; choose another port with --port",
  EACCES: "this user may not use that port",
  EADDRNOTAVAIL: "this machine does not have that address",
  ENOTFOUND: "there is no such host",
};

/** `code` is that of the system, e.g. EADDRINUSE. */
export const cannotListen = (host: string, port: number, code: string): OperatorError =>
  new OperatorError(`cannot listen on ${host}:${port}: ${REASONS[code] ?? code}`);
