// How long do the small requests of a backtest take, with one client and one connection?
import { codeFilesOf, filesOf, lakeOf } from "../harness/lakes.js";
import { servePeer } from "../harness/peers.js";
import { askJson, firstColumn, ourUrl, peerUrl } from "../harness/pull.js";
import type { Question, Row } from "../harness/question.js";
import { dated } from "../harness/selection.js";
import { serveTapehouse, withServers, type BenchServer } from "../harness/servers.js";
import { smallClient, some, timesRow } from "../harness/small.js";
import { median, round } from "../harness/turns.js";

const REQUESTS = 400;
/**
 * Warm-up requests, also for the peer: after them the code of a process is compiled. `first.ts` measures cold servers.
 */
const BEFORE = 200;
/** Requests in a row before it is the peer's turn: a peer that has just worked keeps the cores busy for a while. */
const IN_TURN = 50;
const PAGE = 1_000;

/** The same request to us and, if possible, to ClickHouse over the same files, in the clustering that suits it. */
interface Small {
  readonly path: (i: number) => string;
  readonly chdb?: (i: number) => string;
}

export async function smallReads(server: BenchServer, lake: string) {
  const codes = await firstColumn(server, "entities/stock_list?fields=ts_code");
  const days = await firstColumn(server, "entities/daily?fields=trade_date&ts_code=" + codes[0]!);
  const before = (await askJson<{ next_cursor: string }>(server, `entities/daily?limit=${PAGE * 999}`)).next_cursor;
  const from = days.at(-1250) ?? days[0]!;
  const hundred = (i: number): string[] => Array.from({ length: 100 }, (_, k) => some(codes, i * 100 + k));
  const chdb = (files: string, where: string): string => `SELECT * FROM file('${files}', Parquet) WHERE ${where}`;
  const byCode = codeFilesOf(lake, "daily");
  return {
    "one stock, all years": {
      path: (i) => `entities/daily?ts_code=${some(codes, i)}`,
      chdb: (i) => chdb(byCode, `ts_code = '${some(codes, i)}' ORDER BY trade_date`),
    },
    "one day, whole market": {
      path: (i) => `entities/daily?trade_date=${some(days, i)}`,
      chdb: (i) => chdb(filesOf(lake, "daily"), `trade_date = '${dated(some(days, i))}' ORDER BY ts_code`),
    },
    "100 stocks, 5 years": {
      path: (i) => `entities/daily?start_date=${from}&ts_code=${hundred(i).join(",")}`,
      chdb: (i) =>
        chdb(byCode, `trade_date >= '${dated(from)}' AND ts_code IN ('${hundred(i).join("','")}')`) +
        " ORDER BY trade_date, ts_code",
    },
    "page 1 of 1,000 rows": { path: () => `entities/daily?limit=${PAGE}` },
    "page 1,000 of 1,000 rows": { path: () => `entities/daily?limit=${PAGE}&cursor=${before}` },
    catalog: { path: () => "meta" },
    "calendar shift": { path: (i) => `calendar/shift?date=${some(days.slice(1), i)}&n=-1` },
  } satisfies Readonly<Record<string, Small>>;
}

export const small: Question = {
  name: "small reads",
  async answer({ smallDays }) {
    const lake = await lakeOf(smallDays);
    return withServers({ tapehouse: serveTapehouse(lake), chdb: servePeer("chdb") }, async ({ tapehouse, chdb }) => {
      const client = smallClient();
      const peer = smallClient();
      const rows: Row[] = [];
      for (const [name, question] of Object.entries<Small>(await smallReads(tapehouse, lake))) {
        const ours: number[] = [];
        const theirs: number[] = [];
        const part = name.startsWith("100") ? 1 / 8 : 1;
        const all = part * (BEFORE + REQUESTS);
        for (let from = 0; from < all; from += IN_TURN) {
          const turn = Array.from({ length: Math.min(IN_TURN, all - from) }, (_, i) => from + i);
          for (const i of turn) ours.push(await client.ask(ourUrl(tapehouse, question.path(i))));
          for (const i of question.chdb ? turn : []) {
            const query = question.chdb!(i);
            theirs.push(await peer.ask(peerUrl(chdb, { query, format: "JSONCompact" })));
          }
        }
        const [ourMs, theirMs] = [ours, theirs].map((times) => times.slice(part * BEFORE)) as [number[], number[]];
        const ratio = theirs.length > 0 ? round(median(theirMs) / median(ourMs), 2) : "";
        const chdbMs = theirs.length > 0 ? round(median(theirMs), 2) : "";
        rows.push({ question: name, ...timesRow(ourMs), "chdb median ms": chdbMs, "our ratio": ratio });
      }
      client.close();
      peer.close();
      return rows;
    });
  },
};
