// What the client can read: the format of the body and its compression.
import type { Request } from "express";
import { Problem } from "../errors.js";
import type { Format } from "../query/request.js";
import type { Encoding } from "../segments/packer.js";

/** Media types by format; the first format answers a client that takes anything. */
export const MEDIA_TYPES = {
  json: "application/json",
  ndjson: "application/x-ndjson",
  csv: "text/csv",
  arrow: "application/vnd.apache.arrow.stream",
  parquet: "application/vnd.apache.parquet",
} as const satisfies Record<Format, string>;

/** `format=` wins over the Accept header. Throws 406 where nothing on offer is accepted. */
export function negotiateFormat(req: Request, asked: Format | null): Format {
  if (asked !== null) return asked;
  const formats = Object.keys(MEDIA_TYPES) as Format[];
  const accepted = req.accepts(Object.values(MEDIA_TYPES));
  const format = formats.find((candidate) => MEDIA_TYPES[candidate] === accepted);
  if (format) return format;
  throw new Problem("not_acceptable", "none of the formats in the Accept header is offered", {
    allowed: Object.values(MEDIA_TYPES),
    hint: "send Accept: application/json, or choose with format=",
  });
}

/** Parquet pages are compressed already. */
export function negotiateEncoding(req: Request, format: Format): Encoding {
  return format !== "parquet" && req.acceptsEncodings(["gzip", "identity"]) === "gzip" ? "gzip" : "identity";
}
