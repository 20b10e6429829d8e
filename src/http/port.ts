// The port: opened once, before anything else, then shared by every process that accepts connections from it.
import type { SendHandle } from "node:child_process";
import { lookup } from "node:dns/promises";
import net from "node:net";
import { getSystemErrorName } from "node:util";
import { CommandError } from "../errors.js";

/** An open port. Nothing is accepted from it before a server listens on it, here or in a process that it was sent to. */
export type Port = SendHandle & { close(): void };

interface Handle {
  /** Fills in the address, or returns why there is none: a port in use is noticed here. */
  getsockname(address: object): number;
  close(): void;
}

type Create = (address: string, port: number, family: number, fd: undefined, flags: number) => Handle | number;

/**
 * Opens a port; 0 picks a free one. Throws a CommandError where that fails.
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
export const cannotListen = (host: string, port: number, code: string): CommandError =>
  new CommandError(`cannot listen on ${host}:${port}: ${REASONS[code] ?? code}`);
