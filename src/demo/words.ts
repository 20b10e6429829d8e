// Data of the demo market: invented names, and the boards and industries with the numbering of China's exchanges.

export interface Board {
  readonly prefix: string;
  readonly suffix: "SH" | "SZ" | "BJ";
  /** How many of 1,000 stocks are listed here. */
  readonly share: number;
  /** The k-th code is prefix + (first + k * step) modulo all codes of the prefix. */
  readonly first: number;
  readonly step: number;
  /** Daily price limit in percent. */
  readonly limit: number;
  /** No stock is listed before this day. */
  readonly opened: string;
}

export const BOARDS: readonly Board[] = [
  { prefix: "600", suffix: "SH", share: 160, first: 0, step: 519, limit: 10, opened: "1990-12-19" },
  { prefix: "601", suffix: "SH", share: 50, first: 318, step: 81, limit: 10, opened: "2006-07-05" },
  { prefix: "603", suffix: "SH", share: 150, first: 288, step: 271, limit: 10, opened: "2012-01-05" },
  { prefix: "605", suffix: "SH", share: 30, first: 1, step: 167, limit: 10, opened: "2019-11-01" },
  { prefix: "688", suffix: "SH", share: 110, first: 1, step: 371, limit: 20, opened: "2019-07-22" },
  { prefix: "000", suffix: "SZ", share: 90, first: 1, step: 533, limit: 10, opened: "1991-04-03" },
  { prefix: "001", suffix: "SZ", share: 20, first: 201, step: 213, limit: 10, opened: "2015-12-28" },
  { prefix: "002", suffix: "SZ", share: 160, first: 1, step: 593, limit: 10, opened: "2004-06-25" },
  { prefix: "300", suffix: "SZ", share: 140, first: 1, step: 749, limit: 20, opened: "2009-10-30" },
  { prefix: "301", suffix: "SZ", share: 50, first: 11, step: 137, limit: 20, opened: "2021-03-26" },
  { prefix: "83", suffix: "BJ", share: 25, first: 472, step: 3167, limit: 30, opened: "2020-07-27" },
  { prefix: "920", suffix: "BJ", share: 15, first: 2, step: 97, limit: 30, opened: "2021-11-15" },
];

/** Two special codes that every demo has: a depositary receipt and a B share. */
export const SPECIAL_CODES = ["689009.SH", "900901.SH"] as const;

/** Shenwan's 31 industries of the first level: the last three digits of the index code, and the name. */
export const INDUSTRIES: readonly (readonly [string, string])[] = [
  ["010", "农林牧渔"],
  ["030", "基础化工"],
  ["040", "钢铁"],
  ["050", "有色金属"],
  ["080", "电子"],
  ["110", "家用电器"],
  ["120", "食品饮料"],
  ["130", "纺织服饰"],
  ["140", "轻工制造"],
  ["150", "医药生物"],
  ["160", "公用事业"],
  ["170", "交通运输"],
  ["180", "房地产"],
  ["200", "商贸零售"],
  ["210", "社会服务"],
  ["230", "综合"],
  ["710", "建筑材料"],
  ["720", "建筑装饰"],
  ["730", "电力设备"],
  ["740", "国防军工"],
  ["750", "计算机"],
  ["760", "传媒"],
  ["770", "通信"],
  ["780", "银行"],
  ["790", "非银金融"],
  ["880", "汽车"],
  ["890", "机械设备"],
  ["950", "煤炭"],
  ["960", "石油石化"],
  ["970", "环保"],
  ["980", "美容护理"],
];

/** First halves of company names. */
export const NAME_STARTS = [..."华中东南西北金天海江新国兴泰永恒瑞德安盛宏远长嘉广信博龙凤云"];

/** Second halves of company names. */
export const NAME_MIDDLES = [..."宇源达通力创元丰润科林诚明辉阳和利康隆洋峰岭川河石森澜宁飞腾"];

/** Suffixes of company names. */
export const NAME_ENDS = [
  "股份",
  "科技",
  "集团",
  "实业",
  "控股",
  "发展",
  "材料",
  "技术",
  "电子",
  "药业",
  "能源",
  "智能",
];

export const SURNAMES = [..."王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗"];
export const GIVEN_NAMES = [
  "伟",
  "芳",
  "建国",
  "志强",
  "敏",
  "静",
  "文博",
  "晓明",
  "海燕",
  "国栋",
  "思远",
  "雨桐",
  "磊",
  "红梅",
];

export const PROVINCES = [
  "北京",
  "上海",
  "广东",
  "浙江",
  "江苏",
  "山东",
  "四川",
  "湖北",
  "福建",
  "安徽",
  "湖南",
  "河南",
  "陕西",
];

export const BROKERS = ["东岳证券", "长河证券", "南屏证券", "启明证券", "海岳证券", "云峰证券", "北辰证券", "信和证券"];

export const REPORT_TYPES = ["公司研究", "深度研究", "点评报告", "调研纪要"];

export const RATINGS = [
  "业绩符合预期",
  "盈利能力持续改善",
  "新业务放量在即",
  "短期承压，长期向好",
  "订单充足，产能释放",
];

export const NOTICES = [
  "关于召开股东大会的通知",
  "董事会决议公告",
  "监事会决议公告",
  "关于股份回购进展的公告",
  "关于对外担保的公告",
  "关于股东减持股份的预披露公告",
  "关于签订重大合同的公告",
  "投资者关系活动记录表",
];

/** Broad indices: code, name, market, publisher, category, base date, base point, listing date. */
export const INDICES = [
  ["000001.SH", "上证指数", "SSE", "上海证券交易所", "综合指数", "1990-12-19", 100, "1991-07-15"],
  ["000016.SH", "上证50", "SSE", "中证指数有限公司", "规模指数", "2003-12-31", 1000, "2004-01-02"],
  ["000300.SH", "沪深300", "SSE", "中证指数有限公司", "规模指数", "2004-12-31", 1000, "2005-04-08"],
  ["000688.SH", "科创50", "SSE", "上海证券交易所", "规模指数", "2019-12-31", 1000, "2020-07-23"],
  ["000852.SH", "中证1000", "SSE", "中证指数有限公司", "规模指数", "2004-12-31", 1000, "2014-10-17"],
  ["000905.SH", "中证500", "SSE", "中证指数有限公司", "规模指数", "2004-12-31", 1000, "2007-01-15"],
  ["000985.CSI", "中证全指", "CSI", "中证指数有限公司", "规模指数", "2004-12-31", 1000, "2011-08-02"],
  ["399001.SZ", "深证成指", "SZSE", "深圳证券交易所", "综合指数", "1994-07-20", 1000, "1995-01-23"],
  ["399006.SZ", "创业板指", "SZSE", "深圳证券交易所", "规模指数", "2010-05-31", 1000, "2010-06-01"],
] as const;

type IndexCode = (typeof INDICES)[number][0];

/** Which stocks an index holds, as a condition over the helper table of stocks, and its level before the demo. */
export const MEMBERS: Record<IndexCode, { readonly where: string; readonly start: number }> = {
  "000001.SH": { where: "suffix = 'SH' AND tier > 0", start: 3100 },
  "000016.SH": { where: "top", start: 2600 },
  "000300.SH": { where: "tier = 1", start: 3500 },
  "000688.SH": { where: "prefix = '688'", start: 1000 },
  "000852.SH": { where: "tier = 3", start: 6500 },
  "000905.SH": { where: "tier = 2", start: 5800 },
  "000985.CSI": { where: "tier > 0", start: 4700 },
  "399001.SZ": { where: "suffix = 'SZ'", start: 10500 },
  "399006.SZ": { where: "prefix IN ('300', '301')", start: 2200 },
};

/** The indices whose weights are published. */
export const WEIGHTED: readonly IndexCode[] = ["000016.SH", "000300.SH", "000905.SH"];

/** The funds of the call auction: code and initial price. */
export const FUNDS: readonly (readonly [string, number])[] = [
  ["159915.SZ", 2.2],
  ["159919.SZ", 3.9],
  ["510050.SH", 2.7],
  ["510300.SH", 3.8],
  ["510500.SH", 5.9],
  ["512880.SH", 1.1],
  ["588000.SH", 1.0],
];
