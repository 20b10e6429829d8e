// The trading calendar: its parameters, the days of a range, and the n-th trading day after or before another.
import { columnNamed, entityNamed } from "../catalog/index.js";
import { Problem } from "../errors.js";
import type { FileList } from "../lake/manifest.js";
import {
  collectParameters,
  invalidParameter,
  oneOf,
  parseDateValue,
  parseRange,
  quote,
  required,
  single,
} from "./parameters.js";
import { overlap, type Span } from "./day-sets.js";
import { parseVersion } from "./request.js";
import { rowsOf, scanOf, type Read } from "./scan.js";

/** The only exchange with a calendar. */
const ONLY_EXCHANGE = "SSE";
/** Exchanges of the mainland as calendars name them: stocks, then futures. */
export const EXCHANGES = [
  ...[ONLY_EXCHANGE, "SZSE", "BSE"],
  ...["CFFEX", "SHFE", "CZCE", "DCE", "INE", "GFEX"],
] as const;

/** Dates are `YYYYMMDD`, ascending. */
export interface Calendar {
  readonly dates: readonly string[];
  /** 1 or 0, by index in `dates`. */
  readonly isOpen: readonly number[];
  /** The open dates. */
  readonly open: readonly string[];
}

export function toCalendar(dates: readonly string[], isOpen: readonly number[]): Calendar {
  return { dates, isOpen, open: dates.filter((_, i) => isOpen[i] === 1) };
}

/** `cal_date` and `is_open` of every day, in order. */
export function calendarRead(list: FileList): Read {
  const entity = entityNamed("trade_cal")!;
  const columns = [columnNamed(entity, "cal_date")!, columnNamed(entity, "is_open")!];
  const files = list.byDate;
  return { columns, scans: files.length === 0 ? [] : [scanOf(files, rowsOf(columns))] };
}

interface CalendarRequest {
  readonly exchange: string;
  /** Inclusive, `YYYYMMDD`; null means unbounded. */
  readonly start: string | null;
  readonly end: string | null;
  readonly isOpen: 0 | 1 | null;
  readonly dataVersion: string | null;
}

export function parseCalendarRequest(search: URLSearchParams): CalendarRequest {
  const known = ["exchange", "start_date", "end_date", "is_open", "data_version"];
  const parameters = collectParameters(search, known);
  const isOpen = single(parameters, "is_open", oneOf(["0", "1"]));
  return {
    exchange: single(parameters, "exchange", oneOf(EXCHANGES)) ?? ONLY_EXCHANGE,
    ...parseRange(parameters),
    isOpen: isOpen === null ? null : isOpen === "1" ? 1 : 0,
    dataVersion: single(parameters, "data_version", parseVersion),
  };
}

interface CalendarDay {
  readonly exchange: string;
  readonly cal_date: string;
  readonly is_open: number;
}

/** The days that match a request; none for an exchange without a calendar. */
export function selectDays(calendar: Calendar, request: CalendarRequest): readonly CalendarDay[] {
  if (request.exchange !== ONLY_EXCHANGE) return [];
  const { dates, isOpen } = calendar;
  const from = request.start === null ? 0 : indexFrom(dates, request.start);
  const days: CalendarDay[] = [];
  for (let i = from; i < dates.length && (request.end === null || dates[i]! <= request.end); i++) {
    if (request.isOpen !== null && isOpen[i] !== request.isOpen) continue;
    days.push({ exchange: ONLY_EXCHANGE, cal_date: dates[i]!, is_open: isOpen[i]! });
  }
  return days;
}

/** The part of the requested interval that the calendar has; null if it has none of it. */
export function coveredDays({ dates }: Calendar, { exchange, start, end }: CalendarRequest): Span | null {
  const [first, last] = [dates[0], dates.at(-1)];
  if (exchange !== ONLY_EXCHANGE || first === undefined || last === undefined) return null;
  return overlap({ first: start ?? first, last: end ?? last }, { first, last });
}

interface ShiftRequest {
  readonly date: string;
  /** Trading days: positive is later, negative is earlier, never 0. */
  readonly n: number;
  readonly exchange: string;
  readonly dataVersion: string | null;
}

export function parseShiftRequest(search: URLSearchParams): ShiftRequest {
  const parameters = collectParameters(search, ["date", "n", "exchange", "data_version"]);
  return {
    date: required("date", single(parameters, "date", parseDateValue), "a trading day as YYYYMMDD"),
    n: required("n", single(parameters, "n", parseOffset), OFFSET),
    exchange: single(parameters, "exchange", oneOf([ONLY_EXCHANGE])) ?? ONLY_EXCHANGE,
    dataVersion: single(parameters, "data_version", parseVersion),
  };
}

const OFFSET = "a whole number other than 0, such as 1 or -5";

function parseOffset(name: string, text: string): number {
  // A `+` that was not percent-encoded arrives as a space.
  const given = text.trim();
  const n = /^[+-]?\d{1,16}$/.test(given) ? Number(given) : Number.NaN;
  if (!Number.isSafeInteger(n)) throw invalidParameter(name, `${quote(given)} is not accepted`, [OFFSET]);
  if (n === 0) throw invalidParameter(name, "0 is not accepted", [OFFSET]);
  return n;
}

/** The n-th trading day from `date`. Throws if `date` is not a trading day or the result is outside the calendar. */
export function shiftTradingDay(calendar: Calendar, { date, n }: ShiftRequest): string {
  const { dates, open } = calendar;
  if (dates.length === 0) throw outside("date", "this version has no trading calendar");
  if (date < dates[0]! || date > dates.at(-1)!) throw outside("date", `${date} lies outside ${rangeOf(dates)}`);
  const index = indexFrom(open, date);
  if (open[index] !== date) throw notATradingDay(date, open[index - 1], open[index]);
  const result = open[index + n];
  if (result === undefined) throw outside("n", `${n} trading days from ${date} lies outside ${rangeOf(dates)}`);
  return result;
}

const rangeOf = (dates: readonly string[]): string => `the calendar, which runs from ${dates[0]!} to ${dates.at(-1)!}`;

const outside = (parameter: string, detail: string): Problem => new Problem("outside_calendar", detail, { parameter });

function notATradingDay(date: string, before: string | undefined, after: string | undefined): Problem {
  const neighbours = [before, after].filter((day) => day !== undefined);
  return new Problem("not_a_trading_day", `${date} is not a trading day`, {
    parameter: "date",
    allowed: neighbours,
    hint: `trading days next to it: ${before ?? "none"} before, ${after ?? "none"} after`,
  });
}

/** Whether the calendar says that a date is closed: it is within the calendar and not open. */
export function isClosed({ dates, open }: Calendar, date: string): boolean {
  if (dates.length === 0 || date < dates[0]! || date > dates.at(-1)!) return false;
  return open[indexFrom(open, date)] !== date;
}

/** The index of the first of ascending `dates` that is not before `date`. */
export function indexFrom(dates: readonly string[], date: string): number {
  let low = 0;
  let high = dates.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (dates[middle]! < date) low = middle + 1;
    else high = middle;
  }
  return low;
}
