// The days of `as_of`: one, a list, or the last trading days of the weeks or months of a range.
import type { Column } from "../catalog/types.js";
import { firstDayOf, lastDayOf } from "../dates.js";
import { Problem } from "../errors.js";
import { invalidParameter, oneOf, parseDateValue, type Parameters, single, splitList } from "./parameters.js";

/** Which days are the last of their period. */
export const AS_OF_DAYS = { month_end: "month", week_end: "week" } as const;
type Rule = keyof typeof AS_OF_DAYS;

/** The last trading day of each period that ends from `start` to `end`, inclusive, `YYYYMMDD`. */
interface Schedule {
  readonly rule: Rule;
  readonly start: string;
  readonly end: string;
}

/** Several days of `as_of`, ascending and distinct, or the rule that gives them. */
export type AsOfDays = readonly string[] | Schedule;

export const isSchedule = (days: AsOfDays | null): days is Schedule => days !== null && "rule" in days;

/** The first column of a response as of several days. */
export const AS_OF: Column = { name: "as_of", type: "date", nullable: false };

/** Days of one request: those of a year, or the month ends of 30 years. Each is read on its own. */
export const MOST_DAYS = 366;

interface Known {
  /** The only day. */
  readonly asOf: string | null;
  readonly asOfDays: AsOfDays | null;
}

/** `as_of`, or `as_of_days` with `as_of_start` and `as_of_end`. A list of days may repeat one. */
export function parseAsOf(parameters: Parameters): Known {
  const given = parameters.get("as_of");
  const rule = single(parameters, "as_of_days", oneOf(Object.keys(AS_OF_DAYS) as Rule[]));
  const start = single(parameters, "as_of_start", parseDateValue);
  const end = single(parameters, "as_of_end", parseDateValue);
  const range = start === null ? "as_of_start" : "as_of_end";
  if (rule === null && (start !== null || end !== null)) {
    const rules = Object.keys(AS_OF_DAYS).map((one) => `as_of_days=${one}`);
    throw contradiction("as_of_start and as_of_end require as_of_days", `add ${rules.join(" or ")}`);
  }
  if (rule !== null) {
    if (given !== undefined) throw contradiction("as_of and as_of_days cannot be combined", "give only one of them");
    if (start === null || end === null) {
      throw contradiction(`as_of_days=${rule} requires ${range}`, `add ${range}=YYYYMMDD`, range);
    }
    if (start > end)
      throw contradiction(`as_of_start ${start} is after as_of_end ${end}`, "swap the two", "as_of_start");
    return { asOf: null, asOfDays: { rule, start, end } };
  }
  const days = given === undefined ? [] : splitList("as_of", given).map((text) => parseDateValue("as_of", text));
  if (days.length < 2) return { asOf: days[0] ?? null, asOfDays: null };
  return { asOf: null, asOfDays: bounded("as_of", [...new Set(days)].sort()) };
}

const contradiction = (detail: string, hint: string, parameter = "as_of_days"): Problem =>
  new Problem("contradictory_parameters", detail, { parameter, hint });

function bounded(parameter: string, days: readonly string[]): readonly string[] {
  if (days.length <= MOST_DAYS) return days;
  const allowed = [`up to ${MOST_DAYS} days`];
  throw invalidParameter(parameter, `${days.length} days are too many for one request`, allowed);
}

/** Days of the trading calendar, ascending, `YYYYMMDD`: all of them, and the open ones. */
interface TradingDays {
  readonly dates: readonly string[];
  readonly open: readonly string[];
}

/**
 * The days of a schedule. A period whose end the calendar does not reach has no last trading day yet. Throws if the
 * range leaves the calendar, or has too many days.
 */
export function scheduledDays({ rule, start, end }: Schedule, { dates, open }: TradingDays): readonly string[] {
  const [first, last] = [dates[0], dates.at(-1)];
  if (first === undefined || last === undefined) throw outside("as_of_days", "this version has no trading calendar");
  const reach = `the calendar, which runs from ${first} to ${last}`;
  if (start < first) throw outside("as_of_start", `as_of_start ${start} lies outside ${reach}`);
  if (end > last) throw outside("as_of_end", `as_of_end ${end} lies outside ${reach}`);
  const period = AS_OF_DAYS[rule];
  const ends = open.filter((day, i) => {
    const next = open[i + 1];
    return next === undefined ? lastDayOf(day, period) <= last : firstDayOf(next, period) !== firstDayOf(day, period);
  });
  return bounded(
    "as_of_days",
    ends.filter((day) => start <= day && day <= end),
  );
}

const outside = (parameter: string, detail: string): Problem => new Problem("outside_calendar", detail, { parameter });
