// Constructors for the columns of the catalog, one line each. A `required…` column has a value in every row; all others
// may be null.
import type { Entity, EntityColumn, Unit } from "./types.js";

type Options = Partial<Omit<EntityColumn, "name" | "type" | "meaning" | "chinese" | "nullable">>;

const make =
  (type: EntityColumn["type"], nullable: boolean) =>
  (name: string, meaning: string, chinese: string, options: Options = {}): EntityColumn => ({
    ...{ name, type, meaning, chinese, nullable },
    ...options,
  });

export const requiredCode = make("code", false);
export const stockCode = (name: string, meaning: string, chinese: string): EntityColumn =>
  requiredCode(name, meaning, chinese, { codesOf: "stocks" });
export const requiredDate = make("date", false);
export const requiredText = make("text", false);
export const requiredInteger = make("int64", false);

export const code = make("code", true);
export const date = make("date", true);
export const text = make("text", true);
export const number = make("float64", true);

const measured =
  (unit: Unit) =>
  (name: string, meaning: string, chinese: string): EntityColumn =>
    number(name, meaning, chinese, { unit });

// Numbers of the financial statements and indicators.
export const yuan = measured("yuan");
export const yuanPerShare = measured("yuan per share");
export const percent = measured("percent");
export const ratio = measured("ratio");
export const times = measured("times");
export const days = measured("days");

// Numbers of quotes, in the currency of the listing: B shares are not quoted in yuan.
export const price = measured("currency units");
export const thousandUnits = measured("thousand currency units");
export const lots = measured("lots");
export const tenThousandShares = measured("ten thousand shares");
export const tenThousandUnits = measured("ten thousand currency units");
export const points = measured("points");

// The shape that most entities share: one row per code and trading day.

export const oneRowADay = {
  mainDate: "trade_date",
  code: "ts_code",
  identity: ["ts_code", "trade_date"],
  identityIs: "row",
  snapshot: null,
  order: ["trade_date", "ts_code"],
  pointInTime: null,
  revisions: null,
  panel: { by: "day" },
} as const satisfies Partial<Entity>;

/** Columns that the three statements share. */
export const STATEMENT = {
  reportType: text(
    "report_type",
    "Report type: 1 consolidated, 2 consolidated single quarter, ... 12",
    "报告类型：1合并报表，2单季合并，……，12",
  ),
  companyType: text(
    "comp_type",
    "Company type: 1 general, 2 bank, 3 insurance, 4 securities",
    "公司类型：1一般工商业，2银行，3保险，4证券",
  ),
  periodKind: text(
    "end_type",
    "Kind of period: 1 first quarter, 2 half year, 3 third quarter, 4 year",
    "报告期类型：1一季报，2半年报，3三季报，4年报",
  ),
} as const;
