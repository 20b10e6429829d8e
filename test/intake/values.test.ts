import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SQL_TYPES, type ColumnType } from "../../src/catalog/types.js";
import { formatDays } from "../../src/dates.js";
import { isMissing, valueOf } from "../../src/intake/values.js";
import { kindOf, SOURCE_KINDS } from "../../src/intake/source-types.js";
import { openStaging, type Staging } from "./staging.js";

let box: Staging;
beforeAll(async () => {
  box = await openStaging();
});
afterAll(() => box.close());

const RULES = { bareCodes: false, epochDates: false };

/** Reads an SQL expression as a column type: `refused` if its value is invalid, `unfit` if its kind is never accepted. */
async function taken(type: ColumnType, sql: string, rules = RULES): Promise<unknown> {
  const [row] = await box.writer.rows(`SELECT typeof(${sql}) AS type`);
  const kind = kindOf(String(row!["type"]));
  const value = valueOf(type, kind, "c", rules);
  if (value === null) return "unfit";
  const [result] = await box.writer.rows(
    `SELECT v, (v IS NULL AND NOT n) AS refused FROM (SELECT (${value})::${SQL_TYPES[type]} AS v, ${isMissing(type, kind, "c")} AS n ` +
      `FROM (SELECT ${sql} AS c))`,
  );
  return result!["refused"] === true ? "refused" : result!["v"];
}

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;

const cases = (type: ColumnType, table: readonly (readonly [string, unknown])[], rules = RULES): void => {
  test.each(table)("%s", async (sql, value) => {
    expect(await taken(type, sql, rules)).toEqual(value);
  });
};

describe("numbers", () => {
  cases("float64", [
    ["'12.34'", 12.34],
    ["' 12.34 '", 12.34],
    ["'\t12.34'", 12.34],
    ["'-0.5'", -0.5],
    ["'+.5'", 0.5],
    ["'1e-3'", 0.001],
    ["'0.013600000000000001'", 0.013600000000000001],
    ["'1.7976931348623157e308'", 1.7976931348623157e308],
    ["'1e400'", "refused"],
    ["'1,234.5'", "refused"],
    ["'1_234'", "refused"],
    ["'12.3%'", "refused"],
    ["'abc'", "refused"],
    ["'0x10'", "refused"],
    ["'1.2.3'", "refused"],
    ["'true'", "refused"],
    ["'-Inf'", null],
    ["'infinity'", null],
    ["'nan'::DOUBLE", null],
    ["'inf'::DOUBLE", null],
    ["'-inf'::DOUBLE", null],
    ["'nan'::FLOAT", null],
    ["11.51::FLOAT", 11.51],
    ["1e308::DOUBLE", 1e308],
    ["10::TINYINT", 10],
    ["10::UBIGINT", 10],
    ["12.34::DECIMAL(18,4)", 12.34],
    ["NULL::INTEGER", null],
    ["true", "unfit"],
    ["DATE '2024-01-02'", "unfit"],
    ["[1.5]", "unfit"],
  ]);
});

describe("integers", () => {
  cases("int64", [
    ["'1'", 1],
    ["'1.0'", 1],
    ["'-7'", -7],
    ["'9007199254740993'", 9007199254740993n],
    ["'9223372036854775807'", 9223372036854775807n],
    ["'9223372036854775808'", "refused"],
    ["'1.5'", "refused"],
    ["'1e3'", "refused"],
    ["'x'", "refused"],
    ["'True'", 1],
    ["'false'", 0],
    ["''", null],
    ["9007199254740993::BIGINT", 9007199254740993n],
    ["9007199254740993::DECIMAL(38,0)", 9007199254740993n],
    ["1.5::DECIMAL(4,1)", "refused"],
    ["18446744073709551615::UBIGINT", "refused"],
    ["1.0::DOUBLE", 1],
    ["1.5::DOUBLE", "refused"],
    ["1e17::DOUBLE", "refused"],
    ["'nan'::DOUBLE", null],
    ["true", 1],
    ["1::TINYINT", 1],
  ]);
});

describe("dates", () => {
  cases("date", [
    ["'20240102'", "2024-01-02"],
    ["'20240102.0'", "2024-01-02"],
    ["'2024-01-02'", "2024-01-02"],
    ["'2024/01/02'", "2024-01-02"],
    ["'2024/1/2'", "2024-01-02"],
    ["'2024年1月2日'", "2024-01-02"],
    ["' 20240102 '", "2024-01-02"],
    ["'2024-01-02 00:00:00'", "2024-01-02"],
    ["'2024-01-02 15:00:00.123456789'", "2024-01-02"],
    ["'2024-01-02T00:00:00+08:00'", "2024-01-02"],
    ["'1949-05-26T23:59:59+08:00'", "1949-05-26"],
    ["'2024-01-01T16:00:00Z'", "2024-01-02"],
    ["'2024-01-01T16:00:00.000Z'", "2024-01-02"],
    ["'2024-01-01T15:59:59.999Z'", "2024-01-01"],
    ["'2024-01-01 16:00:00+00:00'", "2024-01-02"],
    ["'2024/1/1 16:00 UTC'", "2024-01-02"],
    ["'2024-01-01 16:00+0000'", "2024-01-02"],
    ["'2024-01-01T16:00:00,5 Z'", "2024-01-02"],
    ["'2024-01-02 00:00:00+00'", "2024-01-02"],
    ["'1970-01-01 00:00:00.020250102'", "refused"],
    ["'1970-01-01T00:00:00.020250102Z'", "refused"],
    ["'1970-01-01 00:00:00'", "1970-01-01"],
    ["'20240229'", "2024-02-29"],
    ["'20240230'", "refused"],
    ["'20230229'", "refused"],
    ["'20241301'", "refused"],
    ["'2024-02-30'", "refused"],
    ["'2024-01'", "refused"],
    ["'2024/01-02'", "refused"],
    ["'01/02/2024'", "refused"],
    ["'2024-01-02 junk'", "refused"],
    ["'2024011'", "refused"],
    ["'202401022'", "refused"],
    ["'2024-01-02 (BC)'", "refused"],
    ["'epoch'", "refused"],
    ["'infinity'", "refused"],
    ["'0'", "refused"],
    ["'00000000'", "refused"],
    ["'00010101'", "refused"],
    ["'1704153600000'", "refused"],
    ["20240102", "2024-01-02"],
    ["20240102::BIGINT", "2024-01-02"],
    ["0", "refused"],
    ["20240230", "refused"],
    ["20240102.0::DOUBLE", "2024-01-02"],
    ["20240102.5::DOUBLE", "refused"],
    ["0.0::DOUBLE", "refused"],
    ["'nan'::DOUBLE", null],
    ["20240102::DECIMAL(10,0)", "2024-01-02"],
    ["DATE '2024-01-02'", "2024-01-02"],
    ["DATE 'infinity'", "refused"],
    ["DATE '57386-10-15'", "refused"],
    ["DATE '9999-12-31'", "9999-12-31"],
    ["TIMESTAMP '2024-01-02 15:00:00'", "2024-01-02"],
    ["TIMESTAMP_S '2024-01-02 00:00:00'", "2024-01-02"],
    ["TIMESTAMP_MS '2024-01-02 00:00:00'", "2024-01-02"],
    ["TIMESTAMP_NS '2024-01-02 00:00:00.000000001'", "2024-01-02"],
    ["make_timestamp_ns(20240102)", "refused"],
    ["make_timestamp(20240102)", "refused"],
    ["TIMESTAMP '1970-01-01 00:00:00'", "1970-01-01"],
    ["TIMESTAMPTZ '2024-01-02 00:00:00+08'", "2024-01-02"],
    ["TIMESTAMPTZ '2024-01-01 16:00:00Z'", "2024-01-02"],
    // China had summer time in 1988: midnight was 15:00 UTC.
    ["TIMESTAMPTZ '1988-07-01 15:00:00Z'", "1988-07-02"],
    ["NULL::INTEGER", null],
    ["true", "unfit"],
    ["TIME '09:25:00'", "unfit"],
  ]);

  test("milliseconds are read only if the format may hold them", async () => {
    const rules = { ...RULES, epochDates: true };
    expect(await taken("date", "'1704153600000'", rules)).toBe("2024-01-02");
    expect(await taken("date", "'1704153600001'", rules)).toBe("refused");
    expect(await taken("date", "'20240102'", rules)).toBe("2024-01-02");
  });

  test("a day in any notation gives that day", async () => {
    const ways: readonly ((day: string, iso: string) => string)[] = [
      (day) => text(day),
      (day) => text(`${day}.0`),
      (_day, iso) => text(iso),
      (_day, iso) => text(iso.replaceAll("-", "/")),
      (_day, iso) => text(iso.replaceAll("-0", "-")),
      (_day, iso) => text(`${iso} 00:00:00`),
      (_day, iso) => text(`${iso}T23:59:59+08:00`),
      (day) => `${day}::INTEGER`,
      (day) => `${day}::BIGINT`,
      (day) => `${day}::DOUBLE`,
      (_day, iso) => `DATE '${iso}'`,
      (_day, iso) => `TIMESTAMP '${iso}'`,
      (_day, iso) => `TIMESTAMP_NS '${iso}'`,
      (_day, iso) => `TIMESTAMP_MS '${iso} 15:00:00'`,
      (_day, iso) => `(TIMESTAMP '${iso}' AT TIME ZONE 'Asia/Shanghai')`,
    ];
    // 1901 to 2099; the few days on which China moved its clocks at midnight included.
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: -25202, max: 47481 }), fc.constantFrom(...ways), async (days, way) => {
        fc.pre(!formatDays(days).startsWith("1970")); // there, a time of day betrays a number taken for a moment
        const day = formatDays(days);
        const iso = `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;
        expect(await taken("date", way(day, iso))).toBe(iso);
      }),
      { numRuns: 150 },
    );
  });
});

describe("codes", () => {
  cases("code", [
    ["'000001.SZ'", "000001.SZ"],
    ["' 000001.sz\u3000'", "000001.SZ"],
    ["'\t600000.SH'", "600000.SH"],
    ["'600000.XSHG'", "600000.SH"],
    ["'600519.SSE'", "600519.SH"],
    ["'000001.szse'", "000001.SZ"],
    ["'920001.BSE'", "920001.BJ"],
    ["'600000.SHG'", "600000.SH"],
    ["'SHSE.600000'", "600000.SH"],
    ["'000001.xshe'", "000001.SZ"],
    ["'600000.SS'", "600000.SH"],
    ["'sh600000'", "600000.SH"],
    ["'SZ000001'", "000001.SZ"],
    ["'bj920001'", "920001.BJ"],
    ["'sh.600000'", "600000.SH"],
    ["'920167.BJ'", "920167.BJ"],
    ["'430047.BJ'", "430047.BJ"],
    ["'900901.SH'", "900901.SH"],
    ["'689009.SH'", "689009.SH"],
    ["'399300.SZ'", "399300.SZ"],
    ["'801010.SI'", "801010.SI"],
    ["'H30533.CSI'", "H30533.CSI"],
    ["'00700.HK'", "00700.HK"],
    ["'000001'", "refused"],
    ["'1'", "refused"],
    ["1", "refused"],
    ["600000.0::DOUBLE", "refused"],
    ["'600000.'", "refused"],
    ["'平安银行'", "refused"],
    ["'000001.SZ,000002.SZ'", "refused"],
    ["''", null],
    ["'nan'", null],
    ["true", "unfit"],
  ]);

  describe("if they may lack an exchange", () => {
    cases(
      "code",
      [
        ["'000001'", "000001"],
        ["'000001.SZ'", "000001.SZ"],
        ["'sz000001'", "000001.SZ"],
        ["'1'", "refused"],
      ],
      {
        ...RULES,
        bareCodes: true,
      },
    );
  });
});

describe("text", () => {
  cases("text", [
    ["'  平安 银行　'", "平安 银行"],
    ["'NA'", "NA"],
    ["'-'", "-"],
    ["'N/A'", "N/A"],
    ["'none'", "none"],
    ["'None'", null],
    ["'nan'", null],
    ["'NULL'", null],
    ["'NaT'", null],
    ["'   '", null],
    ["'001'", "001"],
    ["110000.0::DOUBLE", "110000"],
    ["1.5::DOUBLE", "1.5"],
    ["'nan'::DOUBLE", null],
    ["7", "7"],
    ["true", "true"],
    ["TIME '09:25:00'", "09:25:00"],
    ["TIMESTAMP '2024-01-02 18:30:00'", "2024-01-02 18:30:00"],
    ["TIMESTAMP_NS '2024-01-02 18:30:00'", "2024-01-02 18:30:00"],
    ["TIMESTAMPTZ '2024-01-02 10:30:00Z'", "2024-01-02 18:30:00"],
    ["DATE '2024-01-02'", "2024-01-02"],
    ["{'a': 1}", "unfit"],
  ]);
});

test("words for no value give null in every column that is not text", async () => {
  for (const type of ["code", "date", "float64", "int64"] as const) {
    for (const word of [
      "",
      " ",
      "nan",
      "NaN",
      "None",
      "null",
      "NULL",
      "N/A",
      "NA",
      "NaT",
      "--",
      "-",
      "<NA>",
      "#N/A",
      "\u00a0-\u3000",
    ]) {
      expect([type, word, await taken(type, text(word))]).toEqual([type, word, null]);
    }
  }
});

test("every kind has an expression that DuckDB can bind, or none, for every type", async () => {
  const samples: Record<string, string> = {
    text: "''",
    integer: "1",
    float32: "1::FLOAT",
    float64: "1::DOUBLE",
    decimal: "1::DECIMAL(4,1)",
    "wide decimal": "1.5",
    boolean: "true",
    date: "DATE '2024-01-02'",
    timestamp: "TIMESTAMP '2024-01-02'",
    timestamptz: "TIMESTAMPTZ '2024-01-02 00:00:00Z'",
    time: "TIME '09:25:00'",
    other: "[1]",
  };
  expect(Object.keys(samples)).toEqual([...SOURCE_KINDS]);
  for (const type of ["text", "code", "date", "float64", "int64"] as const) {
    for (const sample of Object.values(samples)) await taken(type, sample);
  }
});
