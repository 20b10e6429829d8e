// How fast is SQL: an aggregate compared with DuckDB in this process, ten statements compared with ClickHouse, and small
// reads while heavy statements run?
import { availableParallelism } from "node:os";
import { DuckDBInstance } from "@duckdb/node-api";
import { filesOf, lakeOf } from "../harness/lakes.js";
import { servePeer } from "../harness/peers.js";
import { ourUrl, peerUrl, rowsOf } from "../harness/pull.js";
import type { Question, Row } from "../harness/question.js";
import { serveTapehouse, TOKEN, withServers, type BenchServer } from "../harness/servers.js";
import { smallClient, timesRow } from "../harness/small.js";
import { inTurn, median, quantile, round } from "../harness/turns.js";
import { overFiles, QUANT_STATEMENTS } from "./quant-statements.js";
import { smallReads } from "./small.js";

/** Time at most, relative to DuckDB; speed at least, relative to ClickHouse; p99 at most, relative to an idle server. */
const TARGETS = { aggregate: 1.3, quant: 2, beside: 2 } as const;

const sqlUrl = (server: BenchServer, sql: string): string =>
  ourUrl(server, `sql?${new URLSearchParams({ q: sql }).toString()}`);

const AGGREGATE =
  "SELECT ts_code, count(*) AS n, avg(close) AS mean, stddev_samp(pct_chg) AS deviation, max(high) AS high, sum(amount) AS amount FROM daily GROUP BY 1 ORDER BY 1";

const parquet = (lake: string) => (entity: string) => `read_parquet('${filesOf(lake, entity)}')`;

const aggregate: Question = {
  name: "sql aggregate",
  async answer({ smallDays, tries }) {
    const lake = await lakeOf(smallDays);
    const instance = await DuckDBInstance.create(":memory:", { threads: String(availableParallelism()) });
    const duckdb = await instance.connect();
    await duckdb.run("SET parquet_metadata_cache = true");
    const client = smallClient();
    try {
      return await withServers({ server: serveTapehouse(lake) }, async ({ server }) => {
        const url = sqlUrl(server, AGGREGATE);
        const own = overFiles(AGGREGATE, parquet(lake));
        const times = await inTurn(
          {
            http: () => costOf(server.processorTime, () => client.ask(url)),
            duckdb: () => costOf(ownProcessorTime, () => duckdb.runAndReadAll(own)),
          },
          tries,
        );
        const [ours, theirs] = [medianOf(times.http), medianOf(times.duckdb)];
        return [
          {
            "aggregate over rows": await rowsOf(server, "daily"),
            "median ms": round(ours.ms),
            "DuckDB median ms": round(theirs.ms),
            slower: round(ours.ms / theirs.ms, 2),
            target: `≤ ${TARGETS.aggregate}`,
            "more processor time": round(ours.processor / theirs.processor, 2),
          },
        ];
      });
    } finally {
      client.close();
      duckdb.closeSync();
      instance.closeSync();
    }
  },
};

/** Milliseconds of the clock, and of the processor: where other programs keep the cores busy, only these can be compared. */
interface Cost {
  readonly ms: number;
  readonly processor: number;
}

/** `processorTime` gives seconds. */
async function costOf(processorTime: () => number, work: () => Promise<unknown>): Promise<Cost> {
  const [started, before] = [performance.now(), processorTime()];
  await work();
  return { ms: performance.now() - started, processor: (processorTime() - before) * 1000 };
}

const ownProcessorTime = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

const medianOf = (costs: readonly Cost[]): Cost => ({
  ms: median(costs.map(({ ms }) => ms)),
  processor: median(costs.map(({ processor }) => processor)),
});

const quant: Question = {
  name: "sql quant",
  async answer({ days, tries }) {
    const lake = await lakeOf(days);
    const [client, peer] = [smallClient(), smallClient()];
    try {
      return await withServers({ tapehouse: serveTapehouse(lake), chdb: servePeer("chdb") }, async (servers) => {
        const rows: Row[] = [];
        const sums = { ours: { ms: 0, processor: 0 }, theirs: { ms: 0, processor: 0 } };
        for (const { name, sql, chdb = sql } of QUANT_STATEMENTS) {
          const query = overFiles(chdb, (entity) => `file('${filesOf(lake, entity)}', Parquet)`);
          const ours = sqlUrl(servers.tapehouse, sql);
          const theirs = peerUrl(servers.chdb, { query, format: "JSONCompact" });
          const count = requireSame(name, await rowsAt(ours), await rowsAt(theirs));
          const contenders = {
            ours: () => costOf(servers.tapehouse.processorTime, () => client.ask(ours)),
            theirs: () => costOf(servers.chdb.processorTime, () => peer.ask(theirs)),
          };
          const costs = await inTurn(contenders, tries);
          const medians = { ours: medianOf(costs.ours), theirs: medianOf(costs.theirs) };
          sums.ours = sumOf(sums.ours, medians.ours);
          sums.theirs = sumOf(sums.theirs, medians.theirs);
          rows.push({ statement: name, rows: count, ...compared(medians), target: "" });
        }
        return [...rows, { statement: "all ten", rows: "", ...compared(sums), target: `≥ ${TARGETS.quant}` }];
      });
    } finally {
      client.close();
      peer.close();
    }
  },
};

const sumOf = (a: Cost, b: Cost): Cost => ({ ms: a.ms + b.ms, processor: a.processor + b.processor });

const compared = ({ ours, theirs }: { readonly ours: Cost; readonly theirs: Cost }): Row => ({
  "median ms": round(ours.ms, 1),
  "chdb median ms": round(theirs.ms, 1),
  "our ratio": round(theirs.ms / ours.ms, 2),
  "our ratio, processor": round(theirs.processor / ours.processor, 2),
});

type Values = readonly (readonly unknown[])[];

async function rowsAt(url: string): Promise<Values> {
  const response = await fetch(url, { headers: { Authorization: `Bearer ${TOKEN}` } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`);
  const answer = JSON.parse(text) as { readonly rows: Values } | { readonly data: Values };
  return "data" in answer ? answer.data : answer.rows;
}

/** The number of rows. Throws if two answers differ by more than the rounding of sums. */
function requireSame(name: string, ours: Values, theirs: Values): number {
  const isSame =
    ours.length > 0 &&
    ours.length === theirs.length &&
    ours.every((row, i) => row.every((value, k) => isNear(plain(value), plain(theirs[i]![k]))));
  if (!isSame) {
    const at = ours.findIndex((row, i) => !row.every((value, k) => isNear(plain(value), plain(theirs[i]?.[k]))));
    const [our, their] = [JSON.stringify(ours[at]), JSON.stringify(theirs[at])];
    throw new Error(`${name}: ${ours.length} and ${theirs.length} rows; the first that differ are ${our} and ${their}`);
  }
  return ours.length;
}

/** ClickHouse writes dates with hyphens, and long whole numbers as text. */
const plain = (value: unknown): unknown =>
  typeof value !== "string"
    ? value
    : /^\d+$/.test(value)
      ? Number(value)
      : value.replace(/^(\d{4})-(\d\d)-(\d\d)$/, "$1$2$3");

const isNear = (a: unknown, b: unknown): boolean =>
  typeof a === "number" && typeof b === "number"
    ? Math.abs(a - b) <= 1e-7 * Math.max(1, Math.abs(a), Math.abs(b))
    : String(a) === String(b);

const HEAVY = `SELECT trade_date, avg(v) AS v FROM (SELECT trade_date, stddev_samp(pct_chg) OVER
  (PARTITION BY ts_code ORDER BY trade_date ROWS BETWEEN 19 PRECEDING AND CURRENT ROW) AS v FROM daily) t GROUP BY 1 ORDER BY 1`;
const STATEMENTS = 8;
const BLOCK = 200;
const BEFORE = 200;
const READS = ["one stock, all years", "one day, whole market"] as const;

const beside: Question = {
  name: "sql beside small reads",
  async answer({ smallDays, tries }) {
    const lake = await lakeOf(smallDays);
    return withServers({ server: serveTapehouse(lake) }, async ({ server }) => {
      const reads = await smallReads(server, lake);
      const client = smallClient();
      let asked = 0;
      const block = async (read: (typeof READS)[number], count = BLOCK): Promise<number[]> => {
        const times: number[] = [];
        while (times.length < count) times.push(await client.ask(ourUrl(server, reads[read].path(asked++))));
        return times;
      };
      const rows: Row[] = [];
      for (const read of READS) {
        const [alone, during]: [number[], number[]] = [[], []];
        await block(read, BEFORE);
        for (let turn = 0; turn < tries; turn++) {
          alone.push(...(await block(read)));
          const stop = await startStatements(server);
          during.push(...(await block(read)));
          await stop();
        }
        const slower = round(quantile(during, 0.99) / quantile(alone, 0.99), 2);
        rows.push({ read, beside: "nothing", reads: alone.length, ...timesRow(alone), "p99 slower": 1, target: "" });
        const target = `≤ ${TARGETS.beside}`;
        rows.push({
          read,
          beside: `${STATEMENTS} statements`,
          reads: during.length,
          ...timesRow(during),
          "p99 slower": slower,
          target,
        });
      }
      client.close();
      return rows;
    });
  },
};

/** Sends statements on several connections, each again and again. Resolves when the first one was answered. */
async function startStatements(server: BenchServer): Promise<() => Promise<void>> {
  let isOver = false;
  const clients = Array.from({ length: STATEMENTS }, () => smallClient());
  const url = sqlUrl(server, HEAVY);
  const first = clients.map((client) => client.ask(url));
  const running = clients.map(async (client, i) => {
    await first[i];
    while (!isOver) await client.ask(url);
  });
  await Promise.race(first);
  return async () => {
    isOver = true;
    await Promise.all(running);
    for (const client of clients) client.close();
  };
}

export const sql: readonly Question[] = [aggregate, quant, beside];
