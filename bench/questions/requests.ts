// How many small requests does a server answer per second, how long does each take, and what do they cost it: thousands
// of different stocks, or the whole market on one day, on 1 and on 32 connections?
import { lakeOf } from "../harness/lakes.js";
import { withLoadClient, type Load } from "../harness/load.js";
import { servePeer } from "../harness/peers.js";
import { ourUrl, peerUrl } from "../harness/pull.js";
import type { Question, Row, Sizes } from "../harness/question.js";
import { serveTapehouse, withServers, type BenchServer } from "../harness/servers.js";
import { median, quantile, round } from "../harness/turns.js";
import { smallReads } from "./small.js";

const CONNECTIONS = [1, 32] as const;
/** Requests in a row before it is the peer's turn. */
const IN_TURN = 200;
const WARM_UP = 200;

const READS = { stock: "one stock, all years", day: "one day, whole market" } as const;

/** All turns of one server. */
interface Sum {
  milliseconds: number[];
  seconds: number;
  /** Seconds of the processor time of the server, and of the client. */
  server: number;
  client: number;
}

async function answer(read: (typeof READS)[keyof typeof READS], sizes: Sizes): Promise<readonly Row[]> {
  const lake = await lakeOf(sizes.smallDays);
  return withServers({ tapehouse: serveTapehouse(lake), chdb: servePeer("chdb") }, (servers) =>
    withLoadClient(async (load) => {
      const { path, chdb: queryOf } = (await smallReads(servers.tapehouse, lake))[read];
      const urlOf = {
        tapehouse: (i: number) => ourUrl(servers.tapehouse, path(i)),
        chdb: (i: number) => peerUrl(servers.chdb, { query: queryOf(i), format: "JSONCompact" }),
      };
      let asked = 0;
      const rows: Row[] = [];
      for (const connections of CONNECTIONS) {
        const sums = { tapehouse: nothing(), chdb: nothing() };
        for (let done = -WARM_UP; done < sizes.requests;) {
          const items = Array.from({ length: Math.min(IN_TURN, sizes.requests - done) }, () => asked++);
          for (const name of ["tapehouse", "chdb"] as const) {
            const turn = await timed(servers[name], () => load({ urls: items.map(urlOf[name]), connections }));
            if (done >= 0) add(sums[name], turn);
          }
          done += done < 0 ? WARM_UP : items.length;
        }
        for (const [name, sum] of Object.entries(sums)) {
          rows.push({ connections, server: name, ...figures(sum), ...ratios(sum, sums.tapehouse) });
        }
      }
      return rows;
    }),
  );
}

const nothing = (): Sum => ({ milliseconds: [], seconds: 0, server: 0, client: 0 });

async function timed(server: BenchServer, run: () => Promise<Load>): Promise<Sum> {
  const before = server.processorTime();
  const { milliseconds, seconds, processor } = await run();
  return { milliseconds: [...milliseconds], seconds, server: server.processorTime() - before, client: processor };
}

function add(sum: Sum, turn: Sum): void {
  sum.milliseconds.push(...turn.milliseconds);
  sum.seconds += turn.seconds;
  sum.server += turn.server;
  sum.client += turn.client;
}

const figures = ({ milliseconds, seconds, server, client }: Sum): Row => ({
  requests: milliseconds.length,
  "per second": round(milliseconds.length / seconds),
  "p50 ms": round(median(milliseconds), 2),
  "p99 ms": round(quantile(milliseconds, 0.99), 2),
  "processor ms each": round((server / milliseconds.length) * 1000, 2),
  "of the client": round((client / milliseconds.length) * 1000, 2),
});

const ratios = (sum: Sum, ours: Sum): Row => ({
  "our ratio, p50": round(median(sum.milliseconds) / median(ours.milliseconds), 2),
  "our ratio, per second": round(sum.seconds / ours.seconds, 2),
  "our ratio, processor": round(sum.server / ours.server, 2),
});

export const requests: readonly Question[] = Object.entries(READS).map(([name, read]) => ({
  name: `requests ${name}`,
  answer: (sizes: Sizes) => answer(read, sizes),
}));
