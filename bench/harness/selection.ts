// Rows and columns of an entity, and how each server is asked for them.
import { filesOf } from "./lakes.js";
import { askJson, firstColumn, ourUrl, peerUrl, rowsOf } from "./pull.js";
import type { BenchServer } from "./servers.js";

export interface Selection {
  readonly entity: string;
  /** All columns if it is missing. */
  readonly columns?: readonly string[];
  /** The first and the last day, as `YYYYMMDD`; all days if it is missing. */
  readonly days?: readonly [start: string, end: string];
}

/** The name of the format in each peer that has it. */
interface Names {
  readonly chdb: string;
  readonly duckdb?: string;
  readonly polars?: string;
}

export const FORMATS = {
  json: { chdb: "JSONCompact", duckdb: "json, ARRAY true" },
  ndjson: { chdb: "JSONEachRow", duckdb: "json", polars: "ndjson" },
  csv: { chdb: "CSVWithNames", duckdb: "csv", polars: "csv" },
  arrow: { chdb: "ArrowStream", polars: "arrow" },
  parquet: { chdb: "Parquet", duckdb: "parquet", polars: "parquet" },
} as const satisfies Readonly<Record<string, Names>>;
export type Format = keyof typeof FORMATS;

/** A day as peers want it. */
export const dated = (day: string): string => `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;

/** The path of a selection on our server. */
function ourPath({ entity, columns, days }: Selection, format: Format): string {
  const parameters = {
    format,
    ...(columns && { fields: columns.join() }),
    ...(days && { start_date: days[0], end_date: days[1] }),
  };
  return `entities/${entity}?${new URLSearchParams(parameters).toString()}`;
}

/** SQL with the selection as rows in any order, from a table function with the files. */
const sqlOf = ({ columns, days }: Selection, source: string): string =>
  `SELECT ${columns?.join(", ") ?? "*"} FROM ${source}` +
  (days ? ` WHERE trade_date BETWEEN '${dated(days[0])}' AND '${dated(days[1])}'` : "");

/** The URL with which each kind of server is asked for a selection of a lake. */
export const urlsOf = (lake: string, selection: Selection, format: Format) => {
  const { entity, columns, days } = selection;
  const glob = filesOf(lake, entity);
  const names: Names = FORMATS[format];
  const duckdbQuery = sqlOf(selection, `read_parquet('${glob}')`);
  return {
    tapehouse: (server: BenchServer) => ourUrl(server, ourPath(selection, format)),
    chdb: (server: BenchServer) =>
      peerUrl(server, { query: sqlOf(selection, `file('${glob}', Parquet)`), format: names.chdb }),
    polars: (server: BenchServer) =>
      peerUrl(server, {
        glob,
        format: names.polars!,
        ...(columns && { columns: columns.join() }),
        ...(days && { start: dated(days[0]), end: dated(days[1]) }),
      }),
    "duckdb copy": (server: BenchServer) => peerUrl(server, { query: duckdbQuery, format: names.duckdb! }),
    "plain handler": (server: BenchServer) => peerUrl(server, { query: duckdbQuery }),
  };
};

/** How many rows it has. */
export async function countOf(server: BenchServer, selection: Selection): Promise<number> {
  if (!selection.days) return rowsOf(server, selection.entity);
  const counted = await askJson<{ count: number }>(server, ourPath({ ...selection, columns: ["ts_code"] }, "json"));
  return counted.count;
}

/** Trading days, in order. */
export async function tradingDays(server: BenchServer): Promise<readonly string[]> {
  const [code] = await firstColumn(server, "entities/stock_list?fields=ts_code");
  return firstColumn(server, `entities/daily?fields=trade_date&ts_code=${code!}`);
}
