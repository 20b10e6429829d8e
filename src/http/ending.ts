// Ends a server: it accepts no new connections, and responses in progress may finish.
import type { Server, ServerResponse } from "node:http";
import { Server as NetServer } from "node:net";

export interface EndOptions {
  /** Milliseconds that responses in progress have to finish. */
  readonly within: number;
  /**
   * Keeps idle connections open: each gets one more response, with `Connection: close`, or ends by itself. For a server
   * that is replaced by another one: no request is lost.
   */
  readonly keepIdle?: boolean;
}

/** How often connections are checked for finished responses, in milliseconds. */
const SWEEP_EVERY = 50;

/**
 * Returns a function that ends `server`: the server accepts no new connection, lets responses in progress finish for `within`
 * milliseconds, and cuts the rest. The promise resolves when the last connection is closed; call it again to shorten the time.
 */
export function prepareEnd(server: Server): (options: EndOptions) => Promise<void> {
  let ended: Promise<void> | undefined;
  const open = new Set<ServerResponse>();
  server.prependListener("request", (_req, res) => {
    if (ended) res.setHeader("Connection", "close");
    open.add(res);
    res.once("close", () => open.delete(res));
  });
  // Node counts a connection as idle as soon as a response is handed over, and would cut what its client has not read yet.
  const closeIdle = (): void => {
    if (![...open].some((res) => res.writableEnded && !res.writableFinished)) server.closeIdleConnections();
  };
  return async ({ within, keepIdle = false }) => {
    // Closing an HTTP server would cut idle connections whose next request may be on its way.
    ended ??= new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    const cutting = setTimeout(() => server.closeAllConnections(), within);
    const sweeping = keepIdle ? undefined : setInterval(closeIdle, SWEEP_EVERY);
    await ended;
    clearTimeout(cutting);
    clearInterval(sweeping);
  };
}
