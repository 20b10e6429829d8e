// The formats of responses. Made by `npm run clients`: change the catalog, not this file.

/** Media types by the names that `format=` takes. */
export const MEDIA_TYPES = {
  json: "application/json",
  ndjson: "application/x-ndjson",
  csv: "text/csv",
  arrow: "application/vnd.apache.arrow.stream",
  parquet: "application/vnd.apache.parquet",
} as const;

/** The formats that have a type for dates. */
export const WITH_DATES: readonly string[] = ["arrow", "parquet"];
