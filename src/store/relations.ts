// Rows of the lake as SQL: an entity's columns, the rows of data files, a span of main dates.
import { join } from "node:path";
import type { Entity } from "../catalog/types.js";
import { isoDate } from "../dates.js";
import { quoteName, quoteText } from "../sql-text.js";
import type { Layout } from "../lake/layout.js";
import type { DataFile } from "../lake/manifest.js";

/** The entity's columns in its order, for SELECT. */
export const columnList = (entity: Entity): string => entity.columns.map((column) => quoteName(column.name)).join(", ");

/** The rows of data files in the order of the files, for FROM. */
export const scan = (layout: Layout, files: readonly DataFile[]): string =>
  `read_parquet([${files.map((file) => quoteText(join(layout.lake, file.path))).join(", ")}])`;

/** Rows of the main dates from `first` to `last` (`YYYYMMDD`, inclusive), or those without one; for WHERE. */
export function inDates(entity: Entity, first: string | null, last: string | null): string {
  if (entity.mainDate === null) return "true";
  const date = quoteName(entity.mainDate);
  if (first === null || last === null) return `${date} IS NULL`;
  return `${date} BETWEEN DATE '${isoDate(first)}' AND DATE '${isoDate(last)}'`;
}
