// Short constructors for the columns of the catalog: each column is one line there.
import type { Column } from "./types.js";

type Options = Partial<Omit<Column, "name" | "type" | "meaning">>;

const make =
  (type: Column["type"], nullable: boolean) =>
  (name: string, meaning: string, options: Options = {}): Column => ({ name, type, meaning, nullable, ...options });

/** A code that every row must have. */
export const code = make("code", false);
/** A date that every row must have. */
export const date = make("date", false);
/** Text; may be null. */
export const text = make("text", true);
/** A date that may be null. */
export const dateOrNull = make("date", true);
/** A number; may be null. */
export const number = make("float64", true);
/** A whole number that every row must have. */
export const integer = make("int64", false);
