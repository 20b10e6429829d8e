// The values of a filter, as planner and SQL need them. A plan needs each of these for every file, so each is computed
// once.
import { SUFFIXES } from "../catalog/codes.js";
import { isoDate } from "../dates.js";
import { countUntil } from "../lake/ordered.js";
import type { Filter } from "./request.js";

type Values = Filter["values"];

/** Caches the result of `make` for each list of values. */
function oncePerList<T>(make: (values: Values) => T): (values: Values) => T {
  const known = new WeakMap<Values, T>();
  return (values) => {
    const found = known.get(values);
    if (found !== undefined) return found;
    const made = make(values);
    known.set(values, made);
    return made;
  };
}

const present = (values: Values): readonly (string | number)[] => values.filter((value) => value !== null);

/** Whether a missing value is among them. */
export const hasNull = oncePerList((values) => values.includes(null));

/** Codes with and without suffix, for entities whose rows may have either. */
export const withBareCodes = oncePerList((values): Values => {
  const all = new Set<string | number | null>();
  for (const value of values) {
    all.add(value);
    if (value === null) continue;
    const code = String(value);
    const dot = code.indexOf(".");
    if (dot >= 0) all.add(code.slice(0, dot));
    else for (const suffix of SUFFIXES) all.add(`${code}.${suffix}`);
  }
  return [...all];
});

/** All values but null as JSON, which DuckDB reads as a list. */
export const listJson = oncePerList((values) => JSON.stringify(present(values)));

/** As `listJson`, for dates (`YYYYMMDD`). */
export const datesJson = oncePerList((values) => JSON.stringify(present(values).map(String).map(isoDate)));

const sortedCodes = oncePerList((values) => present(values).map(String).sort());

/** The least and the greatest of the codes. */
export function boundsOf(values: Values): readonly [string, string] {
  const codes = sortedCodes(values);
  return [codes[0] ?? "", codes.at(-1) ?? ""];
}

/** How many of the codes are between `first` and `last`, inclusive. */
export function codesBetween(values: Values, first: string, last: string): number {
  const codes = sortedCodes(values);
  return countUntil(codes, (code) => code <= last) - countUntil(codes, (code) => code < first);
}
