// Which statements run on a cluster, and how they are written for it.
import { describe, expect, test } from "vitest";
import { NotOnClusterError, toSpark, type Node, type Parameter } from "../../src/cluster/dialect/index.js";
import { duckdbInMemory } from "../support/duckdb.js";

const duckdb = duckdbInMemory({ threads: "1" });

const TABLES = [
  {
    name: "daily",
    columns: [
      { name: "ts_code", type: "code" },
      { name: "trade_date", type: "date" },
      { name: "close", type: "float64" },
      { name: "open", type: "float64" },
    ],
  },
  {
    name: "trade_cal",
    columns: [
      { name: "cal_date", type: "date" },
      { name: "is_open", type: "int64" },
    ],
  },
] as const;

async function written(sql: string, parameters: Readonly<Record<string, Parameter>> = {}) {
  const reader = await duckdb.connection.runAndReadAll("SELECT json_serialize_sql($1::VARCHAR)", [sql]);
  return toSpark(JSON.parse(reader.getRowsJson()[0]![0] as string) as Node, TABLES, parameters);
}

describe("a statement for a cluster", () => {
  test("names every column with its table, and says where nulls are", async () => {
    const { sql, args, columns } = await written(
      "SELECT TS_CODE, sum(close) AS s FROM daily d WHERE open IS NOT NULL GROUP BY 1 ORDER BY s DESC LIMIT 3",
    );
    expect(sql).toBe(
      "SELECT `d`.`ts_code` AS `ts_code`, sum(`d`.`close`) AS `s` FROM `daily` AS `d` WHERE (`d`.`open` IS NOT NULL)" +
        " GROUP BY `d`.`ts_code` ORDER BY `s` DESC NULLS LAST LIMIT 3",
    );
    expect(args).toEqual({});
    expect(columns).toEqual([
      { name: "ts_code", type: "text" },
      { name: "s", type: "float64" },
    ]);
  });

  test("has no text of the user in its SQL, except for checked dates and quoted names", async () => {
    const { sql, args } = await written(
      `SELECT 'it''s' AS "a\`b", $code AS c FROM daily WHERE ts_code IN ('x', $code) AND trade_date > $since AND close > $low`,
      { code: "'); DROP", since: "2024-01-31", low: 1.5 },
    );
    expect(sql).toBe(
      "SELECT :text_1 AS `a``b`, :text_2 AS `c` FROM `daily` AS `daily` WHERE ((`daily`.`ts_code` IN (:text_3, :text_2))" +
        " AND (`daily`.`trade_date` > DATE '2024-01-31') AND (`daily`.`close` > 1.5D))",
    );
    expect(args).toMatchObject({ text_1: { string: "it's" }, text_2: { string: "'); DROP" }, text_3: { string: "x" } });
  });

  test("computes whole numbers so that no overflow passes unnoticed", async () => {
    const { sql, columns } = await written("SELECT sum(is_open + 1) AS s FROM trade_cal");
    expect(sql).toBe(
      "SELECT CAST(sum(CAST(CAST(CAST(`trade_cal`.`is_open` AS DECIMAL(19,0)) + CAST(1L AS DECIMAL(19,0)) AS BIGINT)" +
        " AS DECIMAL(19,0))) AS DECIMAL(38,0)) AS `s` FROM `trade_cal` AS `trade_cal`",
    );
    expect(columns).toEqual([{ name: "s", type: "int128" }]);
  });
});

/** Statements that are refused, with a part of the reason. */
const REFUSED: readonly (readonly [string, string])[] = [
  ["SELECT 1; SELECT 2", "anything but one SELECT"],
  ["DELETE FROM daily", "anything but one SELECT"],
  ["SELECT ts_code, ts_code FROM daily", "two columns ts_code"],
  ["SELECT * FROM read_parquet('x')", "the table function read_parquet"],
  ["SELECT * FROM nowhere", "the unknown table nowhere"],
  ["SELECT * FROM main.daily", "a table with schema name"],
  ["SELECT * FROM daily TABLESAMPLE 10%", "sample"],
  ["SELECT * FROM daily USING SAMPLE 10", "sample"],
  ["SELECT nope FROM daily", "the unknown column nope"],
  ["SELECT close FROM daily a JOIN daily b ON a.ts_code = b.ts_code", "the column close of several tables"],
  ["SELECT a.close FROM daily a, daily a", "the name a for two tables"],
  ["SELECT a.close FROM daily a ASOF JOIN daily b ON a.trade_date >= b.trade_date", "ASOF"],
  ["SELECT a.close FROM daily a NATURAL JOIN daily b", "NATURAL"],
  ["SELECT a.close FROM daily a SEMI JOIN daily b USING (ts_code)", "SEMI"],
  [
    "SELECT 1 AS x FROM daily d WHERE EXISTS (SELECT 1 FROM trade_cal WHERE cal_date = d.trade_date)",
    "the unknown column d.trade_date",
  ],
  ["SELECT close FROM daily LIMIT 5", "LIMIT without ORDER BY"],
  ["SELECT close FROM daily ORDER BY ALL", "ORDER BY ALL"],
  ["SELECT ts_code, sum(close) AS s FROM daily GROUP BY ALL", "GROUP BY ALL"],
  ["SELECT ts_code, sum(close) AS s FROM daily GROUP BY ROLLUP (ts_code)", "several groupings"],
  ["SELECT ts_code FROM daily GROUP BY ts_code ORDER BY sum(close)", "what is not selected"],
  ["SELECT sum(close) AS close FROM daily GROUP BY ts_code HAVING close > 3", "a column and a name in SELECT"],
  ["SELECT close FROM daily QUALIFY row_number() OVER (ORDER BY close) = 1", "SELECT with qualify"],
  ["SELECT DISTINCT ON (ts_code) ts_code, close FROM daily", "DISTINCT with distinct on targets"],
  [
    "WITH RECURSIVE t AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM t WHERE x < 3) SELECT x FROM t",
    "recursive cte node",
  ],
  ["SELECT row_number() OVER () AS r FROM daily", "row_number without ORDER BY"],
  [
    "SELECT sum(close) OVER (ORDER BY trade_date RANGE BETWEEN 3 PRECEDING AND CURRENT ROW) AS s FROM daily",
    "not made of ROWS",
  ],
  ["SELECT lag(close IGNORE NULLS) OVER (ORDER BY trade_date) AS s FROM daily", "lag OVER with ignore nulls"],
  ["SELECT median(close) OVER (ORDER BY trade_date) AS s FROM daily", "median as a window function"],
  ["SELECT first(close) AS f FROM daily", "the function first"],
  ["SELECT corr(close, open) AS c FROM daily", "the function corr"],
  ["SELECT sum(close ORDER BY open) AS c FROM daily", "sum with order bys"],
  ["SELECT round(close, 2) AS r FROM daily", "round with 2 arguments"],
  ["SELECT CAST(close AS BIGINT) AS i FROM daily", "CAST of a DOUBLE to an integer"],
  ["SELECT CAST(close AS VARCHAR) AS t FROM daily", "CAST of a DOUBLE to VARCHAR"],
  ["SELECT CAST(ts_code AS DOUBLE) AS t FROM daily", "CAST of text to DOUBLE"],
  ["SELECT TRY_CAST(close AS BIGINT) AS i FROM daily", "CAST with try cast"],
  ["SELECT 1.5 AS d", "a result column of this type (d)"],
  ["SELECT sum(CASE WHEN close > 3 THEN 1.5 ELSE 0 END) AS d FROM daily", "write 1.5e0"],
  ["SELECT close > '3' AS d FROM daily", "a DOUBLE next to text"],
  ["SELECT trade_date = 'yesterday' AS d FROM daily", "the date 'yesterday'"],
  ["SELECT trade_date = '2024-02-30' AS d FROM daily", "the date '2024-02-30'"],
  ["SELECT NULL AS d", "a result column of this type (d)"],
  ["SELECT date_trunc('month', trade_date) AS m FROM daily", "a result column of this type (m)"],
  ["SELECT trade_date + INTERVAL 1 MONTH AS m FROM daily", "the function to_months"],
  ["SELECT ts_code LIKE '\\_%' AS m FROM daily", "LIKE with a backslash"],
  ["SELECT ts_code ~ 'x' AS m FROM daily", "the function regexp_full_match"],
  ["SELECT [1, 2] AS m", "the function list_value"],
  ["SELECT upper(ts_code) AS m FROM daily", "the function upper"],
  ["SELECT constructor(ts_code) AS m, tostring(1) AS n FROM daily", "the function constructor"],
  ["SELECT $absent AS x", "$absent without a value"],
  ["SELECT 123456789012345678901234567890 AS x", "a literal of type HUGEINT"],
  ["SELECT 9007199254740993 AS x", "a literal of type BIGINT"],
  ["SELECT ts_code FROM daily UNION SELECT cal_date FROM trade_cal", "UNION of queries with different columns"],
];

describe("not on a cluster", () => {
  test.each(REFUSED)("%s", async (sql, reason) => {
    const error = await written(sql).catch((thrown: unknown) => thrown as Error);
    expect(error).toBeInstanceOf(NotOnClusterError);
    expect((error as Error).message).toContain(reason);
    expect((error as Error).message).toContain("cannot run on the cluster");
  });

  test("a refusal says where in the statement it is", async () => {
    const sql = "SELECT close, upper(ts_code) AS u FROM daily";
    await expect(written(sql)).rejects.toMatchObject({ position: sql.indexOf("upper") });
  });
});
