// The values that a statement binds.
import { isoDate } from "../dates.js";

/** A value that is bound to a statement, never written into its text. */
export type SqlValue = string | number | bigint | boolean | null | readonly string[];

/** Collects bound values and hands out their placeholders. */
export class Bindings {
  readonly values: SqlValue[] = [];
  add(value: SqlValue): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
  /** A `YYYYMMDD` date as a DATE. */
  date(compact: string): string {
    return `${this.add(isoDate(compact))}::DATE`;
  }
}
