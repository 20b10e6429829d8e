// The responses that the readers read, made once by a real server, and the values that they must find.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { FORMAT_NAMES, type Format } from "../../src/catalog/formats.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve } from "../support/server.js";

export type Kind = "text" | "float" | "int";
export type Value = string | number | bigint | null;

export interface Answer {
  readonly name: string;
  readonly format: Format;
  readonly path: string;
  readonly columns: readonly (readonly [name: string, kind: Kind])[];
  readonly rows: readonly (readonly Value[])[];
}

const AWKWARD = `CASE n % 7 WHEN 0 THEN NULL WHEN 1 THEN 'a,b' WHEN 2 THEN 'say "no"' WHEN 3 THEN E'贵州茅台\\n🚀'
  WHEN 4 THEN '' WHEN 5 THEN E'tab\\tand \\\\ and \\r' ELSE 'NULL' END`;
const EXTREME = `CASE n % 8 WHEN 0 THEN NULL WHEN 1 THEN 0.1::DOUBLE + 0.2::DOUBLE WHEN 2 THEN 5e-324 WHEN 3 THEN 1.7976931348623157e308
  WHEN 4 THEN -1e-7 WHEN 5 THEN 9007199254740993::DOUBLE WHEN 6 THEN 0 ELSE n / 3.0::DOUBLE END`;

/** More rows than the first row group of a Parquet response can have. */
const FIRST_ROW_GROUP = 66_000;

/** Rows of an auction, with columns of all types but integers. One has no text in the first row group. */
const ticks = (rows: number, text: string, number: string): string =>
  `SELECT printf('%06d.SZ', n % 5000) AS ts_code, DATE '2023-01-01' + (n // 5000)::INT AS trade_date, ${text} AS ts_type,
          ${number} AS price, CASE WHEN n % 11 > 0 THEN n / 100.0::DOUBLE END AS vol,
          CASE WHEN n >= ${FIRST_ROW_GROUP} THEN ${text} END AS time FROM range(${rows}) t(n)`;

const TICK_COLUMNS = [
  ["ts_code", "text"],
  ["trade_date", "text"],
  ["ts_type", "text"],
  ["price", "float"],
  ["vol", "float"],
  ["time", "text"],
] as const;

const CALENDAR = `SELECT 'SSE' AS exchange, DATE '2023-01-01' + n::INT AS cal_date, n % 2 AS is_open,
  CASE WHEN n > 0 THEN DATE '2023-01-01' + n::INT - 1 END AS pretrade_date FROM range(1000) t(n)`;

const CALENDAR_COLUMNS = [
  ["exchange", "text"],
  ["cal_date", "text"],
  ["is_open", "int"],
  ["pretrade_date", "text"],
] as const;

interface Case {
  readonly entity: string;
  readonly query: string;
  readonly columns: Answer["columns"];
  /** The rows of the source that match. */
  readonly where: string;
}

const CASES: Readonly<Record<string, Case>> = {
  "no rows": { entity: "stk_auction_o", query: "ts_code=999999.SZ", columns: TICK_COLUMNS, where: "false" },
  "no rows with integers": {
    entity: "trade_cal",
    query: "start_date=20300101",
    columns: CALENDAR_COLUMNS,
    where: "false",
  },
  "one row": {
    entity: "stk_auction_o",
    query: "ts_code=000003.SZ&end_date=20230101",
    columns: TICK_COLUMNS,
    where: "ts_code = '000003.SZ' AND trade_date = '2023-01-01'",
  },
  "only missing values": {
    entity: "stk_auction_c",
    query: "",
    columns: [TICK_COLUMNS[2], TICK_COLUMNS[3], TICK_COLUMNS[5]],
    where: "true",
  },
  "one column": {
    entity: "stk_auction_o",
    query: "end_date=20230101",
    columns: [TICK_COLUMNS[3]],
    where: "trade_date = '2023-01-01'",
  },
  "one column of text": {
    entity: "stk_auction_o",
    query: "end_date=20230101",
    columns: [TICK_COLUMNS[2]],
    where: "trade_date = '2023-01-01'",
  },
  integers: { entity: "trade_cal", query: "", columns: CALENDAR_COLUMNS, where: "true" },
  "many batches and row groups": { entity: "stk_auction_o", query: "", columns: TICK_COLUMNS, where: "true" },
};

const SOURCES: Readonly<Record<string, { readonly sql: string; readonly order: string }>> = {
  stk_auction_o: { sql: ticks(70_000, AWKWARD, EXTREME), order: "trade_date, ts_code" },
  stk_auction_c: { sql: ticks(20, "NULL", "NULL"), order: "trade_date, ts_code" },
  trade_cal: { sql: CALENDAR, order: "cal_date" },
};

/** Every case in every format, in files of a temporary folder. */
export async function makeAnswers(): Promise<readonly Answer[]> {
  const folder = await temporaryFolder();
  await publishRows(folder, Object.fromEntries(Object.entries(SOURCES).map(([name, { sql }]) => [name, sql])));
  const server = await serve(folder);
  const answers: Answer[] = [];
  for (const [i, [name, { entity, query, columns, where }]] of Object.entries(CASES).entries()) {
    const rows = await plainRows(entity, columns, where);
    const fields = columns.map(([column]) => column).join();
    for (const format of FORMAT_NAMES) {
      const path = join(folder, `answer-${i}.${format}`);
      const response = await server.get(`/api/v1/entities/${entity}?${query}&fields=${fields}&format=${format}`);
      if (response.status !== 200) throw new Error(`${name}: ${await response.text()}`);
      await writeFile(path, Buffer.from(await response.arrayBuffer()));
      answers.push({ name, format, path, columns, rows });
    }
  }
  return answers;
}

/** The rows of the source by plain SQL; dates as the API writes them. */
async function plainRows(entity: string, columns: Answer["columns"], where: string): Promise<Value[][]> {
  const { sql, order } = SOURCES[entity]!;
  const cells = columns.map(([name]) => (name.endsWith("_date") ? `strftime(${name}, '%Y%m%d')` : name));
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  const found = await connection.runAndReadAll(`SELECT ${cells.join()} FROM (${sql}) WHERE ${where} ORDER BY ${order}`);
  const rows = found.getRows() as Value[][];
  connection.disconnectSync();
  instance.closeSync();
  return rows;
}

const BITS = new DataView(new ArrayBuffer(8));

/** What a reader writes of a value: its type and its exact bytes. */
const SHOWN: Record<Kind, (value: Value) => string> = {
  text: (value) => `t${Buffer.from(String(value)).toString("hex")}`,
  float: (value) => {
    BITS.setFloat64(0, Number(value));
    return `f${BITS.getBigUint64(0).toString(16).padStart(16, "0")}`;
  },
  int: (value) => `i${String(value)}`,
};

/** Columns with their types, then a line for each row. */
export function dumped(columns: Answer["columns"], rows: Iterable<readonly Value[]>): string {
  const lines = [columns.map((column) => column.join(":")).join("\t")];
  for (const row of rows) {
    lines.push(columns.map(([, kind], i) => (row[i] === null ? "-" : SHOWN[kind](row[i]!))).join("\t"));
  }
  return `${lines.join("\n")}\n`;
}
