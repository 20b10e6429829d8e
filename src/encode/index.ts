// Which encoder makes which format.
import { arrowEncoder } from "./arrow.js";
import { csvEncoder } from "./csv.js";
import { jsonEncoder } from "./json.js";
import { ndjsonEncoder } from "./ndjson.js";
import type { Encoder, Head } from "./types.js";

export type Format = "json" | "ndjson" | "csv" | "arrow";

export const ENCODERS: Record<Format, (head: Head) => Encoder> = {
  json: jsonEncoder,
  ndjson: ndjsonEncoder,
  csv: csvEncoder,
  arrow: arrowEncoder,
};
