// A small market as a lake, with its files as tables of DuckDB and of a cluster.
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { entityNamed } from "../../src/catalog/index.js";
import { quoteText } from "../../src/sql-text.js";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import type { ClusterTable } from "../../src/cluster/views.js";
import { temporaryFolder } from "./folders.js";
import { publishRows } from "./lake.js";

/** Forty stocks with gaps and nulls on `days` days, and companies of 36 of them. */
const rowsOf = (days: number): Readonly<Record<string, string>> => ({
  daily: `
    SELECT printf('%06d.%s', 1 + i % 40, ['SZ', 'SH'][1 + i % 2]) AS ts_code, DATE '2023-12-11' + (i // 40)::INT AS trade_date,
      round(5 + i % 40 + sin(i * 0.37) * 3, 2) AS close, round(5 + i % 40 + cos(i * 0.31) * 3, 2) AS open,
      CASE WHEN i % 11 > 0 THEN round(5 + i % 40 + sin((i - 40) * 0.37) * 3, 2) END AS pre_close,
      CASE WHEN i % 7 > 0 THEN round(1000 * (1 + sin(i * 1.7)), 1) END AS vol,
      CASE WHEN i % 13 > 0 THEN round(sin(i * 0.9) * 9.5, 4) END AS pct_chg
    FROM range(${40 * days}) t(i) WHERE i % 17 <> 3`,
  stock_company: `
    SELECT printf('%06d.%s', 1 + i, ['SZ', 'SH'][1 + i % 2]) AS ts_code,
      CASE WHEN i % 20 <> 5 THEN ['平安', 'A', '%x_', 'it''s', 'é b'][1 + i % 5] || i END AS chairman,
      ['北京', '浙江', '广东'][1 + i % 3] AS province, DATE '1999-01-01' + (i * 97)::INT AS setup_date
    FROM range(36) t(i)`,
  trade_cal: `
    SELECT 'SSE' AS exchange, DATE '2023-12-01' + i::INT AS cal_date, (isodow(DATE '2023-12-01' + i::INT) < 6)::INT AS is_open
    FROM range(${days + 20}) t(i)`,
});

export const publishSqlMarket = (root: string, days = 30) => publishRows(root, rowsOf(days));

/** The tables, which exist in DuckDB as views, too. */
export async function sqlMarket(connection: DuckDBConnection, days = 30): Promise<readonly ClusterTable[]> {
  const root = await temporaryFolder();
  await publishSqlMarket(root, days);
  const snapshot = (await openLake(root)).current();
  const tables = Object.keys(rowsOf(days)).map((name) => ({
    name,
    columns: entityNamed(name)!.columns.filter(({ derived, lookup }) => derived === undefined && lookup === undefined),
    files: snapshot.files(name).byDate.map(({ path }) => join(layoutOf(root).lake, path)),
    rows: snapshot.files(name).rows,
  }));
  for (const { name, columns, files } of tables) {
    const selected = columns.map((column) => `"${column.name}"`).join(", ");
    const list = files.map(quoteText).join(", ");
    await connection.run(`CREATE OR REPLACE VIEW ${name} AS SELECT ${selected} FROM read_parquet([${list}])`);
  }
  return tables;
}
