// The rows that checks look at, as SQL: rows to be checked, `r`, with what they are compared with, `o`.
import type { Counterpart } from "../catalog/check-types.js";
import type { Entity } from "../catalog/types.js";
import { daysAfter, isoDate } from "../dates.js";
import { quoteName } from "../sql-text.js";

/** What is checked. Relations are SQL of a table or a subquery. */
export interface Subject {
  readonly entity: Entity;
  /** The rows, with the entity's columns and `__file`, a number. */
  readonly rows: string;
  /** First and last main date of the rows, `YYYYMMDD`; null: there is none. */
  readonly first: string | null;
  readonly last: string | null;
  /** All rows of the entity from `BEFORE` days before the first day to the last, the checked ones included. */
  readonly around: string;
  /** No day of `around` has more rows than this. */
  readonly mostOnADay: number;
  /** Rows of another entity with a main date in a range; no rows if it has no data. */
  other(entity: string, first: string, last: string): string;
  /** Resolves when the rows of `other` can be read. */
  ready(): Promise<void>;
  /** The last main date of another entity. */
  lastOf(entity: string): string | null;
  /** The number of the file to which a fault of a whole day belongs; by default it belongs to none. */
  fileOn?(date: string | null): number;
}

/** How many days before the checked ones are looked at: a month has as many, and no holidays last longer. */
export const BEFORE = 45;

/** Stock lists from this many days before and after the checked days are read. */
const LISTS_AROUND = 31;

/** The rows as `r`, with `__code` and `__date`. */
const rowsAs = ({ entity, rows }: Subject): string => {
  const date = entity.mainDate === null ? "NULL::DATE" : quoteName(entity.mainDate);
  return `(SELECT *, ${quoteName(entity.code)} AS __code, ${date} AS __date FROM ${rows}) r`;
};

/** Entities without which a comparison finds nothing. */
const NEEDED: Readonly<Partial<Record<Counterpart, string>>> = {
  listing: "stock_list",
  suspension: "suspend_d",
  limits: "stk_limit",
};

/** The rows and what they are compared with, for FROM; null if there is nothing to compare. */
export function sourceOf(subject: Subject, against: Counterpart | undefined): string | null {
  const rows = rowsAs(subject);
  if (against === undefined) return rows;
  const { first, last } = subject;
  const needed = NEEDED[against];
  if (first === null || last === null || (needed !== undefined && subject.lastOf(needed) === null)) return null;
  return `${rows} ${JOINS[against](subject, first, last)}`;
}

const JOINS: Readonly<Record<Counterpart, (subject: Subject, first: string, last: string) => string>> = {
  calendar: ({ other }, first, last) =>
    `LEFT JOIN (SELECT cal_date, is_open FROM ${other("trade_cal", first, last)}) o ON o.cal_date = r.__date`,
  suspension: ({ other }, first, last) =>
    `JOIN (SELECT DISTINCT ts_code, trade_date FROM ${other("suspend_d", first, last)} ` +
    `WHERE suspend_type = 'S' AND coalesce(suspend_timing, '') = '') o ON o.ts_code = r.__code AND o.trade_date = r.__date`,
  limits: ({ other }, first, last) =>
    `JOIN (SELECT ts_code, trade_date, up_limit, down_limit FROM ${other("stk_limit", first, last)}) o ` +
    `ON o.ts_code = r.__code AND o.trade_date = r.__date`,
  previous: ({ entity, around }) =>
    `ASOF JOIN (SELECT * FROM ${around}) o ` +
    `ON o.${quoteName(entity.code)} = r.__code AND r.__date > o.${quoteName(entity.mainDate!)}`,
  listing: (subject, first, last) => {
    const lists = listsAround(subject, first, last);
    return (
      `LEFT JOIN (SELECT ts_code AS code, arg_max(list_date, snapshot_date) AS list_date, ` +
      `arg_max_null(delist_date, snapshot_date) AS delist_date FROM ${lists} GROUP BY 1) o ON o.code = r.__code ` +
      // A single list without delisted stocks does not tell an unknown one from one that was delisted since.
      `LEFT JOIN (SELECT min(snapshot_date) AS first, max(snapshot_date) AS last FROM ${lists} WHERE near ` +
      `HAVING first < last OR count(delist_date) > 0) b ON true`
    );
  },
};

/** The stock lists around these days, and the last one, which knows best when a stock was listed. */
function listsAround({ other, lastOf }: Subject, first: string, last: string): string {
  const [from, to] = [daysAfter(first, -LISTS_AROUND), daysAfter(last, LISTS_AROUND)];
  const latest = lastOf("stock_list") ?? last;
  const near = `SELECT *, true AS near FROM ${other("stock_list", from, to)}`;
  if (from <= latest && latest <= to) return `(${near})`;
  return `(${near} UNION ALL SELECT *, false AS near FROM ${other("stock_list", latest, latest)})`;
}

/** Each day with its rows, its values of each column, and the medians of these on the days before it. */
export function daysOf(entity: Entity, around: string, columns: readonly string[], days: number): string {
  const date = quoteName(entity.mainDate!);
  const counts = columns.map((name, i) => `count(${quoteName(name)}) AS n${i}`);
  const usual = columns.map((_, i) => `median(n${i}) OVER w AS u${i}`);
  return (
    `(SELECT *, ${["median(rows) OVER w AS usual", ...usual].join(", ")} FROM ` +
    `(SELECT ${[`${date} AS __date`, "count(*) AS rows", ...counts].join(", ")} FROM ${around} GROUP BY 1) ` +
    `WINDOW w AS (ORDER BY __date ROWS BETWEEN ${days} PRECEDING AND 1 PRECEDING))`
  );
}

/** Matches the main dates of the rows that are checked. */
export const onDaysOf = ({ first, last, rows, entity }: Subject, date: string): string =>
  `${date} BETWEEN DATE '${isoDate(first!)}' AND DATE '${isoDate(last!)}' ` +
  `AND ${date} IN (SELECT ${quoteName(entity.mainDate!)} FROM ${rows})`;
