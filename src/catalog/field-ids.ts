// The ids of columns in Parquet files: a table format can follow a column by its id when its name or place changes.
import type { Entity } from "./types.js";

/**
 * The columns of each entity that were added after its first files were written, in the order in which they were added.
 * A new column gets an entry here, wherever it stands among the others: an id that was written must never change.
 */
const ADDED: Readonly<Record<string, readonly string[]>> = {};

/** The id of each column, by name: 1, 2, … in the order of the columns, and then of those that were added. */
export function fieldIds(
  { name, columns }: Pick<Entity, "name" | "columns">,
  added: Readonly<Record<string, readonly string[]>> = ADDED,
): ReadonlyMap<string, number> {
  const later = added[name] ?? [];
  const first = columns.map((column) => column.name).filter((column) => !later.includes(column));
  return new Map([...first, ...later].map((column, i) => [column, i + 1]));
}
