// What is the total throughput of 1, 4 and 16 concurrent clients?
import { codeFilesOf, lakeOf } from "../harness/lakes.js";
import { servePeer } from "../harness/peers.js";
import { firstColumn, ourUrl, peerUrl, pullTogether, rowsOf } from "../harness/pull.js";
import type { Question, Row } from "../harness/question.js";
import { urlsOf } from "../harness/selection.js";
import { serveTapehouse, withServers } from "../harness/servers.js";
import { some } from "../harness/small.js";
import { inTurn, median, round } from "../harness/turns.js";

const CLIENTS = [1, 4, 16] as const;
const SMALL_REQUESTS = 400;

const clientsWide: Question = {
  name: "many clients wide",
  async answer({ days, tries }) {
    const lake = await lakeOf(days);
    return withServers({ tapehouse: serveTapehouse(lake), chdb: servePeer("chdb") }, async ({ tapehouse, chdb }) => {
      const rows = await rowsOf(tapehouse, "daily");
      const urls = urlsOf(lake, { entity: "daily" }, "json");
      const [ours, theirs] = [urls.tapehouse(tapehouse), urls.chdb(chdb)];
      const table: Row[] = [];
      for (const clients of CLIENTS) {
        const all = (url: string) => (): Promise<number> => pullTogether(Array<string>(clients).fill(url), clients);
        const turns = await inTurn({ ours: all(ours), theirs: all(theirs) }, Math.ceil(tries / 2));
        table.push(together("rows/s", clients, clients * rows, turns));
      }
      return table;
    });
  },
};

const clientsSmall: Question = {
  name: "many clients small",
  async answer({ smallDays, tries }) {
    const lake = await lakeOf(smallDays);
    return withServers({ tapehouse: serveTapehouse(lake), chdb: servePeer("chdb") }, async ({ tapehouse, chdb }) => {
      const codes = await firstColumn(tapehouse, "entities/stock_list?fields=ts_code");
      const asked = Array.from({ length: SMALL_REQUESTS }, (_, i) => some(codes, i));
      const query = (code: string): string =>
        `SELECT * FROM file('${codeFilesOf(lake, "daily")}', Parquet) WHERE ts_code = '${code}' ORDER BY trade_date`;
      const ours = asked.map((code) => ourUrl(tapehouse, `entities/daily?ts_code=${code}`));
      const theirs = asked.map((code) => peerUrl(chdb, { query: query(code), format: "JSONCompact" }));
      const table: Row[] = [];
      for (const clients of CLIENTS) {
        const all = (urls: readonly string[]) => (): Promise<number> => pullTogether(urls, clients);
        const turns = await inTurn({ ours: all(ours), theirs: all(theirs) }, Math.ceil(tries / 2));
        table.push(together("requests/s", clients, SMALL_REQUESTS, turns));
      }
      return table;
    });
  },
};

/** One row: the total throughput of all clients per second. */
function together(
  unit: string,
  clients: number,
  amount: number,
  turns: Readonly<Record<"ours" | "theirs", number[]>>,
): Row {
  return {
    clients,
    [`tapehouse ${unit}`]: round(amount / median(turns.ours)),
    [`chdb ${unit}`]: round(amount / median(turns.theirs)),
    "our ratio": round(median(turns.theirs) / median(turns.ours), 2),
  };
}

export const clients: readonly Question[] = [clientsWide, clientsSmall];
