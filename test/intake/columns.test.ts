import { describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { planColumns, type ColumnPlan } from "../../src/intake/columns.js";

interface Options {
  readonly map?: Record<string, string>;
  readonly set?: Record<string, string>;
  readonly folders?: readonly (readonly [string, string])[];
}

const plan = (
  entity: string,
  names: readonly string[],
  { map = {}, set = {}, folders = [] }: Options = {},
): ColumnPlan => planColumns(entityNamed(entity)!, names, { map, set }, folders, "x.csv");

/** What fills each column: a source name, `= value`, or null. */
const filling = (entity: string, names: readonly string[], options: Options = {}): Record<string, string | null> =>
  Object.fromEntries(
    plan(entity, names, options).bindings.map((binding) => {
      if (binding.from === "nowhere") return [binding.column.name, null];
      if (binding.from === "constant") return [binding.column.name, `= ${binding.value}`];
      const { times, over } = binding.scale;
      return [
        binding.column.name,
        `${names[binding.source]}${times === 1 ? "" : ` * ${times}`}${over === 1 ? "" : ` / ${over}`}`,
      ];
    }),
  );

const refusal = (entity: string, names: readonly string[], options: Options = {}): string => {
  try {
    plan(entity, names, options);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("it was planned");
};

const FACTOR = ["ts_code", "trade_date", "adj_factor"];

describe("columns are matched", () => {
  test("in any order and case; others are listed as ignored", () => {
    const names = ["Adj_Factor", "version", "TS_CODE", "trade_date "];
    expect(filling("adj_factor", names)).toEqual({
      ts_code: "TS_CODE",
      trade_date: "trade_date ",
      adj_factor: "Adj_Factor",
    });
    expect(plan("adj_factor", names).ignored).toEqual(["version"]);
  });

  test("and optional ones that the file lacks are listed as missing", () => {
    expect(plan("stock_list", ["ts_code", "name", "snapshot_date"]).missing).toEqual(["list_date", "delist_date"]);
  });

  test("except the index of a data frame, which is listed as ignored", () => {
    const names = ["", "Unnamed: 0", "__index_level_0__", ...FACTOR];
    expect(plan("adj_factor", names).ignored).toEqual(["", "Unnamed: 0", "__index_level_0__"]);
  });

  test("by --map first, which frees the column that would have been used", () => {
    const names = ["ts_code", "trade_date", "adj_factor", "hfq"];
    expect(filling("adj_factor", names, { map: { HFQ: "adj_factor" } })["adj_factor"]).toBe("hfq");
    expect(plan("adj_factor", names, { map: { hfq: "adj_factor" } }).ignored).toEqual(["adj_factor"]);
  });

  test("--map may scale a number", () => {
    const names = ["ts_code", "trade_date", "shares", "yuan"];
    const options = { map: { shares: "vol/100", yuan: "amount * 10" } };
    expect(filling("daily", names, options)).toMatchObject({ vol: "shares / 100", amount: "yuan * 10" });
    expect(refusal("daily", names, { map: { shares: "trade_date/100" } })).toMatch(/trade_date cannot be scaled/);
  });

  test("--map scales only by integers from 1, so that nothing becomes zero or infinite", () => {
    const names = ["ts_code", "trade_date", "yuan"];
    for (const factor of ["*0", "/0", "*" + "9".repeat(320)]) {
      expect(refusal("daily", names, { map: { yuan: `amount${factor}` } })).toMatch(
        /a factor is a whole number from 1 to/,
      );
    }
  });

  test("with exact names before other spellings, and these before other words", () => {
    expect(filling("adj_factor", ["code", ...FACTOR])["ts_code"]).toBe("ts_code");
    expect(filling("adj_factor", ["code", "tsCode", "trade_date", "adj_factor"])["ts_code"]).toBe("tsCode");
  });

  test("but two equally near names are refused, unless --map chooses", () => {
    const names = ["code", "asset", "trade_date", "adj_factor"];
    expect(refusal("adj_factor", names)).toBe(
      "x.csv: the columns code, asset all match ts_code; choose one with --map, or put one aside with --map NAME=",
    );
    expect(filling("adj_factor", names, { map: { asset: "ts_code" } })["ts_code"]).toBe("asset");
    expect(refusal("adj_factor", [...FACTOR, "ADJ_FACTOR"])).toMatch(/the columns adj_factor, ADJ_FACTOR all match/);
  });

  test("without a prefix that all names share", () => {
    const names = ["", "adj_ts_code", "adj_trade_date", "adj_adj_factor"];
    expect(filling("adj_factor", names)).toEqual({
      ts_code: "adj_ts_code",
      trade_date: "adj_trade_date",
      adj_factor: "adj_adj_factor",
    });
  });

  test("with a warning about an alias without a unit", () => {
    expect(plan("daily", ["code", "date", "volume", "close"]).warnings).toEqual([
      "volume has no unit; it is read as lots",
    ]);
    expect(plan("daily", ["code", "date", "volume"], { map: { volume: "vol" } }).warnings).toEqual([]);
  });
});

describe("constants", () => {
  test("an assumed value fills a column that the file lacks", () => {
    expect(filling("trade_cal", ["cal_date", "is_open"])["exchange"]).toBe("= SSE");
    expect(filling("trade_cal", ["exchange", "cal_date", "is_open"])["exchange"]).toBe("exchange");
    expect(plan("trade_cal", ["cal_date", "is_open"]).missing).toEqual(["pretrade_date"]);
  });

  test("--set fills a column, even over a folder", () => {
    const names = ["con_code", "trade_date", "weight"];
    const folders = [["index_code", "000300.SH"]] as const;
    expect(filling("index_weight", names, { folders })["index_code"]).toBe("= 000300.SH");
    expect(filling("index_weight", names, { folders, set: { index_code: "000016.SH" } })["index_code"]).toBe(
      "= 000016.SH",
    );
  });

  test("--set for a column of the file requires this column to be empty", () => {
    const { bindings, overruled, ignored } = plan("adj_factor", FACTOR, { set: { trade_date: "20240102" } });
    expect(bindings[1]).toMatchObject({ from: "constant", value: "20240102" });
    expect([overruled, ignored]).toEqual([[1], ["trade_date"]]);
  });
});

describe("a plan that makes no sense is refused", () => {
  test("unknown names in --map and --set, with the nearest", () => {
    expect(refusal("daily", FACTOR, { map: { trade_dat: "trade_date" } })).toBe(
      "x.csv has no column trade_dat to map; did you mean trade_date?",
    );
    expect(refusal("daily", FACTOR, { map: { adj_factor: "clos" } })).toBe(
      "--map: daily has no column clos; did you mean close?",
    );
    expect(refusal("adj_factor", FACTOR, { set: { zzzzzzzzz: "1" } })).toBe(
      "--set: adj_factor has no column zzzzzzzzz; there are ts_code, trade_date, adj_factor",
    );
    expect(refusal("adj_factor", FACTOR, { map: { ts_code: "ts_code", trade_date: "ts_code" } })).toBe(
      "--map names ts_code twice",
    );
  });

  test("a required column is missing: the message names it, the columns of the file and the way out", () => {
    expect(refusal("adj_factor", ["code", "adj_factor"])).toBe(
      "x.csv does not fit adj_factor: it has no trade_date. The file has code, adj_factor. " +
        "Rename columns with tapehouse import adj_factor FILE --map NAME=trade_date, or give every row the same value " +
        "with --set trade_date=YYYYMMDD, or for a drop with a folder, inbox/adj_factor/trade_date=YYYYMMDD/",
    );
  });

  test("everything that a file lacks is named at once, with one command", () => {
    expect(refusal("index_member", ["index_code"])).toBe(
      "x.csv does not fit index_member: it has no con_code, in_date, and it has none of out_date, is_new. " +
        "The file has index_code. Rename columns with tapehouse import index_member FILE " +
        "--map NAME=con_code,NAME=in_date,NAME=is_new, or give every row the same value with " +
        "--set con_code=CODE,in_date=YYYYMMDD,is_new=TEXT, or for a drop with a folder, " +
        "inbox/index_member/in_date=YYYYMMDD/",
    );
    expect(refusal("index_weight", ["index_code", "con_code", "trade_date"])).toMatch(
      /^x\.csv does not fit index_weight: it has no weight\. .* --map NAME=weight, or /,
    );
  });

  test("a file without a header line, whose first row looks like one", () => {
    expect(refusal("adj_factor", ["000001.SZ", "20240102", "1.5"])).toMatch(
      /The file has 000001\.SZ, 20240102, 1\.5 \(is its header line missing\?\)\. Rename/,
    );
  });

  test("a file with only keys, as in another entity's folder", () => {
    expect(refusal("daily", ["ts_code", "trade_date", "up_limit", "down_limit"])).toMatch(
      /^x\.csv does not fit daily: it has none of open, high, low, close/,
    );
  });

  test("another entity's file that shares a few columns", () => {
    const basic = entityNamed("daily_basic")!.columns.map(({ name }) => name);
    expect(refusal("daily", basic)).toBe(
      "x.csv looks like daily_basic, not daily: it has 18 columns of daily_basic and 3 of daily",
    );
  });
});

test("a name with a line end or a control character is escaped in a message of one line", () => {
  const message = refusal("adj_factor", ["ts_code", "a\nb", "\u001b[31mred"]);
  expect(message).toContain(String.raw`The file has ts_code, "a\nb", "\u001b[31mred"`);
});
