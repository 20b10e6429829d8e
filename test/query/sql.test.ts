// A scan as SQL: its text, its bound values, and what a real DuckDB makes of both.
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { columnNamed, ENTITIES, entityNamed } from "../../src/catalog/index.js";
import { SQL_TYPES } from "../../src/catalog/types.js";
import { fromDuck, toDuck } from "../../src/engine/statements.js";
import { fileList, type DataFile } from "../../src/lake/manifest.js";
import { lastBarsRead, lastFactorsRead, planFactors } from "../../src/query/adjust.js";
import { planRows } from "../../src/query/rows.js";
import type { SqlValue } from "../../src/query/bindings.js";
import { calendarRead } from "../../src/query/calendar.js";
import { countsRead, planChanges } from "../../src/query/changes.js";
import { heldDaysRead, listingsRead, suspendedDaysRead } from "../../src/query/gaps-read.js";
import { filterColumns } from "../../src/catalog/parameters.js";
import { parseRequest } from "../../src/query/request.js";
import { firstRows, rowsOf, scanOf, type Expression, type Scan, type Select, type Test } from "../../src/query/scan.js";
import { render } from "../../src/query/sql.js";
import { duckdbInMemory } from "../support/duckdb.js";
import { temporaryFolder } from "../support/folders.js";
import { isLong } from "../support/size.js";

const duckdb = duckdbInMemory({ threads: "1" });
let folder: string;

const file = (name: string): DataFile => ({
  ...{ path: `${name}.parquet`, sha256: "", bytes: 1, rows: 5, first: "20240102", last: "20240104" },
  ...{ firstCode: "000001.SZ", lastCode: "920001.BJ" },
});
const pathOf = ({ path }: DataFile): string => join(folder, path);

/** Five rows of `daily`, the last of which has no close; and a file without rows for each entity. */
beforeAll(async () => {
  folder = await temporaryFolder();
  await duckdb.connection.run(
    `COPY (SELECT * REPLACE (close::DOUBLE AS close) FROM (VALUES ('000001.SZ', DATE '2024-01-02', 10.0), ('600519.SH', DATE '2024-01-02', 20.0),
       ('000001.SZ', DATE '2024-01-03', 11.0), ('600519.SH', DATE '2024-01-03', 0.0), ('000001.SZ', DATE '2024-01-04', NULL))
       t(ts_code, trade_date, close)) TO '${join(folder, "rows.parquet")}'`,
  );
  for (const { name, columns } of ENTITIES) {
    const list = columns.map((one) => `NULL::${SQL_TYPES[one.type]} AS "${one.name}"`).join(", ");
    await duckdb.connection.run(`COPY (SELECT ${list} LIMIT 0) TO '${join(folder, `${name}.parquet`)}'`);
  }
});

/** What a scan gives in DuckDB, dates as text. */
async function run(scan: Scan, end?: "marked"): Promise<unknown[][]> {
  const { sql, values } = render(scan, pathOf, end);
  const reader = await duckdb.connection.runAndReadAll(sql, values.map(toDuck));
  return reader.getRows().map((row) => row.map(fromDuck));
}

/** Expects the text of a scan, in which FILES stands for its files, and the values bound after them; runs it. */
async function expectSql(scan: Scan, sql: string, values: readonly SqlValue[], end?: "marked"): Promise<unknown[][]> {
  expect(render(scan, ({ path }) => path, end)).toEqual({
    sql: sql.replaceAll("FILES", "read_parquet($1)"),
    values: [scan.files.map(({ path }) => path), ...values],
  });
  return run(scan, end);
}

const daily = entityNamed("daily")!;
const column = (name: string): Expression => ({ column: columnNamed(daily, name)! });
const shown = rowsOf([columnNamed(daily, "ts_code")!, columnNamed(daily, "close")!]);
const scan = (differs: Partial<Scan> = {}, select: Select = shown): Scan => scanOf([file("rows")], select, differs);
const testing = (...tests: Test[]): Scan => scan({ tests }, rowsOf([columnNamed(daily, "close")!]));

describe("a scan of rows", () => {
  test("shows columns, and after them the position", async () => {
    expect(await expectSql(scan(), 'SELECT "ts_code", "close" FROM FILES', [])).toHaveLength(5);
    const position = { ...shown, position: ["trade_date", "ts_code"] } as Select;
    const sql = 'SELECT "ts_code", "close", "trade_date", "ts_code", file_row_number FROM FILES';
    expect((await expectSql(scan({}, position), sql, []))[3]).toEqual(["600519.SH", 0, "2024-01-03", "600519.SH", 3]);
  });

  test("replaces values that were not known yet by earlier ones", async () => {
    const hidden = { knownFrom: "trade_date", asOf: "20240102", before: null };
    const select = { what: "rows", columns: [{ ...column("close"), hidden }], position: null } as const;
    const sql = 'SELECT CASE WHEN "trade_date" > $2::DATE THEN $3::DOUBLE ELSE "close" END AS "close" FROM FILES';
    const rows = await expectSql(scan({}, select), sql, ["2024-01-02", null]);
    expect(rows.flat()).toEqual([10, 20, null, null, null]);
  });

  test("numbers revisions before its tests apply", async () => {
    const derived = {
      how: "numbered",
      among: [{ is: "between", columns: ["trade_date"], first: null, last: "20240103" }],
      ...{ of: ["ts_code"], date: ["trade_date"], others: [], flag: { column: "close", first: true } },
    } as const;
    const select = {
      what: "rows",
      columns: [column("ts_code"), column("close"), { ...column("vol"), newest: true }],
      position: null,
    } as const;
    const sql =
      'SELECT "ts_code", "close", (__revision = 1)::INTEGER::DOUBLE AS "vol" FROM (SELECT *, file_row_number, ' +
      'row_number() OVER (PARTITION BY "ts_code" ORDER BY coalesce("trade_date") DESC, "close") AS __revision FROM FILES ' +
      'WHERE "trade_date" <= $2::DATE QUALIFY row_number() OVER (PARTITION BY "ts_code" ORDER BY "close") = 1) ' +
      'ORDER BY "trade_date", "ts_code", file_row_number';
    const order = { columns: ["trade_date", "ts_code"], descending: false };
    expect(await expectSql(scan({ derived, order }, select), sql, ["2024-01-03"])).toEqual([
      ["000001.SZ", 10, 0],
      ["600519.SH", 0, 1],
    ]);
    const newest = scan({ derived: { ...derived, among: [], flag: null }, tests: [{ is: "newest" }] });
    const rows = await expectSql(
      newest,
      'SELECT "ts_code", "close" FROM (SELECT *, file_row_number, row_number() OVER (PARTITION BY "ts_code" ' +
        'ORDER BY coalesce("trade_date") DESC) AS __revision FROM FILES) WHERE __revision = 1',
      [],
    );
    expect(rows).toHaveLength(2);
  });

  test("has a range of rows before its tests, then an order, then a limit", async () => {
    const whole = scan({
      rowRange: [1, 5],
      tests: [{ is: "between", columns: ["trade_date"], first: "20240103", last: null }],
      order: { columns: ["ts_code"], descending: true },
    });
    const sql =
      'SELECT "ts_code", "close" FROM FILES WHERE file_row_number >= $2::BIGINT AND file_row_number < $3::BIGINT' +
      ' AND "trade_date" >= $4::DATE ORDER BY "ts_code" DESC, file_row_number DESC LIMIT 2';
    expect(await expectSql(firstRows(whole, 2), sql, [1, 5, "2024-01-03"])).toEqual([
      ["600519.SH", 0],
      ["000001.SZ", null],
    ]);
  });

  test("is ended by a marker where one is wanted, after the limit", async () => {
    const sql = 'SELECT *, false FROM (SELECT "ts_code", "close" FROM FILES LIMIT 1) UNION ALL SELECT NULL, NULL, true';
    expect(await expectSql(firstRows(scan(), 1), sql, [], "marked")).toEqual([
      ["000001.SZ", 10, false],
      [null, null, true],
    ]);
  });
});

describe("a test", () => {
  const SELECT = 'SELECT "close" FROM FILES WHERE ';

  test.each<[string, Test, string, readonly SqlValue[], readonly unknown[]]>([
    [
      "of dates has the bounds that are not open",
      { is: "between", columns: ["trade_date"], first: "20240103", last: "20240103" },
      '"trade_date" >= $2::DATE AND "trade_date" <= $3::DATE',
      ["2024-01-03", "2024-01-03"],
      [11, 0],
    ],
    [
      "of several dates takes the first that is not missing",
      { is: "between", columns: ["trade_date", "trade_date"], first: null, last: "20240102" },
      'coalesce("trade_date", "trade_date") <= $2::DATE',
      ["2024-01-02"],
      [10, 20],
    ],
    [
      "of one value compares it",
      { is: "in", value: column("trade_date"), values: ["20240104"] },
      '"trade_date" = $2::DATE',
      ["2024-01-04"],
      [null],
    ],
    [
      "of several values, one of them missing, finds both",
      { is: "in", value: column("close"), values: [null, 10, 11] },
      '("close" IS NULL OR "close" IN ($2::DOUBLE, $3::DOUBLE))',
      [10, 11],
      [10, 11, null],
    ],
    [
      "of missing values alone binds nothing",
      { is: "in", value: column("close"), values: [null] },
      '"close" IS NULL',
      [],
      [null],
    ],
    [
      "of codes without suffix compares what stands before the dot",
      { is: "in", value: { ...column("ts_code"), bare: true }, values: ["600519"] },
      `split_part("ts_code", '.', 1) = $2::VARCHAR`,
      ["600519"],
      [20, 0],
    ],
    ["of positive numbers leaves out zero", { is: "positive", column: "close" }, '"close" > 0', [], [10, 20, 11]],
    [
      "of the last date looks for it in the same files",
      { is: "last", column: "trade_date", until: "20240103" },
      '"trade_date" = (SELECT max("trade_date") FROM FILES WHERE "trade_date" <= $2::DATE)',
      ["2024-01-03"],
      [11, 0],
    ],
  ])("%s", async (_, given, sql, values, closes) => {
    expect((await expectSql(testing(given), SELECT + sql, values)).flat()).toEqual(closes);
  });

  test("of a position finds the rows beyond it, in both directions, whatever is missing in it", async () => {
    const beyond = (date: string | null, code: string | null, row: number, descending: boolean): Test => ({
      is: "beyond",
      keys: [
        { ...column("trade_date"), value: date },
        { ...column("ts_code"), value: code },
      ],
      ...{ row, descending },
    });
    const up =
      '("trade_date" >= $4::DATE AND ("trade_date" > $4::DATE OR' +
      ' (("ts_code" >= $3 AND ("ts_code" > $3 OR (file_row_number > $2::BIGINT))))))';
    const ahead = testing(beyond("20240103", "000001.SZ", 2, false));
    expect((await expectSql(ahead, SELECT + up, [2, "000001.SZ", "2024-01-03"])).flat()).toEqual([0, null]);
    const down =
      '("trade_date" <= $4::DATE AND ("trade_date" < $4::DATE OR' +
      ' (("ts_code" <= $3 AND ("ts_code" < $3 OR (file_row_number < $2::BIGINT))))))';
    const before = testing(beyond("20240103", "000001.SZ", 2, true));
    expect((await expectSql(before, SELECT + down, [2, "000001.SZ", "2024-01-03"])).flat()).toEqual([10, 20]);
    const undated = '("trade_date" IS NULL AND (("ts_code" IS NULL AND (file_row_number > $2::BIGINT))))';
    expect(await expectSql(testing(beyond(null, null, 2, false)), SELECT + undated, [2])).toEqual([]);
    const all = '("trade_date" IS NOT NULL OR (("ts_code" IS NOT NULL OR (file_row_number < $2::BIGINT))))';
    expect(await expectSql(testing(beyond(null, null, 2, true)), SELECT + all, [2])).toHaveLength(5);
  });
});

describe("a scan that sums up", () => {
  test("the last values has one row for each code", async () => {
    const select = { what: "latest", code: "ts_code", date: "trade_date", value: "close" } as const;
    const rows = await expectSql(
      scan({ tests: [{ is: "positive", column: "close" }] }, { ...select, upTo: null }),
      'SELECT "ts_code", max("trade_date"), arg_max("close", "trade_date") FROM FILES WHERE "close" > 0 GROUP BY "ts_code"',
      [],
    );
    expect(rows.sort()).toEqual([
      ["000001.SZ", "2024-01-03", 11],
      ["600519.SH", "2024-01-02", 20],
    ]);
    const upTo = { codes: ["000001.SZ", "688001.SH"], dates: ["20240102", "20240102"] };
    const bounded = await expectSql(
      scan({}, { ...select, value: null, upTo }),
      'SELECT "ts_code", max("trade_date") FROM (SELECT * FROM (FROM FILES) JOIN (SELECT ' +
        `unnest(from_json($2, '["VARCHAR"]')) AS __code, unnest(from_json($3, '["DATE"]')) AS __until) ` +
        'ON "ts_code" = __code AND "trade_date" <= __until) GROUP BY "ts_code"',
      [JSON.stringify(upTo.codes), '["2024-01-02","2024-01-02"]'],
    );
    expect(bounded).toEqual([["000001.SZ", "2024-01-02"]]);
  });

  test("days has a bit for each of them, by code or for all rows together", async () => {
    const select = { what: "days", date: "trade_date", first: "20240101", bits: 8 } as const;
    const sql = (shown: string): string =>
      "SELECT code, to_base64(bitstring_agg(day, 0, 7)::BLOB) AS days FROM" +
      ` (SELECT ${shown} AS code, "trade_date" - $2::DATE AS day FROM FILES) GROUP BY code`;
    const bitsOf = (rows: unknown[][]): unknown[][] =>
      rows.map(([code, days]) => [code, Buffer.from(days as string, "base64")[0]]).sort();
    const byCode = await expectSql(scan({}, { ...select, code: column("ts_code") }), sql('"ts_code"'), ["2024-01-01"]);
    expect(bitsOf(byCode)).toEqual([
      ["000001.SZ", 0b0111_0000],
      ["600519.SH", 0b0110_0000],
    ]);
    const together = await expectSql(scan({}, { ...select, code: null }), sql("DISTINCT NULL::VARCHAR"), [
      "2024-01-01",
    ]);
    expect(bitsOf(together)).toEqual([[null, 0b0111_0000]]);
  });
});

describe("a scan of statistics", () => {
  test("has one row with counts, bounds and the last day of the values that are there", async () => {
    const select = { what: "statistics", value: column("close"), date: "trade_date" } as const;
    const sql =
      'SELECT count(*) - count("close"), count(DISTINCT "close"), min("close"), max("close"),' +
      ' max("trade_date") FILTER ("close" IS NOT NULL) FROM FILES';
    expect(await expectSql(scan({}, select), sql, [])).toEqual([[1, 4, 0, 20, "2024-01-03"]]);
    const undated = await run(scan({}, { ...select, date: null }));
    expect(undated).toEqual([[1, 4, 0, 20, null]]);
  });
});

describe("every planned scan", () => {
  const limits = { defaultLimit: null, maxLimit: null };
  const after = { date: "20240103", code: "000001.SZ", row: 2 };

  test.each(ENTITIES.map((entity) => [entity.name, entity] as const))("of %s runs in DuckDB", async (name, entity) => {
    const list = fileList(name, [file(name)], [file(name)], [["20240102", "20240104"]]);
    const filters = filterColumns(entity).map(({ name: of, type }) => {
      const value = { code: "600519.SH", text: "x", date: "20240103", int64: "0", float64: "" }[type];
      return [of, `${value},null`];
    });
    const queries = [
      ...[
        {},
        { limit: "5" },
        { order: "desc", limit: "5" },
        Object.fromEntries(filters),
        { [entity.code]: "600519.SH" },
      ],
      ...(entity.mainDate === null ? [] : [{ start_date: "20240103", end_date: "20240103" }]),
      ...(entity.pointInTime ? [{ as_of: "20240103" }] : []),
      ...(entity.revisions ? [{ latest: "true" }, { latest: "true", order: "desc", limit: "5" }] : []),
      ...(entity.adjustment ? [{ adjust: "forward" }, { adjust: "backward", order: "desc", limit: "5" }] : []),
    ] as Record<string, string>[];
    const span = { first: "20240102", last: "20240104" };
    const scans = queries.flatMap((query) => {
      const request = parseRequest(entity, new URLSearchParams(query), limits);
      const listOf = (of: string) => fileList(of, [file(of)]);
      const factors = listOf("adj_factor");
      const lastBars = { codes: ["600519.SH"], dates: ["20240103"] };
      return [null, after].flatMap((from) => [
        ...planRows(request, list, listOf, from).scans,
        ...(request.adjust ? planFactors(request, factors, from, []).scans : []),
        ...(request.adjust ? lastBarsRead(request, list).scans : []),
        ...(request.adjust ? lastFactorsRead(request, factors, lastBars).scans : []),
      ]);
    });
    const days = entity.mainDate === null ? [] : (["all", "each", ["600519"]] as const);
    scans.push(...days.flatMap((whose) => heldDaysRead(entity, list, span, whose).scans));
    const changed = fileList(name, [{ ...file(name), sha256: "other" }]);
    const asked = parseRequest(entity, new URLSearchParams({ limit: "5" }), limits);
    const changes = [null, after].flatMap((from) => planChanges(asked, list, changed, from).scans);
    changes.push(...countsRead(entity, list, changed).scans);
    expect(scans.length).toBeGreaterThan(queries.length);
    // Those of an entity with many columns take a second each: the quick run runs them once.
    if (isLong) scans.push(...changes);
    else for (const one of changes) expect(await run(one, "marked")).toHaveLength(1);
    for (const one of scans.flatMap((given) => [given, firstRows(given, 3)])) {
      expect(await run(one)).toEqual([]);
      expect(await run(one, "marked")).toHaveLength(1);
    }
  });

  test("of the calendar, the stock list and suspensions runs in DuckDB", async () => {
    const list = (name: string) => fileList(name, [file(name)]);
    const span = { first: "20240102", last: "20240104" };
    const reads = [
      calendarRead(list("trade_cal")),
      listingsRead(list("stock_list")),
      suspendedDaysRead(list("suspend_d"), span),
    ];
    for (const { columns, scans } of reads) {
      expect(scans).toHaveLength(1);
      const { sql, values } = render(scans[0]!, pathOf);
      const reader = await duckdb.connection.runAndReadAll(sql, values.map(toDuck));
      expect([reader.columnCount, reader.getRows()]).toEqual([columns.length, []]);
    }
  });
});
