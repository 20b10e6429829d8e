// The checks of bars: prices, changes, volume and turnover.
import { all, any, differs, isBelow, isNegative, isNotPositive, isOutside, not, other, own } from "./check-terms.js";
import { TOLERANCE, type Check } from "./check-types.js";

const BARS = ["daily", "weekly", "monthly", "index_daily"];
const STOCK_BARS = ["daily", "weekly", "monthly"];

const changeInPercent = `100 * ${own("change")} / ${own("pre_close")}`;
const isFraction = all(
  `abs(${changeInPercent}) >= ${TOLERANCE.leastFraction}`,
  not(differs(`100 * ${own("pct_chg")}`, changeInPercent, TOLERANCE.percent)),
);
/** Thousands of yuan over lots of 100 shares. */
const averagePrice = `${own("amount")} * 10 / ${own("vol")}`;
const hasVolume = `${own("vol")} >= ${TOLERANCE.leastLots}`;

export const BAR_CHECKS: readonly Check[] = [
  {
    id: "high-below-low",
    of: "rows",
    entities: BARS,
    severity: "severe",
    says: "high is below low",
    chinese: "最高价低于最低价",
    fails: isBelow(own("high"), own("low")),
    shows: ["high", "low"],
  },
  {
    id: "outside-high-low",
    of: "rows",
    entities: BARS,
    severity: "suspicious",
    says: "open or close is not between low and high",
    chinese: "开盘价或收盘价不在最低价与最高价之间",
    fails: all(
      `${own("low")} <= ${own("high")}`,
      any(...["open", "close"].map((name) => isOutside(own(name), `${own("low")} - 1e-6`, `${own("high")} + 1e-6`))),
    ),
    shows: ["open", "high", "low", "close"],
  },
  {
    id: "price-not-positive",
    of: "rows",
    entities: BARS,
    severity: "severe",
    says: "a price is zero or negative",
    chinese: "价格为零或负数",
    fails: any(...["open", "high", "low", "close", "pre_close"].map(isNotPositive)),
    shows: ["open", "high", "low", "close", "pre_close"],
  },
  {
    id: "negative-volume",
    of: "rows",
    entities: BARS,
    severity: "severe",
    says: "volume or turnover is negative",
    chinese: "成交量或成交额为负数",
    fails: any(isNegative("vol"), isNegative("amount")),
    shows: ["vol", "amount"],
  },
  {
    id: "wrong-change",
    of: "rows",
    entities: BARS,
    severity: "suspicious",
    says: "change is not close minus pre_close",
    chinese: "涨跌额不等于收盘价减昨收价",
    fails: differs(own("change"), `${own("close")} - ${own("pre_close")}`, TOLERANCE.price),
    shows: ["close", "pre_close", "change"],
  },
  {
    id: "percent-as-fraction",
    of: "rows",
    entities: BARS,
    severity: "severe",
    says: "pct_chg is a fraction, not a percentage",
    chinese: "涨跌幅是小数，而不是百分数",
    fails: all(`${own("pre_close")} > 0`, isFraction),
    shows: ["pre_close", "change", "pct_chg"],
  },
  {
    id: "wrong-percent",
    of: "rows",
    entities: BARS,
    severity: "suspicious",
    says: "pct_chg does not follow from change and pre_close",
    chinese: "涨跌幅与涨跌额、昨收价不符",
    fails: all(`${own("pre_close")} > 0`, differs(own("pct_chg"), changeInPercent, TOLERANCE.percent), not(isFraction)),
    shows: ["pre_close", "change", "pct_chg"],
  },
  {
    id: "turnover-off-price",
    of: "rows",
    entities: STOCK_BARS,
    severity: "suspicious",
    says: "amount / vol is no price of the bar: vol must be in lots, amount in thousands, prices not adjusted",
    chinese: "成交额除以成交量不在当期价格范围内：成交量应以手为单位，成交额以千元为单位，价格不复权",
    fails: all(
      hasVolume,
      isOutside(
        averagePrice,
        `${own("low")} * ${1 - TOLERANCE.averagePrice}`,
        `${own("high")} * ${1 + TOLERANCE.averagePrice}`,
      ),
    ),
    shows: ["high", "low", "vol", "amount"],
  },
  {
    id: "turnover-of-index",
    of: "groups",
    entities: ["index_daily"],
    severity: "suspicious",
    says: "amount / vol of most indices is no price of a share: vol must be in lots, amount in thousands",
    chinese: "多数指数的成交额除以成交量不像股价：成交量应以手为单位，成交额以千元为单位",
    each: "day",
    value: `median(${averagePrice}) FILTER (${hasVolume})`,
    called: "amount * 10 / vol",
    within: TOLERANCE.averageOfIndex,
  },
  {
    id: "price-jump",
    of: "rows",
    entities: BARS,
    severity: "severe",
    says: `close is more than ${TOLERANCE.jump} times the bar before, or less than 1/${TOLERANCE.jump} of it: a price in another unit`,
    chinese: `收盘价是上一根K线的${TOLERANCE.jump}倍以上或不足其1/${TOLERANCE.jump}：价格单位有误`,
    against: "previous",
    // A little less than the limit, since a quotient is rounded in another way than a product.
    onlyCodes: `max(${own("close")}) > ${0.99 * TOLERANCE.jump} * min(${own("close")}) FILTER (${own("close")} > 0)`,
    fails: all(
      `${own("close")} > 0`,
      `${other("close")} > 0`,
      isOutside(own("close"), `${other("close")} / ${TOLERANCE.jump}`, `${other("close")} * ${TOLERANCE.jump}`),
    ),
    shows: ["close"],
    showsOther: ["close"],
  },
];
