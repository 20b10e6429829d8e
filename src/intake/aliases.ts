// Other people's names for our columns, and the units that their headers state.
import { chineseName } from "../catalog/index.js";
import type { Entity, EntityColumn, Unit } from "../catalog/types.js";

/** Stands for the entity's main date column. */
const MAIN_DATE = "@date";

/**
 * Our column → what others call it besides its Chinese name in the catalog: lower case, without blanks and underscores. An
 * exact name always wins.
 */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  ts_code: [
    ...[
      "code",
      "asset",
      "symbol",
      "ticker",
      "stock",
      "instrument",
      "stockcode",
      "sharecode",
      "securitycode",
      "secucode",
    ],
    ...["seccode", "windcode", "thscode", "orderbookid"],
    ...["代码", "证券代码", "股票代码", "交易代码", "指数代码"],
  ],
  index_code: ["指数代码", "指数"],
  con_code: [
    ...["code", "asset", "symbol", "stockcode", "sharecode", "constituent", "component", "componentcode"],
    ...["代码", "证券代码", "股票代码", "成分券代码", "成份券代码", "成分股代码", "成份股代码"],
  ],
  [MAIN_DATE]: [
    "date",
    "datetime",
    "day",
    "tradedt",
    "tradingdate",
    "tradeday",
    "tradingday",
    "日期",
    "交易日期",
    "交易日",
  ],
  name: [
    "stockname",
    "shortname",
    "secname",
    "displayname",
    "名称",
    "简称",
    "股票名称",
    "证券名称",
    "股票简称",
    "证券简称",
  ],
  open: ["openprice", "开盘", "开盘价", "今开"],
  high: ["highprice", "最高", "最高价"],
  low: ["lowprice", "最低", "最低价"],
  close: ["closeprice", "收盘", "收盘价"],
  pre_close: ["prevclose", "previousclose", "lastclose", "昨收", "昨收价", "前收盘", "前收盘价"],
  change: ["chg", "pricechange", "涨跌", "涨跌额"],
  pct_chg: ["pctchange", "changepct", "chgpct", "changepercent", "涨跌幅"],
  vol: ["volume", "成交量"],
  amount: ["money", "totalturnover", "turnovervalue", "成交额", "成交金额"],
  adj_factor: ["adjust", "factor", "adjustfactor", "复权因子", "后复权因子"],
  up_limit: ["limitup", "highlimit", "upperlimit", "涨停", "涨停价"],
  down_limit: ["limitdown", "lowlimit", "lowerlimit", "跌停", "跌停价"],
  turnover_rate: ["turn", "turnoverratio", "换手率"],
  volume_ratio: ["量比"],
  pe: ["市盈率"],
  pe_ttm: ["市盈率ttm"],
  pb: ["市净率"],
  ps: ["市销率"],
  total_mv: ["总市值"],
  circ_mv: ["floatmv", "流通市值", "a股流通市值"],
  total_share: ["总股本"],
  float_share: ["流通股本", "a股流通股本"],
  weight: ["iweight", "权重"],
  list_date: ["ipodate", "listeddate", "上市日期"],
  delist_date: ["delisteddate", "退市日期"],
  snapshot_date: ["快照日期"],
  cal_date: ["calendardate", "calendar"],
  is_open: ["istradingday", "istrading", "是否交易日", "是否开市"],
  pretrade_date: ["prevtradedate", "pretradingdate", "上一交易日", "前一交易日"],
  start_date: ["begindate", "开始日期"],
  end_date: ["reportdate", "reportperiod", "报告期", "结束日期"],
  ann_date: ["announcementdate", "pubdate", "公告日期"],
  chairman: ["董事长"],
  manager: ["总经理"],
  reg_capital: ["注册资本"],
  setup_date: ["成立日期"],
  province: ["省份"],
};

/** A column that merely carries the row numbers of a data frame. */
const FRAME_INDEX = /^(|unnamed: ?\d+|index|level_\d+|__index_level_\d+__)$/i;

export const isFrameIndex = (name: string): boolean => FRAME_INDEX.test(name.trim());

/** A number is multiplied by `times` and divided by `over`: both whole, so that nothing is rounded twice. */
export interface Scale {
  readonly times: number;
  readonly over: number;
}

export const AS_IS: Scale = { times: 1, over: 1 };

/** How a source name was found to mean a column: the nearest wins. */
export const NEARNESS = ["exact", "spelling", "alias"] as const;
type Nearness = (typeof NEARNESS)[number];

export interface Meaning {
  readonly column: EntityColumn;
  readonly nearness: Nearness;
  readonly scale: Scale;
  /** The name says the unit, or is our own name, or there is nothing to mistake: lots and thousands can be. */
  readonly unitKnown: boolean;
}

/**
 * The columns of an entity that a source name may mean. `exact` is our own name in any case; `spelling` our name
 * without underscores (`tradeDate`, `TS代码`); `alias` another word, with the unit in brackets taken into account.
 */
export function meaningsOf(name: string, entity: Entity): readonly Meaning[] {
  const plain = plainOf(name);
  const whole = squeeze(plain);
  const [, before = "", stated] = /^(.*?)(?:[([]([^()[\]]*)[)\]])?$/.exec(whole) ?? [];
  return entity.columns.flatMap((column): Meaning[] => {
    if (plain === column.name) return [{ column, nearness: "exact", scale: AS_IS, unitKnown: true }];
    const aliases = aliasesOf(column, entity);
    // Brackets may also belong to a name.
    const [word, unit] = aliases.includes(whole) ? [whole] : [before, stated];
    const scale = unit === undefined ? AS_IS : scaleOf(unit, column.unit);
    if (scale === null) return [];
    const spelled = word.replace("代码", "code") === squeeze(column.name);
    if (!spelled && !aliases.includes(word)) return [];
    const unitKnown = spelled || unit !== undefined || column.unit === undefined || STATED[column.unit][1] === 1;
    return [{ column, nearness: spelled ? "spelling" : "alias", scale, unitKnown }];
  });
}

const plainOf = (name: string): string => name.trim().normalize("NFKC").toLowerCase();

const squeeze = (name: string): string => name.replaceAll(/[\s_]/g, "");

function aliasesOf(column: EntityColumn, entity: Entity): readonly string[] {
  const own = [...(ALIASES[column.name] ?? []), squeeze(plainOf(chineseName(column)))];
  return column.name === entity.mainDate ? [...own, ...ALIASES[MAIN_DATE]!] : own;
}

const MONEY = { 元: 1, 人民币元: 1, 千元: 1e3, 万元: 1e4, 百万元: 1e6, 亿元: 1e8, yuan: 1, cny: 1, rmb: 1 };
const SHARES = { 股: 1, 手: 100, 万股: 1e4, 万手: 1e6, 亿股: 1e8, shares: 1, lots: 100 };
const BARE = { "%": 1, 倍: 1, 点: 1, 元: 1, x: 1 };
const PER_SHARE = { ...MONEY, "元/股": 1 };

/** A unit of the catalog → the units that a header may state for it, and its own size in their measure. */
const STATED: Record<Unit, readonly [Readonly<Record<string, number>>, own: number]> = {
  "currency units": [MONEY, 1],
  "thousand currency units": [MONEY, 1e3],
  "ten thousand currency units": [MONEY, 1e4],
  yuan: [MONEY, 1],
  "yuan per share": [PER_SHARE, 1],
  shares: [SHARES, 1],
  "ten thousand shares": [SHARES, 1e4],
  "shares per share": [{ 股: 1, "股/股": 1 }, 1],
  lots: [SHARES, 100],
  percent: [BARE, 1],
  ratio: [BARE, 1],
  times: [{ 次: 1, 倍: 1 }, 1],
  days: [{ 天: 1, 日: 1 }, 1],
  points: [BARE, 1],
};

/** From the unit of a header to that of a column; null where they do not measure the same. */
function scaleOf(unit: string, columnUnit: Unit | undefined): Scale | null {
  if (columnUnit === undefined) return null;
  const [sizes, own] = STATED[columnUnit];
  const size = sizes[unit];
  if (size === undefined) return null;
  return size >= own ? { times: size / own, over: 1 } : { times: 1, over: own / size };
}
