// The encoder of each format.
import type { Format } from "../catalog/formats.js";
import { arrowEncoder } from "./arrow.js";
import { compressedArrowEncoder } from "./arrow-compressed.js";
import { csvEncoder, jsonEncoder, markedCsvEncoder, ndjsonEncoder } from "./text.js";
import { parquetEncoder } from "./parquet.js";
import type { Encoder, Head, SomePieces } from "./types.js";

/** Increased when the same rows are encoded differently: cached bytes of clients and servers are then not reused. */
export const REVISION = 3;

export const ENCODERS = {
  json: jsonEncoder,
  ndjson: ndjsonEncoder,
  csv: csvEncoder,
  arrow: arrowEncoder,
  parquet: parquetEncoder,
} as const satisfies Record<Format, (head: Head) => Encoder>;

/** What a request may say about its format. Null where it does not. */
interface Form {
  /** Only for CSV. */
  readonly bom: true | null;
  /** Only for Arrow, and only where Node has zstd. */
  readonly compression: "zstd" | null;
}

/** The encoder of a format as a request wants it. */
export function encoderFor(format: Format, { bom, compression }: Form): (head: Head) => Encoder<SomePieces> {
  if (compression !== null) return compressedArrowEncoder;
  return bom === null ? ENCODERS[format] : markedCsvEncoder;
}
