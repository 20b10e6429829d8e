// The formats in which rows are served, and what negotiation, encoders, the description of the API and clients know of each.

interface FormatInfo {
  readonly mediaType: string;
  /** What follows the media type in Content-Type. */
  readonly parameters: string;
  /** Whether the body itself says that the response is complete; otherwise headers do. */
  readonly hasSummary: boolean;
  /** Whether it has a type for dates; otherwise they are text. */
  readonly hasDates: boolean;
  /** Whether the body is compressed already. */
  readonly isCompressed: boolean;
  /** The extension of a file name. */
  readonly extension: string;
  /** What a browser does with the body: it shows it, or saves it as a file. */
  readonly disposition: "inline" | "attachment";
}

const UTF_8 = "; charset=utf-8";

const FILE = {
  parameters: "",
  hasSummary: false,
  hasDates: false,
  isCompressed: false,
  disposition: "attachment",
} as const;

/** By their names in `format=`. A client that accepts anything gets the first one. */
export const FORMATS = {
  json: {
    ...{ mediaType: "application/json", parameters: UTF_8, extension: "json", disposition: "inline" },
    ...{ hasSummary: true, hasDates: false, isCompressed: false },
  },
  ndjson: { ...FILE, mediaType: "application/x-ndjson", parameters: UTF_8, extension: "ndjson" },
  csv: { ...FILE, mediaType: "text/csv", parameters: `${UTF_8}; header=present`, extension: "csv" },
  arrow: { ...FILE, mediaType: "application/vnd.apache.arrow.stream", extension: "arrows", hasDates: true },
  parquet: {
    ...{ ...FILE, mediaType: "application/vnd.apache.parquet", extension: "parquet" },
    ...{ hasDates: true, isCompressed: true },
  },
} as const satisfies Readonly<Record<string, FormatInfo>>;

export type Format = keyof typeof FORMATS;

/** How dates are given: as text `YYYYMMDD`, or as the dates of the format. */
export const DATE_FORMS = ["text", "date"] as const;

/** How the buffers of Arrow are compressed. */
export const COMPRESSIONS = ["none", "zstd"] as const;

export const FORMAT_NAMES = Object.keys(FORMATS) as readonly Format[];

export const contentTypeOf = (format: Format): string => FORMATS[format].mediaType + FORMATS[format].parameters;
