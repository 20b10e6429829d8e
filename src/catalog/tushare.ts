// What clients of Tushare ask for by name: each entity as they know it, with what differs as data.
import { text } from "./columns.js";
import { ENTITIES, entityNamed } from "./index.js";
import type { Entity, EntityColumn } from "./types.js";

export interface Api {
  /** The entity whose rows are read. */
  readonly source: string;
  /** As it is shown: the name that is asked for, columns, names of parameters. */
  readonly entity: Entity;
  /** Newest first, as the service does it, wherever rows have a main date. */
  readonly order: "asc" | "desc";
  /** What a parameter is where it is not given. */
  readonly defaults: Readonly<Record<string, string>>;
}

/** What the client adds to the parameters of every question. It says nothing about the rows. */
export const CLIENT_NOTES: readonly string[] = ["ts_type_name"];

const derived = (name: string, meaning: string, chinese: string, sql: string): EntityColumn => ({
  ...text(name, meaning, chinese),
  derived: `(${sql})`,
});

const exchange = derived(
  "exchange",
  "Exchange: SSE, SZSE or BSE",
  "交易所：SSE、SZSE或BSE",
  "CASE split_part(ts_code, '.', 2) WHEN 'SH' THEN 'SSE' WHEN 'SZ' THEN 'SZSE' WHEN 'BJ' THEN 'BSE' END",
);

const symbol = derived("symbol", "Stock code without suffix", "不带后缀的股票代码", "split_part(ts_code, '.', 1)");

const listStatus = derived(
  "list_status",
  "L = listed, D = delisted, by the day of the snapshot, or by as_of",
  "上市状态：L上市，D退市，以快照日期为准；指定as_of时以该日为准",
  "CASE WHEN delist_date <= snapshot_date THEN 'D' ELSE 'L' END",
);

const market = derived(
  "market",
  "Board by the code: 主板, 创业板, 科创板, CDR or 北交所",
  "板块：主板、创业板、科创板、CDR或北交所，由代码判断",
  `CASE WHEN ts_code LIKE '%.BJ' THEN '北交所' WHEN ts_code LIKE '689%.SH' THEN 'CDR' WHEN ts_code LIKE '688%.SH' THEN '科创板'
        WHEN ts_code LIKE '30%.SZ' THEN '创业板' WHEN ts_code LIKE '60%.SH' OR ts_code LIKE '00%.SZ' THEN '主板' END`,
);

const area: EntityColumn = {
  ...text("area", "Province in which the company is registered", "公司注册省份"),
  lookup: "province",
};

const industry: EntityColumn = {
  ...text(
    "industry",
    "Industry of the first level that the stock had entered by the day of the snapshot",
    "所属一级行业，以快照日期为准",
  ),
  lookup: "industry",
};

const plain = (entity: Entity): Api => ({
  source: entity.name,
  entity,
  order: entity.mainDate === null ? "asc" : "desc",
  defaults: {},
});

function stockBasic(): Api {
  const list = entityNamed("stock_list")!;
  const [code, name, ...dates] = list.columns;
  return {
    source: list.name,
    entity: {
      ...list,
      name: "stock_basic",
      columns: [code!, symbol, name!, area, industry, market, exchange, listStatus, ...dates],
      pointInTime: {
        ...list.pointInTime!,
        hides: [
          ...list.pointInTime!.hides!,
          { column: "list_status", knownFrom: "delist_date", before: "L", after: "D" },
        ],
      },
    },
    order: "asc",
    defaults: { list_status: "L", fields: "ts_code,symbol,name,area,industry,market,list_date" },
  };
}

/** The service returns consolidated statements unless another type is asked for; rows without a type are taken as such. */
const STATEMENTS = ["income", "balancesheet", "cashflow"].map((name): Api => ({
  ...plain(entityNamed(name)!),
  defaults: { report_type: "1,null" },
}));

/** Bars of indices are not stored: they are made of the days. */
const INDEX_BARS = (["week", "month"] as const).map((period): Api => {
  const days = entityNamed("index_daily")!;
  const builtFrom = { days: days.name, calendar: "trade_cal", period };
  return { ...plain({ ...days, name: `index_${period}ly`, builtFrom }), source: days.name };
});

/** Names and columns that differ; every other entity is asked for as the catalog has it. */
const DIFFERENT: readonly Api[] = [
  ...STATEMENTS,
  ...INDEX_BARS,
  stockBasic(),
  {
    ...plain({ ...entityNamed("stock_company")!, columns: [...entityNamed("stock_company")!.columns, exchange] }),
    defaults: {
      fields: entityNamed("stock_company")!
        .columns.map(({ name }) => name)
        .join(","),
    },
  },
  plain({ ...entityNamed("fina_indicator")!, rangeOf: "end_date" }),
  plain({ ...entityNamed("index_member")!, filterAliases: { ts_code: "con_code" } }),
];

const APIS = new Map([...ENTITIES.map(plain), ...DIFFERENT].map((api) => [api.entity.name, api]));

export const API_NAMES: readonly string[] = [...APIS.keys()];

/** The api of this name; with `_vip` after it, it is the same one. */
export function apiNamed(name: string): Api | undefined {
  return APIS.get(name) ?? APIS.get(name.replace(/_vip$/, ""));
}
