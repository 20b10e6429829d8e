// SQL of columns that are looked up in other entities by the codes and dates of rows.
import type { Lookup } from "../catalog/types.js";
import type { DataFile } from "../lake/manifest.js";
import { quoteName } from "../sql-text.js";
import type { Joining } from "./scan.js";

/** A table of `__code` and `__value`, with the date `__from` from which the value applies; none is before all dates. */
const TABLES: Record<Lookup, (...sources: readonly string[]) => string> = {
  province: (companies) =>
    `SELECT ts_code AS __code, DATE '0001-01-01' AS __from, province AS __value FROM ${companies}`,
  // Editions of a classification share codes of indices, and a stock may be in the industries of several: the newest counts.
  industry: (members, classes) =>
    `SELECT con_code AS __code, in_date AS __from, arg_max(industry_name, (src, index_code)) AS __value ` +
    `FROM ${members} AS members JOIN ${classes} AS classes USING (index_code) WHERE level = 'L1' GROUP BY ALL`,
};

/** What a table is where none of its files is there: its columns, without rows. */
const NONE: Record<Lookup, readonly string[]> = {
  province: ["(SELECT NULL AS ts_code, NULL AS province WHERE false)"],
  industry: [
    "(SELECT NULL AS index_code, NULL AS con_code, NULL::DATE AS in_date WHERE false)",
    "(SELECT NULL AS index_code, NULL AS industry_name, NULL AS src, NULL AS level WHERE false)",
  ],
};

/** Rows with their looked-up columns: of each code the value that applies last on or before the date of the row. */
export function joinedSql(
  { files, code, date, columns }: Joining,
  read: (files: readonly DataFile[]) => string,
): string {
  const rows = `(SELECT *, file_row_number FROM ${read(files)})`;
  return columns.reduce((source, { name, lookup, from }) => {
    const tables = from.map((some, i) => (some.length === 0 ? NONE[lookup][i]! : read(some)));
    return (
      `(SELECT r.*, __value AS ${quoteName(name)} FROM ${source} r ASOF LEFT JOIN (${TABLES[lookup](...tables)}) ` +
      `ON r.${quoteName(code)} = __code AND r.${quoteName(date)} >= __from)`
    );
  }, rows);
}
