// Whether tokens would cross a network in the clear.
import { BlockList, isIP } from "node:net";
import type { ServerConfig } from "../config.js";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** What the operator should be warned of, or null. */
export function exposureOf({ host, tls }: Pick<ServerConfig, "host" | "tls">): string | null {
  if (tls || host === "localhost") return null;
  const family = isIP(host);
  if (family !== 0 && loopback.check(host, family === 6 ? "ipv6" : "ipv4")) return null;
  return (
    `${host} can be reached from other machines, and without TLS tokens and data cross the network in the clear; ` +
    "give --tls-cert and --tls-key, or let a proxy with TLS stand before --host 127.0.0.1"
  );
}
