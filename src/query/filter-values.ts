// The values of a filter, as planner and SQL need them. A plan asks for each of these per file, so each is made once.
import { SUFFIXES } from "../catalog/codes.js";
import { isoDate } from "../dates.js";
import type { Filter } from "./request.js";

type Values = Filter["values"];

/** `make`, run once for each list of values. */
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

/** Codes with and without suffix, where rows may have either. */
export const withBareCodes = oncePerList((values): Values => {
  const both = values.flatMap((value) => {
    if (value === null) return [null];
    const code = String(value);
    const bare = code.split(".")[0]!;
    return code.includes(".") ? [code, bare] : [bare, ...SUFFIXES.map((suffix) => `${bare}.${suffix}`)];
  });
  return [...new Set(both)];
});

/** All values but null as JSON, for DuckDB to read as a list. */
export const listJson = oncePerList((values) => JSON.stringify(present(values)));

/** The same of dates (`YYYYMMDD`). */
export const datesJson = oncePerList((values) => JSON.stringify(present(values).map(String).map(isoDate)));

const sortedCodes = oncePerList((values) => present(values).map(String).sort());

/** How many of the codes lie between `first` and `last`, inclusive. */
export function codesBetween(values: Values, first: string, last: string): number {
  const codes = sortedCodes(values);
  return countUntil(codes, (code) => code <= last) - countUntil(codes, (code) => code < first);
}

/** How many of the leading items pass; those that do come before those that do not. */
function countUntil(sorted: readonly string[], passes: (item: string) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passes(sorted[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}
