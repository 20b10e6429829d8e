// How fast is a whole entity in each format, compared with engines that use the same files and both cores?
import { filesOf, lakeOf } from "../harness/lakes.js";
import { ourUrl, peerUrl, pull, rowsOf, type Pull } from "../harness/pull.js";
import type { Question, Row, Sizes } from "../harness/question.js";
import { servePeer, serveTapehouse, withServers, type BenchServer } from "../harness/servers.js";
import { inTurn, median, round } from "../harness/turns.js";

interface Names {
  readonly chdb: string;
  readonly duckdb?: string;
  readonly polars?: string;
  readonly plain?: boolean;
}

/** The name of the format in each peer that has it. */
const FORMATS: Readonly<Record<string, Names>> = {
  json: { chdb: "JSONCompact", duckdb: "json, ARRAY true", plain: true },
  ndjson: { chdb: "JSONEachRow", duckdb: "json", polars: "ndjson" },
  csv: { chdb: "CSVWithNames", duckdb: "csv", polars: "csv" },
  arrow: { chdb: "ArrowStream", polars: "arrow" },
  parquet: { chdb: "Parquet", duckdb: "parquet", polars: "parquet" },
};

/** ClickHouse's fastest settings: rows in any order, Arrow without compression. */
const chdbScan = (glob: string): string =>
  `SELECT * FROM file('${glob}', Parquet) SETTINGS output_format_arrow_compression_method = 'none'`;

async function answer(entity: string, format: string, { days, tries }: Sizes): Promise<readonly Row[]> {
  const lake = await lakeOf(days);
  const glob = filesOf(lake, entity);
  const names = FORMATS[format]!;
  const peers = {
    chdb: servePeer("chdb"),
    ...(names.polars && { polars: servePeer("polars") }),
    ...(names.duckdb && { "duckdb copy": servePeer("duckdb-copy") }),
    ...(names.plain && entity === "daily" && { "plain handler": servePeer("plain-handler") }),
    loopback: servePeer("loopback"),
  };
  const ours = { tapehouse: serveTapehouse(lake), "tapehouse, nothing kept": serveTapehouse(lake, { keeping: false }) };
  return withServers({ ...ours, ...peers }, async (servers) => {
    const path = `entities/${entity}?format=${format}`;
    const rows = await rowsOf(servers.tapehouse, entity);
    const { bytes } = await pull(ourUrl(servers.tapehouse, path));
    const query = `SELECT * FROM read_parquet('${glob}')`;
    const urlOf: Record<string, (server: BenchServer) => string> = {
      tapehouse: (server) => ourUrl(server, path),
      "tapehouse, nothing kept": (server) => ourUrl(server, path),
      chdb: (server) => peerUrl(server, { query: chdbScan(glob), format: names.chdb }),
      polars: (server) => peerUrl(server, { glob, format: names.polars! }),
      "duckdb copy": (server) => peerUrl(server, { query, format: names.duckdb! }),
      "plain handler": (server) => peerUrl(server, { query }),
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

export const wide: readonly Question[] = ["daily", "stk_auction"].flatMap((entity) =>
  Object.keys(FORMATS).map((format) => ({
    name: `wide ${entity} ${format}`,
    answer: (sizes) => answer(entity, format, sizes),
  })),
);
