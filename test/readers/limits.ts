// What some readers cannot read, whoever wrote it.
import type { Answer } from "./answers.js";

/** They do not tell an empty text in CSV from a missing value. */
const WITHOUT_EMPTY = ["csv", "python.csv", "pandas.csv", "datafusion.csv"];

/** If CSV has one column, both are `""`. */
export const collapsesEmpty = (reader: string, { format, columns }: Answer): boolean =>
  format === "csv" && (columns.length === 1 || WITHOUT_EMPTY.includes(reader));

/**
 * What a reader says of a response. NDJSON without rows is empty, so it names no columns; pandas does not read the smallest
 * doubles.
 */
const REFUSALS: Readonly<Record<string, RegExp>> = {
  "pandas.ndjson, no rows": /^\n$/,
  "pandas.ndjson, no rows with integers": /^\n$/,
  "pandas.ndjson, one column": /Range error when decoding/,
  "pandas.ndjson, many batches and row groups": /Range error when decoding/,
  "pyarrow.ndjson, no rows": /Empty JSON file/,
  "pyarrow.ndjson, no rows with integers": /Empty JSON file/,
};

export const expectedRefusal = (reader: string, { name }: Answer): RegExp | undefined => REFUSALS[`${reader}, ${name}`];

/** It reads the row groups of a file in any order. */
export const isUnordered = (reader: string): boolean => reader === "deltalake.parquet";
