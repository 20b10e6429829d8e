// The row writer in plain TypeScript: the reference for tests of the kernel, and the fallback without WebAssembly.
import type { Column, ColumnType } from "../catalog/types.js";
import type { RowStyle, RowWriter } from "./types.js";
import { isPresent, type ColumnData } from "../arrow-data.js";
import { formatDays } from "../dates.js";

/** Characters after which text is encoded, so that no string grows too long. */
const FLUSH_LENGTH = 1 << 20;

type Show = (row: number) => string;

/** For each type, how the value of a row is shown. */
const SHOW: Record<ColumnType, (source: ColumnData, style: RowStyle) => Show> = {
  code: text,
  text,
  date,
  float64: number,
  int64: (source) => (row) => String(source.values[row]),
};

const QUOTE = { json: JSON.stringify, csv: quoteCsv } as const;

export function plainRows(columns: readonly Column[], style: RowStyle): RowWriter {
  return (sources, from, to) => {
    const shows = sources.map((source, i) => show(source, columns[i]!.type, style));
    const parts: Buffer[] = [];
    let rows = "";
    for (let row = from; row < to; row++) {
      for (let i = 0; i < shows.length; i++) rows += style.prefixes[i]! + shows[i]!(row);
      rows += style.suffix;
      if (rows.length > FLUSH_LENGTH) {
        parts.push(Buffer.from(rows));
        rows = "";
      }
    }
    return Buffer.concat([...parts, Buffer.from(rows)]);
  };
}

function show(source: ColumnData, type: ColumnType, style: RowStyle): Show {
  const value = SHOW[type](source, style);
  return (row) => (isPresent(source, row) ? value(row) : style.missing);
}

function text({ values, valueOffsets }: ColumnData, { quoting }: RowStyle): Show {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  const quote = QUOTE[quoting];
  return (row) => quote(bytes.toString("utf8", valueOffsets![row], valueOffsets![row + 1]));
}

/** Most rows have the same day as the row before. */
function date({ values }: ColumnData, { quoting }: RowStyle): Show {
  const quote = QUOTE[quoting];
  let days: number | undefined;
  let shown = "";
  return (row) => {
    if (days === values[row]) return shown;
    days = Number(values[row]);
    return (shown = quote(textOfDay(days)));
  };
}

function number({ values }: ColumnData, { missing }: RowStyle): Show {
  return (row) => (Number.isFinite(values[row]) ? String(values[row]) : missing);
}

/** RFC 4180. Empty text is `""`, to distinguish it from a missing value. */
function quoteCsv(text: string): string {
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const FIRST_DAY = -719_162;
const LAST_DAY = 2_932_896;

/** Throws RangeError for days since 1970-01-01 outside the years 1 to 9999. */
export function requireDay(days: number): void {
  if (days < FIRST_DAY || days > LAST_DAY) throw new RangeError("date outside the years 1 to 9999");
}

/** Days since 1970-01-01 → `YYYYMMDD`. Throws RangeError outside the years 1 to 9999. */
export function textOfDay(days: number): string {
  requireDay(days);
  return formatDays(days);
}
