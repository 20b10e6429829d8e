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
  /** SQL over stored columns: the column is not stored, it follows from them. */
  readonly derived?: string;
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
 * What `as_of` means for an entity.
 * `announced`: rows whose first non-null of `columns` is on or before it, with what `hides` says unsaid.
 * `snapshot`: the latest snapshot on or before it.
 */
type PointInTime =
  | { readonly rule: "announced"; readonly columns: readonly string[]; readonly hides?: readonly Hidden[] }
  | { readonly rule: "snapshot" };

/** A value that tells of a later day: where the date in `knownFrom` lies after `as_of`, `before` is shown instead. */
interface Hidden {
  readonly column: string;
  readonly knownFrom: string;
  readonly before: string | null;
}

/**
 * Which gaps are computed. `every_stock`: a row for each listed stock not suspended on each open day;
 * `every_day`: rows on each open day; `none`: only recorded gaps.
 */
type GapRule = "every_stock" | "every_day" | "none";

/**
 * Prices that `adjust` multiplies by the factor of their code and day. The entity of factors has the same main date, code
 * and identity, so that both lie in the same order.
 */
export interface Adjustment {
  readonly prices: readonly string[];
  /** Name of the entity that holds the factors. */
  readonly factors: string;
  /** The column there. */
  readonly factor: string;
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
  /** The date column that `start_date` and `end_date` bound, or null for a full table. */
  readonly mainDate: string | null;
  /** The code column that files are clustered by, and that a gap names. */
  readonly code: string;
  /** Rows of a new drop replace the rows that share these values. */
  readonly identity: readonly string[];
  /** `row`: one identity is one row. `group`: one identity may hold many rows, equal ones included (ticks). */
  readonly identityIs: "row" | "group";
  /** Default order: main date, code, then what makes it total. Nulls last. Every column ascending. */
  readonly order: readonly string[];
  readonly pointInTime: PointInTime | null;
  readonly gaps: GapRule;
  /** A second copy clustered by code is worth its place (long series of many codes). */
  readonly codeCopy: boolean;
  /** Other parameter names for a column filter, e.g. `period` for the column `end_date`. */
  readonly filterAliases?: Readonly<Record<string, string>>;
  /** Codes may stand without suffix; the filter matches with and without. */
  readonly bareCodes?: boolean;
  /** Absent: nothing to adjust. */
  readonly adjustment?: Adjustment;
}
