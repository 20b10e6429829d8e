import fc from "fast-check";
import { appendFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { stage } from "../../src/intake/normalise.js";
import { openStaging, type Staging } from "./staging.js";

let box: Staging;
beforeAll(async () => {
  box = await openStaging();
});
afterAll(() => box.close());

const csv = (...lines: string[]): string => box.put("x.csv", lines.join("\n"));

describe("the staged table", () => {
  test("has the entity's columns in their order and types, and the row of the file", async () => {
    const staged = await box.stage("trade_cal", csv("is_open,pretrade_date,cal_date", "1,20240102,20240103"));
    const columns = await box.writer.rows(`DESCRIBE ${staged.table}`);
    expect(columns.map((column) => `${column["column_name"]} ${column["column_type"]}`)).toEqual([
      ...[
        "exchange VARCHAR",
        "cal_date DATE",
        "is_open BIGINT",
        "pretrade_date DATE",
        "__row BIGINT",
        "__file INTEGER",
      ],
    ]);
    const rows = await box.writer.rows(`SELECT * FROM ${staged.table}`);
    expect(rows.map((row) => Object.values(row))).toEqual([["SSE", "2024-01-03", 1, "2024-01-02", 1, 0]]);
  });

  test("keeps the rows of a large file in order, in every format", async () => {
    const query =
      "SELECT lpad((i % 1000)::VARCHAR, 6, '0') || '.SZ' AS ts_code, DATE '2000-01-01' + (i // 1000)::INTEGER AS trade_date, i AS adj_factor FROM range(300000) t(i)";
    const files = [await box.parquet("big.parquet", query)];
    for (const [name, format] of [
      ["big.csv", "csv"],
      ["big.ndjson", "json"],
    ] as const) {
      await box.writer.run(`COPY (${query}) TO '${box.put(name, "")}' (FORMAT ${format})`);
      files.push(`${box.folder}/${name}`);
    }
    for (const file of files) {
      const { table, rows } = await box.stage("adj_factor", file);
      const [check] = await box.writer.rows(`SELECT count(*) FILTER (__row <> adj_factor + 1) AS wrong FROM ${table}`);
      expect([rows, check]).toEqual([300_000, { wrong: 0 }]);
      await box.writer.run(`DROP TABLE ${table}`);
    }
  });
});

describe("a bad row makes a file refused", () => {
  const header = "ts_code,trade_date,adj_factor";
  test.each([
    ["000001.SZ,20240230,1", 'row 2 (line 3), column trade_date: "20240230" is not a date of the calendar, such as'],
    ["000001.SZ,,1", "row 2 (line 3), column trade_date: is missing"],
    ["000001.SZ,NaN,1", "row 2 (line 3), column trade_date: is missing"],
    ['000001.SZ,20240102,"1,000.5"', 'column adj_factor: "1,000.5" is a number with separators: remove them'],
    ["000001.SZ,20240102,abc", 'column adj_factor: "abc" is not a number'],
    [
      "000001,20240102,1",
      'column ts_code: "000001" is a code without its exchange, which is not guessed: write 600000.SH',
    ],
    ["1,20240102,1", 'column ts_code: "1" is a code without its exchange'],
    ["平安,20240102,1", 'column ts_code: "平安" is not a code such as 600000.SH'],
  ])("%s", async (row, message) => {
    const refusal = await box.refusal("adj_factor", csv(header, "000001.SZ,20240101,1", row));
    expect(refusal).toContain(`x.csv: row 2 (line 3), column `);
    expect(refusal).toContain(message);
  });

  test("with the first of several bad rows, their number, and the name of the column in the file", async () => {
    const file = csv(
      "code,date,adjust",
      "000001.SZ,20240101,1",
      "000001.SZ,2024,1",
      "x,20240102,1",
      "000001.SZ,20240103,?",
    );
    expect(await box.refusal("adj_factor", file)).toMatch(
      /^x\.csv: row 2 \(line 3\), column date \(trade_date\): "2024" is not a date .*; 2 more rows refused$/,
    );
  });

  test("for a value that is not one of the allowed ones", async () => {
    const rows = ["exchange,cal_date,is_open", "SSE,20240102,1", "SZSE,20240102,1"];
    expect(await box.refusal("trade_cal", csv(...rows))).toContain('column exchange: "SZSE" is not one of SSE');
    expect(await box.refusal("trade_cal", csv("cal_date,is_open", "20240102,2"))).toContain('"2" is not one of 0, 1');
    const market = csv("ts_code,name,market", "000001.SH,x,", "000300.SH,y,CSI");
    expect((await box.stage("index_basic", market)).rows).toBe(2);
  });

  test("with a long value shortened and on one line", async () => {
    const refusal = await box.refusal("adj_factor", csv(header, `000001.SZ,20240101,"${"x\n".repeat(100)}"`));
    expect(refusal).not.toContain("\n");
    expect(refusal.length).toBeLessThan(250);
  });

  test("with the row in Parquet too", async () => {
    const query = "SELECT '000001.SZ' AS ts_code, 20240101 + i AS trade_date, 1 AS adj_factor FROM range(40) t(i)";
    expect(await box.refusal("adj_factor", await box.parquet("x.parquet", query))).toMatch(
      /^x\.parquet: row 32, column trade_date: "20240132" is not a date .*; 8 more rows/,
    );
  });

  test("for a column of a kind that cannot fill it", async () => {
    const query = "SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, [1.5] AS adj_factor";
    expect(await box.refusal("adj_factor", await box.parquet("x.parquet", query))).toBe(
      "x.parquet: the column adj_factor (other) cannot fill adj_factor",
    );
  });

  test("for a wrong --set, and one for a column that has values", async () => {
    const file = csv("con_code,trade_date,weight", "000001.SZ,20240102,1");
    expect(await box.refusal("index_weight", file, { set: { index_code: "300" } })).toMatch(
      /^x\.csv: the given index_code: "300" is a code without its exchange/,
    );
    expect(await box.refusal("index_weight", file, { set: { index_code: "000300.SH", weight: "1" } })).toBe(
      "x.csv has values in weight, so --set cannot fill this column; to ignore them, put the column aside with --map weight=",
    );
    const empty = csv("index_code,con_code,trade_date,weight", ",000001.SZ,20240102,1", "nan,000002.SZ,20240102,1");
    const staged = await box.stage("index_weight", empty, { set: { index_code: "000300.SH" } });
    expect(await box.rows(staged, "index_code")).toEqual([["000300.SH"], ["000300.SH"]]);
  });

  test("and so does a change of the file while it is read", async () => {
    const file = csv(header, "000001.SZ,20240102,1");
    const writer = {
      ...box.writer,
      run: (sql: string, values: readonly string[] = []) => {
        if (sql.startsWith("CREATE TEMP TABLE")) appendFileSync(file, "\n000002.SZ,20240102,1");
        return box.writer.run(sql, values);
      },
    };
    const staging = stage(writer, entityNamed("adj_factor")!, file, { map: {}, set: {}, label: "x.csv" }, box.folder);
    await expect(staging).rejects.toThrow("x.csv changed while it was being read");
  });
});

describe("of several rows with the same identity", () => {
  const header = "ts_code,trade_date,adj_factor";

  test("one of equal ones stays, and the last of differing ones", async () => {
    const lines = ["000001.SZ,20240102,1", "000002.SZ,20240102,7", "000001.SZ,20240102,1", "000001.SZ,20240102,2"];
    const staged = await box.stage("adj_factor", csv(header, ...lines, "000002.SZ,2024-01-02,7.0"));
    expect(await box.rows(staged)).toEqual([
      ["000001.SZ", "2024-01-02", 2],
      ["000002.SZ", "2024-01-02", 7],
    ]);
    expect(staged).toMatchObject({ rows: 2, duplicates: 2, conflicts: 1, conflictSamples: ["000001.SZ 2024-01-02"] });
  });

  test("what is null is equal to null", async () => {
    const report = csv(
      "trade_date,title,abstr,ts_code,author",
      "20240102,Weekly,a,,",
      "20240102,Weekly,b,,",
      "20240102,Weekly,c,000001.SZ,",
    );
    const staged = await box.stage("research_report", report);
    expect(await box.rows(staged, "abstr")).toEqual([["b"], ["c"]]);
    expect(staged.conflicts).toBe(1);
  });

  test("one that only lacks a value is removed for one that has it, whatever their order", async () => {
    const names = csv(
      "ts_code,name,start_date,end_date",
      "000004.SZ,国华网安,20201201,20220505",
      "000004.SZ,国华网安,20201201,",
      "000007.SZ,全新好,20160217,",
      "000007.SZ,全新好,20160217,20210429",
    );
    const staged = await box.stage("namechange", names);
    expect(await box.rows(staged, "ts_code", "end_date")).toEqual([
      ["000004.SZ", "2022-05-05"],
      ["000007.SZ", "2021-04-29"],
    ]);
    expect(staged).toMatchObject({ rows: 2, duplicates: 2, conflicts: 0 });
  });

  test("all stay if an identity may have many rows", async () => {
    const tick = "000001.SZ,20240102,STK,09:25:00,9.5,100,950";
    const staged = await box.stage("stk_auction", csv("ts_code,trade_date,ts_type,time,price,vol,amount", tick, tick));
    expect(staged).toMatchObject({ rows: 2, duplicates: 0, conflicts: 0 });
  });
});

describe("a warning is given for", () => {
  const warnings = async (entity: string, query: string): Promise<readonly string[]> =>
    (await box.stage(entity, await box.parquet("x.parquet", query))).warnings;
  const factors = (rows: number, code = "'000001.SZ'"): string =>
    `SELECT ${code} AS ts_code, DATE '1990-01-01' + i::INTEGER AS trade_date, 1 AS adj_factor FROM range(${rows}) t(i)`;

  test("a number of rows that is a limit of vendors", async () => {
    expect(await warnings("adj_factor", factors(6000))).toEqual([
      "exactly 6,000 rows: the pull may have hit a row limit",
    ]);
    expect(await warnings("adj_factor", factors(6001))).toEqual([]);
  });

  test("Beijing codes under another exchange, but not B shares or receipts", async () => {
    expect(await warnings("adj_factor", factors(3, "'920167.SH'"))).toEqual([
      "3 rows have another exchange than their numbers tell, e.g. 920167.SH, where 920167.BJ is expected",
    ]);
    for (const good of ["'920167.BJ'", "'430047.BJ'", "'900901.SH'", "'689009.SH'"]) {
      expect(await warnings("adj_factor", factors(3, good))).toEqual([]);
    }
  });

  test("daily bars in weekly or monthly, but not weekly and monthly bars", async () => {
    const bars = (step: string): string =>
      `SELECT c AS ts_code, d::DATE AS trade_date, 10.0 AS "close" FROM (VALUES ('000001.SZ'), ('600000.SH')) c(c), ` +
      `range(DATE '2024-01-05', DATE '2024-04-06', INTERVAL ${step}) d(d)`;
    expect(await warnings("weekly", bars("1 DAY"))).toEqual([
      "looks like daily data: most codes have several days in the same week",
    ]);
    expect(await warnings("monthly", bars("7 DAY"))).toEqual([
      "looks like daily data: most codes have several days in the same month",
    ]);
    expect(await warnings("weekly", bars("7 DAY"))).toEqual([]);
    expect(await warnings("monthly", bars("1 MONTH"))).toEqual([]);
    expect(await warnings("daily", bars("1 DAY"))).toEqual([]);
  });
});

describe("field reports", () => {
  test("A1: integer columns of one day do not round the fractions of another", async () => {
    const day = (vol: string): string =>
      `SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, ${vol} AS vol, ${vol} AS amount`;
    const whole = await box.stage("daily", await box.parquet("1.parquet", day("10::BIGINT")));
    const fraction = await box.stage("daily", await box.parquet("2.parquet", day("10.75::DOUBLE")));
    expect(await box.rows(whole, "vol", "amount")).toEqual([[10, 10]]);
    expect(await box.rows(fraction, "vol", "amount")).toEqual([[10.75, 10.75]]);
  });

  test("A2: a column of nulls fits with any type", async () => {
    for (const type of ["INTEGER", "VARCHAR", "DOUBLE", "DATE", "TIMESTAMP"]) {
      const query = `SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS snapshot_date, 'x' AS name, NULL::${type} AS delist_date`;
      const staged = await box.stage("stock_list", await box.parquet("x.parquet", query));
      expect(await box.rows(staged, "delist_date")).toEqual([[null]]);
    }
  });

  test("A3: dates of every type, and integers of every width, give the same values", async () => {
    const rows: unknown[] = [];
    for (const [day, open] of [
      ["DATE '2024-01-02'", "1::TINYINT"],
      ["TIMESTAMP_NS '2024-01-02'", "'1'"],
      ["'20240102'", "1.0::DOUBLE"],
      ["20240102::BIGINT", "true"],
    ]) {
      const file = await box.parquet("x.parquet", `SELECT 'SSE' AS exchange, ${day} AS cal_date, ${open} AS is_open`);
      rows.push(...(await box.rows(await box.stage("trade_cal", file))));
    }
    expect(rows).toEqual(Array(4).fill(["SSE", "2024-01-02", 1, null]));
  });

  test("A10, C19: NaN and infinity become null, the largest and the negative zero stay", async () => {
    const values = ["'nan'::DOUBLE", "'inf'::DOUBLE", "'-inf'::DOUBLE", "-0.0::DOUBLE", "1e308::DOUBLE", "NULL"];
    const query = values.map(
      (value, i) => `SELECT '00000${i}.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, ${value} AS pe`,
    );
    const staged = await box.stage("daily_basic", await box.parquet("x.parquet", query.join(" UNION ALL ")));
    expect(await box.rows(staged, "pe")).toEqual([[null], [null], [null], [-0], [1e308], [null]]);
    expect(staged.warnings).toEqual([
      "NaN read as missing values: pe 1",
      "infinite numbers read as missing values: pe 2",
    ]);
  });

  test("a number that the factor of --map makes infinite is refused, and the largest finite one is taken", async () => {
    const entity = entityNamed("daily_basic")!;
    const scaledBy = (value: string) => {
      const options = { map: { much: "total_mv*10" }, set: {}, label: "x.parquet" };
      const query = `SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, ${value} AS much`;
      return box.parquet("x.parquet", query).then((file) => stage(box.writer, entity, file, options, box.folder));
    };
    for (const value of ["-1e308::DOUBLE", "'1e308'"]) {
      await expect(scaledBy(value)).rejects.toThrow(
        /^x\.parquet: row 1, column much \(total_mv\): "-?1e\+?308" times 10 is too large$/,
      );
    }
    expect(await box.rows(await scaledBy("1e307::DOUBLE"), "total_mv")).toEqual([[1e308]]);
    expect(await box.rows(await scaledBy("'nan'::DOUBLE"), "total_mv")).toEqual([[null]]);
  });

  test("NaN and infinity are counted by column in every format, and words for no value are not", async () => {
    const warnings = ["NaN read as missing values: pe 2, pb 1", "infinite numbers read as missing values: pb 1"];
    const rows = [
      ["NaN", "-Infinity", 1],
      ["NaN", "NaN", 2],
      ["null", 3, "null"],
      [4, "null", 5],
    ] as const;
    const codeAt = (i: number): string => `00000${i}.SZ`;
    const csv = rows.map((row, i) =>
      [codeAt(i), "20240102", ...row].join(",").replaceAll("null", ["", "--", "None"][i % 3]!),
    );
    const json = rows.map(
      ([pe, pb, ps], i) => `{"ts_code":"${codeAt(i)}","trade_date":"20240102","pe":${pe},"pb":${pb},"ps":${ps}}`,
    );
    for (const type of ["DOUBLE", "FLOAT"]) {
      const select = rows.map((row, i) => {
        const [pe, pb, ps] = row.map((value) => `${value === "null" ? value : `'${value}'`}::${type}`);
        return `SELECT '${codeAt(i)}' AS ts_code, 20240102 AS trade_date, ${pe} AS pe, ${pb} AS pb, ${ps} AS ps`;
      });
      const file = await box.parquet("x.parquet", select.join(" UNION ALL "));
      expect((await box.stage("daily_basic", file)).warnings).toEqual(warnings);
    }
    for (const [name, content] of [
      ["x.csv", ["ts_code,trade_date,pe,pb,ps", ...csv, ""].join("\n")],
      ["x.json", `[${json.join()}]`],
      ["x.ndjson", `${json.join("\n")}\n`],
    ] as const) {
      expect((await box.stage("daily_basic", box.put(name, content))).warnings, name).toEqual(warnings);
    }
    const blank = "ts_code,trade_date,pe,pb\n000001.SZ,20240102,1,2\nnan,nan,nan,nan\n";
    expect((await box.stage("daily_basic", box.put("x.csv", blank))).warnings).toEqual(["1 blank row ignored"]);
  });

  test("A12: the index of a data frame is not data, and is reported", async () => {
    const query =
      "SELECT 7 AS __index_level_0__, '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, 1 AS adj_factor";
    expect((await box.stage("adj_factor", await box.parquet("x.parquet", query))).ignored).toEqual([
      "__index_level_0__",
    ]);
  });

  test("B14: an integer beyond 2^53 keeps its last digit in every format", async () => {
    // The catalog has no such column: a made one stands for those to come.
    const entity = {
      ...entityNamed("adj_factor")!,
      columns: [
        ...entityNamed("adj_factor")!.columns,
        { name: "n", type: "int64", meaning: "x", chinese: "数", nullable: true },
      ] as const,
    };
    const big = "9007199254740993";
    const query = `SELECT '000001.SZ' AS ts_code, 20240102 AS trade_date, 1 AS adj_factor, ${big}::BIGINT AS n`;
    const files = [
      await box.parquet("n.parquet", query),
      box.put("n.csv", `ts_code,trade_date,adj_factor,n\n000001.SZ,20240102,1,${big}\n`),
      box.put("n.json", `[{"ts_code":"000001.SZ","trade_date":20240102,"adj_factor":1,"n":${big}}]`),
      box.put(
        "n2.json",
        `{"ts_code":{"0":"000001.SZ"},"trade_date":{"0":20240102},"adj_factor":{"0":1},"n":{"0":${big}}}`,
      ),
    ];
    for (const file of files) {
      const { table } = await stage(box.writer, entity, file, { map: {}, set: {} }, box.folder);
      expect(await box.writer.rows(`SELECT n FROM ${table}`)).toEqual([{ n: 9007199254740993n }]);
    }
  });
});

test("any order of columns and rows, in any format, gives the same rows", async () => {
  const record = fc.record({
    code: fc.integer({ min: 600000, max: 600050 }),
    day: fc.integer({ min: 1, max: 28 }),
    open: fc.option(fc.integer({ min: -1000, max: 1000 }).map((n) => n / 8)),
    vol: fc.option(fc.integer({ min: 0, max: 1e9 })),
  });
  const records = fc.uniqueArray(record, {
    minLength: 1,
    maxLength: 30,
    selector: ({ code, day }) => `${code} ${day}`,
  });
  const names = ["ts_code", "trade_date", "open", "vol"] as const;
  const shuffled = fc.shuffledSubarray([...names], { minLength: names.length });
  await fc.assert(
    fc.asyncProperty(
      records.chain((rows) => fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length }))),
      shuffled,
      fc.constantFrom("csv", "json", "ndjson", "parquet"),
      async ([rows, reordered], order, format) => {
        const cells = reordered.map((row) => {
          const all = { ts_code: `${row.code}.SH`, trade_date: 20240100 + row.day, open: row.open, vol: row.vol };
          return Object.fromEntries(order.map((name) => [name, all[name]]));
        });
        const lines = cells.map((cell) => JSON.stringify(cell));
        const file = {
          csv: () =>
            box.put("p.csv", [order.join(","), ...cells.map((cell) => Object.values(cell).join(","))].join("\n")),
          json: () => box.put("p.json", `[${lines.join(",")}]`),
          ndjson: () => box.put("p.ndjson", lines.join("\n")),
          parquet: () => {
            const values = cells.map(
              (cell) =>
                `(${Object.values(cell)
                  .map((v) => (typeof v === "string" ? `'${v}'` : `${v}::DOUBLE`))
                  .join(", ")})`,
            );
            return box.parquet("p.parquet", `SELECT * FROM (VALUES ${values.join(", ")}) AS t(${order.join(", ")})`);
          },
        };
        const { table } = await box.stage("daily", await file[format]());
        const staged = await box.writer.rows(`SELECT ts_code, trade_date, open, vol FROM ${table} ORDER BY ALL`);
        await box.writer.run(`DROP TABLE ${table}`);
        const expected = rows
          .map(({ code, day, open, vol }) => [`${code}.SH`, `2024-01-${String(day).padStart(2, "0")}`, open, vol])
          .sort((a, b) => (`${a[0]} ${a[1]}` < `${b[0]} ${b[1]}` ? -1 : 1));
        expect(staged.map((row) => Object.values(row))).toEqual(expected);
      },
    ),
    { numRuns: 60 },
  );
});
