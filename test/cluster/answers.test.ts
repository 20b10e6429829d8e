// The same questions to DuckDB and to a cluster have the same answers. With TAPEHOUSE_SPARK=sc://host:port, that cluster is
// asked.
import type { RecordBatch } from "apache-arrow";
import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { describe, expect, test } from "vitest";
import { openCluster, type Cluster } from "../../src/cluster/cluster.js";
import { toSpark, type Node, type SparkStatement } from "../../src/cluster/dialect/index.js";
import type { ClusterTable } from "../../src/cluster/views.js";
import { parsers } from "../../src/setting-values.js";
import { duckdbInMemory } from "../support/duckdb.js";
import { questions } from "../support/questions.js";
import { hasSail, OTHER_CLUSTER, startSail } from "../support/sail.js";
import { isLong, size } from "../support/size.js";
import { sqlMarket } from "../support/sql-market.js";

const QUESTIONS = size("QUESTIONS", 60, 200);
const SEED = size("SEED", 7);

const duckdb = duckdbInMemory({ threads: "1" });

type Cell = string | number | boolean | null;

async function parsed(connection: DuckDBConnection, sql: string): Promise<Node> {
  const reader = await connection.runAndReadAll("SELECT json_serialize_sql($1::VARCHAR)", [sql]);
  return JSON.parse(reader.getRowsJson()[0]![0] as string) as Node;
}

interface Answer {
  readonly names: readonly string[];
  readonly types: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

const DUCKDB_TYPES: Partial<Record<SparkStatement["columns"][number]["type"], string>> = {
  text: "VARCHAR",
  date: "DATE",
  float64: "DOUBLE",
  int64: "BIGINT",
  int128: "HUGEINT",
  boolean: "BOOLEAN",
};

const SHORT: Readonly<Record<string, string>> = { INTEGER: "BIGINT" };

/** Whole numbers and dates as text. */
function cellOf(value: DuckDBValue, type: string): Cell {
  if (typeof value === "boolean" || value === null) return value;
  return typeof value === "number" && type !== "BIGINT" ? value : String(value);
}

async function fromDuckDB(connection: DuckDBConnection, sql: string): Promise<Answer> {
  const reader = await connection.runAndReadAll(sql);
  const types = reader
    .columnTypes()
    .map(String)
    .map((type) => SHORT[type] ?? type);
  const rows = reader.getRows().map((row) => row.map((value, i) => cellOf(value, types[i]!)));
  return { names: reader.columnNames(), types, rows };
}

async function fromCluster(
  connection: DuckDBConnection,
  cluster: Cluster,
  tables: readonly ClusterTable[],
  sql: string,
): Promise<Answer> {
  const { sql: spark, args, columns } = toSpark(await parsed(connection, sql), tables, {});
  const limits = { deadline: Date.now() + 120_000, signal: new AbortController().signal };
  const result = await cluster.run({ sql: spark, args, tables, limit: null }, limits);
  const rows: Cell[][] = [];
  for await (const batch of result.batches)
    rows.push(
      ...rowsOf(
        batch,
        columns.map(({ type }) => type),
      ),
    );
  expect(result.schema.fields.map(({ name }) => name)).toEqual(columns.map(({ name }) => name));
  return { names: columns.map(({ name }) => name), types: columns.map(({ type }) => DUCKDB_TYPES[type]!), rows };
}

function rowsOf(batch: RecordBatch, types: readonly string[]): readonly Cell[][] {
  const columns = types.map((_, i) => batch.getChildAt(i)!);
  return Array.from({ length: batch.numRows }, (_, row) =>
    columns.map((column, i) => {
      const value = column.get(row) as Cell | bigint;
      if (typeof value === "number" && types[i] === "date") return new Date(value).toISOString().slice(0, 10);
      return value === null || typeof value === "boolean" || typeof value === "number" ? value : String(value);
    }),
  );
}

const isClose = (a: Cell, b: Cell): boolean =>
  typeof a === "number" && typeof b === "number"
    ? Object.is(a, b) || Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b), 1)
    : a === b;

function expectSame(found: Answer, expected: Answer, sql: string): void {
  expect(found.names, sql).toEqual(expected.names);
  expect(found.types, sql).toEqual(expected.types);
  expect(found.rows.length, sql).toBe(expected.rows.length);
  const row = expected.rows.findIndex((cells, i) => !cells.every((cell, k) => isClose(found.rows[i]![k]!, cell)));
  if (row >= 0) expect({ row, cells: found.rows[row] }, sql).toEqual({ row, cells: expected.rows[row] });
}

/** What could mean something else on a cluster. */
const SPECIAL = [
  "SELECT -close AS close, ts_code, trade_date FROM daily ORDER BY close, ts_code, trade_date",
  "SELECT ts_code, sum(vol) AS vol FROM daily WHERE vol > 900 GROUP BY ts_code ORDER BY vol, ts_code",
  "SELECT TS_CODE, Close FROM DAILY d WHERE D.Trade_Date = '2024-01-02' ORDER BY ts_code",
  `SELECT ts_code AS "a ""b` + "`c" + `", 'it''s \\ "x" \\n' AS q FROM stock_company ORDER BY 1`,
  "SELECT chairman, chairman LIKE '%it''s%' AS a, chairman LIKE '!%x__' AS b FROM stock_company ORDER BY ts_code",
  "SELECT chairman, count(*) AS n FROM stock_company GROUP BY chairman ORDER BY chairman DESC",
  "SELECT ts_code FROM stock_company EXCEPT SELECT '000001.SZ' EXCEPT SELECT '000002.SH' ORDER BY 1",
  "SELECT 'b' AS x UNION ALL SELECT 'B' UNION ALL SELECT 'é' UNION ALL SELECT '中' UNION ALL SELECT '' ORDER BY x",
  "SELECT -7 % 3 AS a, 7 % -3 AS b, -7 // 2 AS c, 7 / 2 AS d, -0.5e0 % 0.3e0 AS e, 1e300 * 1e300 AS f, -5 AS g",
  "SELECT round(-2.5e0) AS a, round(2.5e0) AS b, floor(-0.5e0) AS c, ceil(1e300) AS d, CAST(round(3.5e0) AS INT) AS e",
  "SELECT sum(x) AS s, avg(x) AS m FROM (SELECT 9007199254740991 * 1000 - is_open AS x FROM trade_cal)",
  "SELECT max(close) AS a, min(vol) AS b, sum(vol) AS c, count(vol) AS d, avg(vol) AS e FROM daily WHERE close < 0",
  "SELECT stddev(close) AS a, var_samp(close) AS b, stddev_pop(close) AS c, median(close) AS d FROM daily WHERE ts_code = '000001.SZ' AND trade_date = '2023-12-11'",
  "SELECT DISTINCT isodow(trade_date) AS a, dayofweek(trade_date) AS b, week(trade_date) AS c, trade_date AS d FROM daily ORDER BY d",
  "SELECT DATE '2023-12-31' + 60 AS a, DATE '2024-03-01' - 1 AS b, date_diff('day', DATE '2024-03-01', DATE '1999-12-31') AS c, last_day(DATE '1900-02-01') AS d",
  "SELECT a.ts_code, a.province AS x, b.province AS y FROM stock_company a JOIN stock_company b ON a.setup_date = b.setup_date - 97 ORDER BY 1",
  "SELECT * EXCLUDE (vol) FROM (SELECT ts_code, close, vol FROM daily WHERE vol IS NULL) q ORDER BY close, ts_code LIMIT 5",
  "SELECT c.*, n.n FROM stock_company c LEFT JOIN (SELECT ts_code, count(*) AS n FROM daily GROUP BY ts_code) n USING (ts_code) ORDER BY ts_code",
  "SELECT d.ts_code, n FROM (SELECT DISTINCT ts_code FROM daily) d FULL JOIN (SELECT ts_code AS c, 1 AS n FROM stock_company) s ON c = d.ts_code ORDER BY 1",
  "SELECT count(*) AS n FROM daily d, (SELECT DISTINCT province FROM stock_company) p WHERE EXISTS (SELECT 1 FROM trade_cal)",
  "SELECT CASE province WHEN '北京' THEN 1 WHEN '浙江' THEN 2e0 END AS a, coalesce(chairman, province, '') AS b FROM stock_company ORDER BY ts_code",
  "SELECT chairman IS DISTINCT FROM 'A1' AS a, NOT (chairman = 'A1') AS b, chairman IN ('A1', NULL) AS c FROM stock_company ORDER BY ts_code",
];

async function ask(address: string, count: number): Promise<void> {
  const tables = await sqlMarket(duckdb.connection);
  const cluster = openCluster(parsers.cluster(address, "--cluster"));
  try {
    for (const sql of [...SPECIAL, ...questions(SEED, count)]) {
      const expected = await fromDuckDB(duckdb.connection, sql);
      expectSame(await fromCluster(duckdb.connection, cluster, tables, sql), expected, sql);
    }
  } finally {
    await cluster.close();
  }
}

describe("a cluster", () => {
  test.runIf(OTHER_CLUSTER !== undefined)("that is given answers as DuckDB does", { timeout: 7_200_000 }, () =>
    ask(OTHER_CLUSTER!, QUESTIONS),
  );

  test.runIf(hasSail && OTHER_CLUSTER === undefined)(
    "of one process answers as DuckDB does",
    { timeout: 900_000 },
    async () => ask((await startSail()).address, QUESTIONS),
  );

  test.runIf(hasSail && OTHER_CLUSTER === undefined && isLong)(
    "of two workers answers as DuckDB does",
    { timeout: 900_000 },
    async () => ask((await startSail("workers")).address, QUESTIONS / 10),
  );
});
