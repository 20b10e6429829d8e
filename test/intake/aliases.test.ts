import { describe, expect, test } from "vitest";
import { chineseName, ENTITIES, entityNamed } from "../../src/catalog/index.js";
import { AS_IS, isFrameIndex, meaningsOf } from "../../src/intake/aliases.js";

const meant = (entity: string, name: string): readonly string[] =>
  meaningsOf(name, entityNamed(entity)!).map(({ column, nearness, scale }) => {
    const factor = scale.times !== 1 ? ` * ${scale.times}` : scale.over !== 1 ? ` / ${scale.over}` : "";
    return `${nearness} ${column.name}${factor}`;
  });

describe("a source name means a column", () => {
  test.each([
    ["daily", "ts_code", "exact ts_code"],
    ["daily", " TS_Code ", "exact ts_code"],
    ["daily", "tsCode", "spelling ts_code"],
    ["daily", "TS代码", "spelling ts_code"],
    ["daily", "ＴＳ代码", "spelling ts_code"],
    ["daily", "tradeDate", "spelling trade_date"],
    ["daily", "pre close", "spelling pre_close"],
    ["daily", "asset", "alias ts_code"],
    ["daily", "股票代码", "alias ts_code"],
    ["daily", "date", "alias trade_date"],
    ["daily", "日期", "alias trade_date"],
    ["trade_cal", "date", "alias cal_date"],
    ["anns_d", "date", "alias ann_date"],
    ["daily", "pct_change", "alias pct_chg"],
    ["daily", "volume", "alias vol"],
    ["daily", "成交量", "alias vol"],
    ["adj_factor", "adjust", "alias adj_factor"],
    ["index_weight", "share_code", "alias con_code"],
    ["index_daily", "指数代码", "alias ts_code"],
    ["index_weight", "指数代码", "alias index_code"],
  ])("%s: %s", (entity, name, meaning) => {
    expect(meant(entity, name)).toEqual([meaning]);
  });

  test.each([
    ["daily", "list_status"],
    ["daily", "名称"],
    ["daily", ""],
    ["stock_company", "date"],
    ["daily_basic", "市盈率(TTM)"],
  ])("%s: %s means nothing", (entity, name) => {
    expect(meant(entity, name)).toEqual([]);
  });
});

describe("the unit in brackets is turned into that of the column", () => {
  test.each([
    ["daily", "成交量(股)", "alias vol / 100"],
    ["daily", "成交量（股）", "alias vol / 100"],
    ["daily", "成交量 (手)", "alias vol"],
    ["daily", "成交量[万股]", "alias vol * 100"],
    ["daily", "成交金额(元)", "alias amount / 1000"],
    ["daily", "成交额(千元)", "alias amount"],
    ["daily", "成交额(万元)", "alias amount * 10"],
    ["daily", "成交额(亿元)", "alias amount * 100000"],
    ["daily", "收盘价(元)", "alias close"],
    ["daily", "涨跌幅(%)", "alias pct_chg"],
    ["daily_basic", "总市值(元)", "alias total_mv / 10000"],
    ["daily_basic", "总股本(股)", "alias total_share / 10000"],
    ["daily_basic", "A股流通市值(元)", "alias circ_mv / 10000"],
    ["index_daily", "收盘价(元)", "alias close"],
    ["stock_company", "注册资本(元)", "alias reg_capital / 10000"],
  ])("%s: %s", (entity, name, meaning) => {
    expect(meant(entity, name)).toEqual([meaning]);
  });

  test.each([
    ["daily", "成交量(元)"],
    ["daily", "成交额(股)"],
    ["daily", "成交额(美元)"],
    ["daily", "收盘价(%)"],
  ])("%s: %s is another measure and means nothing", (entity, name) => {
    expect(meant(entity, name)).toEqual([]);
  });
});

test("a name without a unit is doubtful only where lots or thousands can be mistaken", () => {
  const doubtful = (name: string): boolean => meaningsOf(name, entityNamed("daily")!).some((m) => !m.unitKnown);
  expect(["volume", "成交额", "vol", "成交量(股)", "收盘价", "preClose"].map(doubtful)).toEqual([
    ...[true, true, false, false, false, false],
  ]);
});

test("every column of every entity is named exactly by itself, and by no other column's name more nearly", () => {
  for (const entity of ENTITIES) {
    for (const column of entity.columns) {
      const exact = meaningsOf(column.name, entity).filter(({ nearness }) => nearness === "exact");
      expect(exact.map((meaning) => meaning.column.name)).toEqual([column.name]);
    }
  }
});

test("every column of every entity is found by its Chinese name, and no other column is", () => {
  for (const entity of ENTITIES) {
    for (const column of entity.columns) {
      const found = meaningsOf(chineseName(column), entity).map((meaning) => [meaning.column.name, meaning.scale]);
      expect([entity.name, ...found]).toEqual([entity.name, [column.name, AS_IS]]);
    }
  }
});

test("columns that number the rows of a data frame are told apart", () => {
  expect(["", " ", "Unnamed: 0", "index", "level_0", "__index_level_0__"].every(isFrameIndex)).toBe(true);
  expect(["index_code", "unnamed", "level", "0"].some(isFrameIndex)).toBe(false);
});
