// The checks of what is stored, as data: what must hold for the rows of an entity. A row that fails a check is stored
// nevertheless, counted and named; what is null fails no check.
import { BAR_CHECKS } from "./bar-checks.js";
import { all, any, isBelow, isNegative, isNotPositive, isOutside, other, own } from "./check-terms.js";
import { TOLERANCE, type Check } from "./check-types.js";

const OPEN_DAYS = [
  ...["daily", "daily_basic", "adj_factor", "stk_limit", "index_daily"],
  ...["stk_auction_o", "stk_auction_c", "stk_auction"],
];
const STATEMENTS = ["income", "balancesheet", "cashflow"];
const OF_STOCKS = ["daily", "daily_basic", "adj_factor"];
const WHOLE_MARKET = ["daily", "daily_basic", "adj_factor", "stk_limit"];

export const CHECKS: readonly Check[] = [
  ...BAR_CHECKS,
  {
    id: "negative-value",
    of: "rows",
    entities: ["daily_basic"],
    severity: "severe",
    says: "a price, share count or market value is negative or zero",
    chinese: "价格、股本或市值为负数或零",
    fails: any(
      ...["close", "total_share", "total_mv"].map(isNotPositive),
      ...["float_share", "free_share", "circ_mv", "turnover_rate"].map(isNegative),
    ),
    shows: ["close", "total_share", "total_mv", "circ_mv", "turnover_rate"],
  },
  {
    id: "part-above-whole",
    of: "rows",
    entities: ["daily_basic"],
    severity: "suspicious",
    says: "the tradable shares or their market value exceed the total",
    chinese: "流通股本或流通市值超过总额",
    fails: any(
      isBelow(`${own("total_mv")} * ${TOLERANCE.shares}`, own("circ_mv")),
      isBelow(`${own("total_share")} * ${TOLERANCE.shares}`, own("float_share")),
    ),
    shows: ["total_share", "float_share", "total_mv", "circ_mv"],
  },
  {
    id: "factor-not-positive",
    of: "rows",
    entities: ["adj_factor"],
    severity: "severe",
    says: "the adjustment factor is zero or negative",
    chinese: "复权因子为零或负数",
    fails: isNotPositive("adj_factor"),
    shows: ["adj_factor"],
  },
  {
    id: "limits-crossed",
    of: "rows",
    entities: ["stk_limit"],
    severity: "severe",
    says: "the upper limit is below the lower limit",
    chinese: "涨停价低于跌停价",
    fails: all(`${own("up_limit")} > 0`, isBelow(own("up_limit"), own("down_limit"))),
    shows: ["up_limit", "down_limit"],
  },
  {
    id: "weight-out-of-range",
    of: "rows",
    entities: ["index_weight"],
    severity: "severe",
    says: "a weight is not between 0 and 100",
    chinese: "权重不在0到100之间",
    fails: isOutside(own("weight"), "0", "100"),
    shows: ["con_code", "weight"],
  },
  {
    id: "weights-sum",
    of: "groups",
    entities: ["index_weight"],
    severity: "suspicious",
    says: "the weights of one index and day do not sum to 100 percent",
    chinese: "同一指数同一天的权重之和不等于100%",
    each: "code and day",
    value: `sum(${own("weight")})`,
    called: "sum",
    within: TOLERANCE.weights,
  },
  {
    id: "closed-day",
    of: "rows",
    entities: OPEN_DAYS,
    severity: "severe",
    says: "the day is closed by trade_cal, or a Saturday or Sunday",
    chinese: "该日按交易日历休市，或为周六、周日",
    against: "calendar",
    fails: `coalesce(${other("is_open")} = 0, isodow(r.__date) > 5)`,
    shows: [],
  },
  {
    id: "unknown-stock",
    of: "rows",
    entities: OF_STOCKS,
    severity: "suspicious",
    says: "the code is in no stock list of these days",
    chinese: "代码不在这段日期的股票列表中",
    against: "listing",
    fails: all(`${other("code")} IS NULL`, `r.__date BETWEEN b."first" AND b."last"`),
    shows: [],
  },
  {
    id: "before-listing",
    of: "rows",
    entities: ["daily", "daily_basic"],
    severity: "suspicious",
    says: "the day is before the listing date",
    chinese: "该日早于上市日期",
    against: "listing",
    fails: `r.__date < ${other("list_date")}`,
    shows: [],
    showsOther: ["list_date"],
  },
  {
    id: "after-delisting",
    of: "rows",
    entities: ["daily", "daily_basic"],
    severity: "suspicious",
    says: "the day is after the delisting date",
    chinese: "该日晚于退市日期",
    against: "listing",
    fails: `r.__date > ${other("delist_date")}`,
    shows: [],
    showsOther: ["delist_date"],
  },
  {
    id: "traded-while-suspended",
    of: "rows",
    entities: ["daily"],
    severity: "suspicious",
    says: "it was traded although suspend_d has it suspended all day",
    chinese: "停牌信息显示全天停牌，却有成交",
    against: "suspension",
    fails: `${own("vol")} > 0`,
    shows: ["vol"],
  },
  {
    id: "beyond-limit",
    of: "rows",
    entities: ["daily"],
    severity: "suspicious",
    says: "a price is beyond the price limits of the day",
    chinese: "价格超出当日涨跌停价",
    against: "limits",
    fails: any(
      all(`${other("up_limit")} > 0`, isBelow(`${other("up_limit")} + ${TOLERANCE.price}`, own("high"))),
      isBelow(own("low"), `${other("down_limit")} - ${TOLERANCE.price}`),
    ),
    shows: ["high", "low"],
    showsOther: ["up_limit", "down_limit"],
  },
  {
    id: "announced-early",
    of: "rows",
    entities: STATEMENTS,
    severity: "severe",
    says: "it was announced before its period ended",
    chinese: "公告日期早于报告期末",
    fails: any(isBelow(own("ann_date"), own("end_date")), isBelow(own("f_ann_date"), own("end_date"))),
    shows: ["ann_date", "f_ann_date", "end_date"],
  },
  {
    id: "indicator-announced-early",
    of: "rows",
    entities: ["fina_indicator"],
    severity: "severe",
    says: "it was announced before its period ended",
    chinese: "公告日期早于报告期末",
    fails: isBelow(own("ann_date"), own("end_date")),
    shows: ["ann_date", "end_date"],
  },
  {
    id: "few-rows",
    of: "days",
    entities: WHOLE_MARKET,
    severity: "suspicious",
    says: "the day has less than half as many rows as the days before it",
    chinese: "该日的行数不到前几日的一半",
    finds: "few-rows",
  },
  {
    id: "lost-column",
    of: "days",
    entities: WHOLE_MARKET,
    severity: "suspicious",
    says: "a column has no value on the day, but on the days before it",
    chinese: "某一字段当日全为空值，而前几日有值",
    finds: "lost-column",
  },
];

export const checksOf = (entity: string): readonly Check[] =>
  CHECKS.filter(({ entities }) => entities.includes(entity));

const checksById = new Map(CHECKS.map((check) => [check.id, check]));

export const checkNamed = (id: string): Check | undefined => checksById.get(id);
