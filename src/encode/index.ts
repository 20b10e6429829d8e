// The encoder of each format.
import type { Format } from "../catalog/formats.js";
import { arrowEncoder } from "./arrow.js";
import { csvEncoder, jsonEncoder, ndjsonEncoder } from "./text.js";
import { parquetEncoder } from "./parquet.js";
import type { Encoder, Head } from "./types.js";

/** Increased when the same rows are encoded differently: cached bytes of clients and servers are then not reused. */
export const REVISION = 3;

export const ENCODERS = {
  json: jsonEncoder,
  ndjson: ndjsonEncoder,
  csv: csvEncoder,
  arrow: arrowEncoder,
  parquet: parquetEncoder,
} as const satisfies Record<Format, (head: Head) => Encoder>;
