// The port that the server listens on, and who can reach it.
import type { SendHandle } from "node:child_process";
import { lookup } from "node:dns/promises";
import net, { BlockList, isIP } from "node:net";
import { getSystemErrorName } from "node:util";
import type { ServerConfig } from "../config.js";
import { OperatorError } from "../errors.js";

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

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** A warning for the operator if tokens would cross a network unencrypted; otherwise null. */
export function exposureOf({ host, tls }: Pick<ServerConfig, "host" | "tls">): string | null {
  if (tls || host === "localhost") return null;
  const family = isIP(host);
  if (family !== 0 && loopback.check(host, family === 6 ? "ipv6" : "ipv4")) return null;
  return (
    `${host} can be reached from other machines, and without TLS, tokens and data cross the network unencrypted; ` +
    "set --tls-cert and --tls-key, or use --host 127.0.0.1 behind a proxy with TLS"
  );
}
