// Short constructors for the columns of the catalog: each column is one line there.
import type { Column, Entity } from "./types.js";

type Options = Partial<Omit<Column, "name" | "type" | "meaning">>;

const make =
  (type: Column["type"], nullable: boolean) =>
  (name: string, meaning: string, options: Options = {}): Column => ({ name, type, meaning, nullable, ...options });

/** A code that every row must have. */
export const code = make("code", false);
/** A date that every row must have. */
export const date = make("date", false);
/** A code that may be null. */
export const codeOrNull = make("code", true);
/** Text that every row must have. */
export const requiredText = make("text", false);
/** Text; may be null. */
export const text = make("text", true);
/** A date that may be null. */
export const dateOrNull = make("date", true);
/** A number; may be null. */
export const number = make("float64", true);
/** A whole number that every row must have. */
export const integer = make("int64", false);

const measured = (unit: string) => (name: string, meaning: string) => number(name, meaning, { unit });

/** Numbers of the financial statements and indicators, each with its unit; may be null. */
export const yuan = measured("yuan");
export const yuanPerShare = measured("yuan per share");
export const percent = measured("percent");
export const ratio = measured("ratio");
export const times = measured("times");
export const days = measured("days");

/** Numbers of quotes; the currency is that of the listing (B shares are not quoted in yuan); may be null. */
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
  order: ["trade_date", "ts_code"],
  pointInTime: null,
} as const satisfies Partial<Entity>;
