// What the client can read: the format of the body and its compression.
import type { Request } from "express";
import { FORMAT_NAMES, FORMATS, type Format } from "../catalog/formats.js";
import { Problem } from "../errors.js";
import type { Encoding } from "../segments/packer.js";

const MEDIA_TYPES = FORMAT_NAMES.map((format) => FORMATS[format].mediaType);

/** `format=` wins over the Accept header. Throws 406 where nothing on offer is accepted. */
export function negotiateFormat(req: Request, asked: Format | null): Format {
  if (asked !== null) return asked;
  const accepted = req.accepts(MEDIA_TYPES);
  const format = FORMAT_NAMES.find((candidate) => FORMATS[candidate].mediaType === accepted);
  if (format) return format;
  throw new Problem("not_acceptable", "none of the formats in the Accept header is offered", {
    allowed: MEDIA_TYPES,
    hint: "send Accept: application/json, or choose with format=",
  });
}

export function negotiateEncoding(req: Request, format: Format): Encoding {
  return !FORMATS[format].isCompressed && req.acceptsEncodings(["gzip", "identity"]) === "gzip" ? "gzip" : "identity";
}
