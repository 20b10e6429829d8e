// SQL of rows that revise one another: their numbers, and which one is the newest on each day.
import { quoteName } from "../sql-text.js";
import type { Bindings } from "./bindings.js";
import type { Newest, Numbering } from "./scan.js";

/** The number of a row among the revisions of the same thing; 1 is the newest. */
export const REVISION = "__revision";

export const ROW_NUMBER = "file_row_number";

/** The rows of a source among which revisions are numbered from 1, with these numbers. */
export function numberedSql(numbering: Numbering, source: string, where: string): string {
  const { of, others, flag } = numbering;
  const partition = of.map(quoteName).join(", ");
  const number = `row_number() OVER (PARTITION BY ${partition} ORDER BY ${newestFirst(numbering).join(", ")})`;
  const same = [...of, ...others].map(valueOf(numbering));
  const first = flag?.first
    ? ` QUALIFY row_number() OVER (PARTITION BY ${same.join(", ")} ORDER BY ${quoteName(flag.column)}) = 1`
    : "";
  return (
    `(SELECT *, ${ROW_NUMBER}, ${number} AS ${REVISION} FROM ${source}` +
    `${where === "" ? "" : ` WHERE ${where}`}${first})`
  );
}

/** Where the date of an announcement is missing, the next one of these is meant. */
const dated = (date: readonly string[], from: number): string =>
  `coalesce(${date.slice(from).map(quoteName).join(", ")})`;

const valueOf =
  ({ date }: Pick<Numbering, "date">) =>
  (name: string): string =>
    date.includes(name) ? dated(date, date.indexOf(name)) : quoteName(name);

/** The order of revisions, for ORDER BY. */
function newestFirst({ date, others, flag }: Newest["revisions"]): readonly string[] {
  const order = [dated(date, 0), ...others.map(valueOf({ date }))].map((value) => `${value} DESC`);
  return flag === null ? order : [...order, `${quoteName(flag.column)}${flag.first ? "" : " DESC"}`];
}

/**
 * The row of each code that is the newest from the day `__from` on, before the day `__until`: `__code`, both days and
 * `shown`. `select` writes the rows with some columns. A row is left out if one of a later period was known before the
 * first of the days; the rest are few, and only they are sorted.
 */
export function newestSql(
  { known, period, revisions, from }: Newest,
  code: string,
  shown: readonly string[],
  select: (columns: string) => string,
  bindings: Bindings,
): string {
  const order = newestFirst(revisions);
  const keys = order.map((value, i) => `${value.replace(/ DESC$/, "")} AS __o${i}`);
  const byKeys = order.map((value, i) => `__o${i}${value.endsWith(" DESC") ? " DESC" : ""}`);
  const since = `greatest(coalesce(${known.map(quoteName).join(", ")}), ${quoteName(period)})`;
  const columns = [
    `1 AS ${REVISION}`,
    `${quoteName(code)} AS __code`,
    `${quoteName(period)} AS __period`,
    `${since} AS __from`,
    ...keys,
    ...shown,
  ];
  return (
    `(WITH known AS MATERIALIZED (${select(columns.join(", "))}), ` +
    `reached AS (SELECT __code, max(__period) AS __reached FROM known WHERE __from <= ${bindings.date(from)} GROUP BY __code), ` +
    `ranked AS (SELECT known.*, row_number() OVER (PARTITION BY __code ORDER BY __period DESC, ${byKeys.join(", ")}) AS __rank ` +
    "FROM known LEFT JOIN reached USING (__code) WHERE __reached IS NULL OR __period >= __reached), " +
    "newest AS (SELECT * FROM ranked QUALIFY __rank = min(__rank) OVER (PARTITION BY __code ORDER BY __from)) " +
    "SELECT *, coalesce(lead(__from) OVER (PARTITION BY __code ORDER BY __from), DATE 'infinity') AS __until FROM newest)"
  );
}
