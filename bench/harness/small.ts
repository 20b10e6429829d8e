// A client for small responses: persistent connections, timed from the request to the last byte.
import { Agent, get } from "node:http";
import type { Row } from "./question.js";
import { TOKEN } from "./servers.js";
import { median, quantile, round } from "./turns.js";

export interface SmallClient {
  /** Milliseconds of the response. Throws unless it is a complete 200. */
  ask(url: string): Promise<number>;
  close(): void;
}

export function smallClient(connections = 1): SmallClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    ask: (url) => {
      const started = performance.now();
      return new Promise((resolve, reject) => {
        get(url, { agent, headers: { Authorization: `Bearer ${TOKEN}` } }, (response) => {
          response.on("end", () => {
            if (response.statusCode === 200 && response.complete) resolve(performance.now() - started);
            else reject(new Error(`${url} answered ${response.statusCode}`));
          });
          response.on("error", reject);
          response.resume();
        }).on("error", reject);
      });
    },
    close: () => agent.destroy(),
  };
}

/** Different items of a list, spread over it, the same in every run. */
export const some = <T>(list: readonly T[], i: number): T => list[(i * 7919) % list.length]!;

export const timesRow = (times: readonly number[]): Row => ({
  "median ms": round(median(times), 2),
  "p99 ms": round(quantile(times, 0.99), 2),
});
