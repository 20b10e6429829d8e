// The vocabulary in which an entity is described. Everything that the lake, the planner, the encoders and the docs
// know about an entity is one literal of type Entity.

/**
 * How a column is stored and shown:
 * `code` and `text` are VARCHAR, shown as string; `date` is DATE, shown as `YYYYMMDD`; `float64` is DOUBLE; `int64` is BIGINT.
 */
export type ColumnType = "code" | "text" | "date" | "float64" | "int64";

/** The three dtypes of the response envelope. */
type DType = "string" | "float64" | "int64";

export const DTYPES = {
  code: "string",
  text: "string",
  date: "string",
  float64: "float64",
  int64: "int64",
} as const satisfies Record<ColumnType, DType>;

export const SQL_TYPES = {
  code: "VARCHAR",
  text: "VARCHAR",
  date: "DATE",
  float64: "DOUBLE",
  int64: "BIGINT",
} as const satisfies Record<ColumnType, string>;

/** Every unit, by its English name, with its Chinese one. */
export const UNITS = {
  "currency units": "元（交易币种）",
  "thousand currency units": "千元（交易币种）",
  "ten thousand currency units": "万元（交易币种）",
  yuan: "元",
  "yuan per share": "元/股",
  shares: "股",
  "ten thousand shares": "万股",
  "shares per share": "股/股",
  lots: "手",
  percent: "%",
  ratio: "倍",
  times: "次",
  days: "天",
  points: "点",
} as const satisfies Record<string, string>;

export type Unit = keyof typeof UNITS;

/** What is looked up by the code of a stock, and in which entities: the province of its company, its industry. */
export const LOOKUPS = {
  province: ["stock_company"],
  industry: ["index_member", "index_classify"],
} as const satisfies Record<string, readonly string[]>;

export type Lookup = keyof typeof LOOKUPS;

/** What planner, engine and encoders need of a column. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** False: a row without a value is refused on import. */
  readonly nullable: boolean;
  /** Value of a column that an imported file may leave out altogether, e.g. exchange `SSE`. */
  readonly assumed?: string;
  /** The only values that a row may hold. */
  readonly only?: readonly (string | number)[];
  /** What its codes name, where this is certain: stocks of the mainland, whose numbers tell their exchange. */
  readonly codesOf?: "stocks";
  /** SQL over stored columns: the column is not stored, it follows from them. */
  readonly derived?: string;
  /** The column is not stored, its values are looked up in other entities. */
  readonly lookup?: Lookup;
}

/** A column of an entity, with what users read about it. */
export interface EntityColumn extends Column {
  /** One line, plain English. */
  readonly meaning: string;
  /** The same in Chinese. The name of the column ends at `：`, `；` or `，`. */
  readonly chinese: string;
  /** Unit of the values; absent where there is none. */
  readonly unit?: Unit;
}

export const STORES = ["market", "auction", "reports", "reference", "state", "finance", "index"] as const;
export type Store = (typeof STORES)[number];

/**
 * What `as_of` means for an entity: which rows are known by then, and which of their values.
 * `announced`: rows whose first non-null date of `columns` is on or before it. `snapshot`: the rows of the latest snapshot
 * on or before it.
 */
type PointInTime = { readonly hides?: readonly Hidden[] } & (
  | {
      readonly rule: "announced";
      readonly columns: readonly string[];
      /** The last day of a period: rows of a period that has not ended by then are not known, whatever they say. */
      readonly periodEnd?: string;
    }
  | { readonly rule: "snapshot" }
);

/**
 * A value that was not known before the date in `knownFrom`. If that date is after `as_of`, `before` is shown instead;
 * otherwise `after`, if there is one.
 */
interface Hidden {
  readonly column: string;
  readonly knownFrom: string;
  readonly before: string | null;
  readonly after?: string;
}

/** Rows that revise one another: those with the same values of `of`. */
interface Revisions {
  /** Columns of the identity, the code among them. */
  readonly of: readonly string[];
  /** The first non-null of these dates says when a revision became known. */
  readonly date: readonly string[];
  /**
   * The column that is 1 in the newest revision and 0 in the others, as of today. With `as_of` it says what was so then.
   * Of rows that differ only in it, the one with 0 came first, and nobody knows when the other one followed: with `as_of`
   * only the first is shown.
   */
  readonly flag?: string;
}

/**
 * Which row of a stock a panel takes on a trading day. `day`: the row of that day. `newest`: of the rows known by then, the
 * newest revision of the newest period; `only` leaves the rows with this value.
 */
type PanelRule =
  | { readonly by: "day" }
  | { readonly by: "newest"; readonly only: { readonly column: string; readonly value: string } | null };

/**
 * Which gaps are computed. `every_stock`: a row for each listed stock not suspended on each open day;
 * `every_limit`: the same, on days on which the price of the stock is limited; `every_day`: rows on each open day;
 * `none`: only recorded gaps. `gap-rules.ts` has the exceptions of stocks.
 */
export type GapRule = "every_stock" | "every_limit" | "every_day" | "none";

/**
 * Prices that `adjust` multiplies by the factor of their code and day. The entity of factors has the same main date, code
 * and identity, so that both lie in the same order.
 */
export interface Adjustment {
  readonly prices: readonly string[];
  /** On request it is divided by what prices are multiplied by, so that their product stays. */
  readonly volume: string;
  /** Name of the entity that holds the factors. */
  readonly factors: string;
  /** The column there. */
  readonly factor: string;
  /** For bars of longer periods: the entity of their days. Prices of different days have different factors. */
  readonly days?: { readonly entity: string; readonly period: Period };
}

/** Weeks begin on Monday. */
export type Period = "week" | "month";

/** Bars that are not stored, but made of the days of an entity by the trading days of a calendar. */
interface BuiltBars {
  readonly days: string;
  readonly calendar: string;
  readonly period: Period;
}

export interface Entity {
  readonly name: string;
  /** A heading, e.g. `Daily quotes`. */
  readonly title: string;
  /** One or two sentences. */
  readonly about: string;
  /** Title and description in Chinese. */
  readonly chinese: { readonly title: string; readonly about: string };
  readonly store: Store;
  /** In the order of the API. */
  readonly columns: readonly EntityColumn[];
  /** The date column by which rows are ordered and requests bounded, or null for a full table. */
  readonly mainDate: string | null;
  /** The date column that `start_date` and `end_date` bound if it is not the main date. */
  readonly rangeOf?: string;
  /** The code column that files are clustered by, and that a gap names. */
  readonly code: string;
  /** Rows of a new drop replace the rows that share these values. */
  readonly identity: readonly string[];
  /**
   * `row`: one identity is one row. `group`: one identity may hold several rows, which all differ. `ticks`: one identity
   * may hold many rows, equal ones included.
   */
  readonly identityIs: "row" | "group" | "ticks";
  /**
   * If rows are published as whole lists, the columns that name a list, all of them part of the identity: the rows of one
   * index and day, or no columns for a list without history. Null if rows are published one by one. A drop replaces a
   * whole list only on request.
   */
  readonly snapshot: readonly string[] | null;
  /** Default order: main date, code, then what makes it total. Nulls last. Every column ascending. */
  readonly order: readonly string[];
  readonly pointInTime: PointInTime | null;
  /** What `latest=true` reduces to its newest row; null if rows do not revise one another. */
  readonly revisions: Revisions | null;
  /** Null or absent: it cannot be part of a panel, because it may have several rows for a stock and day, or none for any. */
  readonly panel?: PanelRule | null;
  readonly gaps: GapRule;
  /** A second copy clustered by code is worth its place (long series of many codes). */
  readonly codeCopy: boolean;
  /** Other parameter names for a column filter, e.g. `period` for the column `end_date`. */
  readonly filterAliases?: Readonly<Record<string, string>>;
  /** A column whose values for known rows change rarely. A file that contradicts many is refused. */
  readonly settled?: string;
  /** Codes may stand without suffix; the filter matches with and without. */
  readonly bareCodes?: boolean;
  /** Absent: nothing to adjust. */
  readonly adjustment?: Adjustment;
  /** Absent: its rows are stored. */
  readonly builtFrom?: BuiltBars;
}
