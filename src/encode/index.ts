// Which encoder makes which format.
import { arrowEncoder } from "./arrow.js";
import { csvEncoder } from "./csv.js";
import { jsonEncoder } from "./json.js";
import { ndjsonEncoder } from "./ndjson.js";
import { parquetEncoder } from "./parquet.js";
import type { Encoder, Head } from "./types.js";

export const ENCODERS = {
  json: jsonEncoder,
  ndjson: ndjsonEncoder,
  csv: csvEncoder,
  arrow: arrowEncoder,
  parquet: parquetEncoder,
} as const satisfies Record<string, (head: Head) => Encoder>;
