// The vocabulary of the checks, and their tolerances.
import type { Term } from "./check-terms.js";

/** `severe`: it cannot be true. `suspicious`: it is rarely true. */
export type Severity = "severe" | "suspicious";

/**
 * What the row `r` is compared with, as `o`:
 * `calendar`: its day in `trade_cal`, or nulls; `listing`: its code in `stock_list`, or nulls; `suspension`: that it is
 * suspended for the whole day; `limits`: its row of `stk_limit`; `previous`: the bar before it of the same code.
 */
export type Counterpart = "calendar" | "listing" | "suspension" | "limits" | "previous";

interface CheckText {
  readonly id: string;
  readonly entities: readonly string[];
  readonly severity: Severity;
  /** A clause without a full stop, in English and in Chinese. */
  readonly says: string;
  readonly chinese: string;
}

/** The condition that a row of a fault meets. */
export interface RowCheck extends CheckText {
  readonly of: "rows";
  readonly fails: Term;
  readonly against?: Counterpart;
  /**
   * A condition on all bars of a code, as an aggregate. If a code does not meet it, none of its rows can fail; few codes do, so it
   * saves the comparison of each row with the bar before it.
   */
  readonly onlyCodes?: Term;
  /** Columns that an example shows: of the row, and of what it is compared with. */
  readonly shows: readonly string[];
  readonly showsOther?: readonly string[];
}

/** A value of all rows of a day, or of a day and code, lies outside a range. */
export interface GroupCheck extends CheckText {
  readonly of: "groups";
  readonly each: "day" | "code and day";
  /** An aggregate, and what an example calls it. */
  readonly value: Term;
  readonly called: string;
  readonly within: readonly [number, number];
}

/** A day compared with the days before it: it has far fewer rows, or a column has no value any more. */
export interface DayCheck extends CheckText {
  readonly of: "days";
  readonly finds: "few-rows" | "lost-column";
}

export type Check = RowCheck | GroupCheck | DayCheck;

/**
 * Tolerances. Each was set so that public files of the market pass: whole-market days of 2019 to 2025, the full history
 * of 123 stocks, adjustment factors of 2024, index levels since 2005.
 */
export const TOLERANCE = {
  /** Prices are rounded to 0.01, changes as well. */
  price: 0.011,
  /** A change rounded to 0.01 as a part of the price, in percent; and the rounding of the percentage. */
  percent: `0.02 + 0.6 / abs(r."pre_close")`,
  /** From this change in percent on, a fraction cannot be mistaken for it. */
  leastFraction: 1,
  /** Lots below this are rounded too coarsely for an average price. */
  leastLots: 1_000,
  /** Average price of a day as a part of its prices: corrections of old bars, and rounding. */
  averagePrice: 0.1,
  /** The average price of the shares of most indices, in yuan. */
  averageOfIndex: [0.5, 300],
  /** No bar of a stock is this many times the bar before it: the largest since 1990 is 14 times. */
  jump: 50,
  /** Shares are rounded to 0.0001 of ten thousand. */
  shares: 1.0001,
  weights: [95, 105],
  /** A day is compared with the days before it if these have this many rows. In July 2015 a third was suspended. */
  fewRows: { least: 100, share: 0.5, days: 5 },
} as const;
