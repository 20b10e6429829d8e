// Ending a server: nothing new comes in, answers under way may end, what is left is cut.
import type { Server } from "node:http";
import { Server as NetServer } from "node:net";

export interface EndOptions {
  /** Milliseconds that answers under way get to end. */
  readonly within: number;
  /**
   * Leaves open the connections that wait for their next request: each gets one more answer, which says that it is
   * the last, or comes to its end by itself. For a server whose place another one has taken: no request is lost.
   */
  readonly keepIdle?: boolean;
}

/** How often connections whose answer has ended are looked for, in milliseconds. */
const SWEEP_EVERY = 50;

/** Makes the function that ends `server` and resolves when its last connection is closed. It may be called again, to hurry. */
export function prepareEnd(server: Server): (options: EndOptions) => Promise<void> {
  let ended: Promise<void> | undefined;
  server.prependListener("request", (_req, res) => {
    if (ended) res.setHeader("Connection", "close");
  });
  return async ({ within, keepIdle = false }) => {
    // The close of an HTTP server would cut idle connections, whose next request may be on its way.
    ended ??= new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    const cutting = setTimeout(() => server.closeAllConnections(), within);
    const sweeping = keepIdle ? undefined : setInterval(() => server.closeIdleConnections(), SWEEP_EVERY);
    await ended;
    clearTimeout(cutting);
    clearInterval(sweeping);
  };
}
