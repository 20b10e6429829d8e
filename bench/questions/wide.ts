// How fast are many rows in each format, compared with engines that use the same files and both cores: whole entities,
// three of their columns, and one month of the whole market?
import { lakeOf } from "../harness/lakes.js";
import { servePeer } from "../harness/peers.js";
import { peerUrl, pull, type Pull } from "../harness/pull.js";
import type { Question, Row, Sizes } from "../harness/question.js";
import { countOf, FORMATS, tradingDays, urlsOf, type Format, type Selection } from "../harness/selection.js";
import { serveTapehouse, withServers, type BenchServer } from "../harness/servers.js";
import { inTurn, median, round } from "../harness/turns.js";

interface Wide {
  readonly formats: readonly Format[];
  /** Whether the handler without any care for speed takes part: it takes long. */
  readonly plain?: boolean;
  readonly selection: (server: BenchServer) => Selection | Promise<Selection>;
}

const ALL = Object.keys(FORMATS) as Format[];
const MONTH = 21;

const WIDE: Readonly<Record<string, Wide>> = {
  "wide daily": { formats: ALL, plain: true, selection: () => ({ entity: "daily" }) },
  "wide stk_auction": { formats: ALL, selection: () => ({ entity: "stk_auction" }) },
  "three columns": {
    formats: ["json", "arrow"],
    selection: () => ({ entity: "daily", columns: ["ts_code", "trade_date", "close"] }),
  },
  "one month": {
    formats: ["json", "arrow"],
    selection: async (server) => {
      const days = await tradingDays(server);
      const first = Math.max(0, Math.floor((days.length - MONTH) / 2));
      return { entity: "daily", days: [days[first]!, days[Math.min(first + MONTH, days.length) - 1]!] };
    },
  },
};

async function answer(wide: Wide, format: Format, { days, tries }: Sizes): Promise<readonly Row[]> {
  const lake = await lakeOf(days);
  const names: (typeof FORMATS)[Format] = FORMATS[format];
  const peers = {
    chdb: servePeer("chdb"),
    ...("polars" in names && { polars: servePeer("polars") }),
    ...("duckdb" in names && { "duckdb copy": servePeer("duckdb-copy") }),
    ...(wide.plain && format === "json" && { "plain handler": servePeer("plain-handler") }),
    loopback: servePeer("loopback"),
  };
  const ours = { tapehouse: serveTapehouse(lake), "tapehouse, nothing kept": serveTapehouse(lake, { keeping: false }) };
  return withServers({ ...ours, ...peers }, async (servers) => {
    const selection = await wide.selection(servers.tapehouse);
    const rows = await countOf(servers.tapehouse, selection);
    const urls = urlsOf(lake, selection, format);
    const { bytes } = await pull(urls.tapehouse(servers.tapehouse));
    const urlOf: Record<string, (server: BenchServer) => string> = {
      ...urls,
      "tapehouse, nothing kept": urls.tapehouse,
      loopback: (server) => peerUrl(server, { bytes: `${bytes}` }),
    };
    const entries = Object.entries<BenchServer>(servers);
    const contenders = entries.map(([name, server]) => [name, () => pull(urlOf[name]!(server))] as const);
    const pulls: Record<string, Pull[]> = await inTurn(Object.fromEntries(contenders), tries);
    const seconds = (name: string): number => median(pulls[name]!.map(({ total }) => total));
    return entries.map(([name, server]) => ({
      server: name,
      rows,
      "rows/s": round(rows / seconds(name)),
      "MB/s": round(pulls[name]![0]!.bytes / seconds(name) / 1e6),
      "first byte ms": round(median(pulls[name]!.map(({ firstByte }) => firstByte)) * 1000, 1),
      "peak MB": round(server.peakMemory() / 1e6),
      "our ratio": round(seconds(name) / seconds("tapehouse"), 2),
      "our ratio, nothing kept": round(seconds(name) / seconds("tapehouse, nothing kept"), 2),
    }));
  });
}

export const wide: readonly Question[] = Object.entries(WIDE).flatMap(([name, one]) =>
  one.formats.map((format) => ({
    name: `${name} ${format}`,
    answer: (sizes: Sizes) => answer(one, format, sizes),
  })),
);
