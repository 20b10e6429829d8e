// Terms of the conditions in the table of checks: SQL over a row `r`, and over what it is compared with, `o`.

/** SQL of a value or a condition. */
export type Term = string;

/** A column of the row. */
export const own = (name: string): Term => `r."${name}"`;
/** A column of what the row is compared with. */
export const other = (name: string): Term => `o."${name}"`;

/** Today in China. */
export const TODAY: Term = "(make_timestamp(epoch_us(now())) + INTERVAL 8 HOUR)::DATE";

export const isBelow = (a: Term, b: Term): Term => `${a} < ${b}`;
export const isNegative = (name: string): Term => `${own(name)} < 0`;
export const isNotPositive = (name: string): Term => `${own(name)} <= 0`;
export const isOutside = (value: Term, low: Term, high: Term): Term => `(${value} < ${low} OR ${value} > ${high})`;
/** The values differ by more than a tolerance. */
export const differs = (a: Term, b: Term, tolerance: Term | number): Term => `abs((${a}) - (${b})) > ${tolerance}`;

export const any = (...terms: readonly Term[]): Term => terms.map((term) => `(${term})`).join(" OR ");
export const all = (...terms: readonly Term[]): Term => terms.map((term) => `(${term})`).join(" AND ");
/** Null counts as false. */
export const not = (term: Term): Term => `NOT coalesce(${term}, false)`;
