// What the checks found in the rows of an entity. It is kept in the entity's file list, and so belongs to a version.
import { checkNamed } from "../catalog/checks.js";
import type { Check } from "../catalog/check-types.js";
import { daysAfter } from "../dates.js";
import { plural } from "../words.js";
import { countUntil } from "./ordered.js";

/** First and last main date (`YYYYMMDD`; null: rows without a date), and the number of faults there. */
export type FoundDays = readonly [first: string | null, last: string | null, count: number];

export interface Example {
  readonly code: string | null;
  /** `YYYYMMDD` */
  readonly date: string | null;
  readonly values: Readonly<Record<string, string | number | null>>;
}

/** The faults of one check. */
export interface Finding {
  /** The id of the check. */
  readonly check: string;
  readonly count: number;
  /** In date order. */
  readonly days: readonly FoundDays[];
  /** A few of them, the latest first. */
  readonly examples: readonly Example[];
}

/** Examples that are kept for each check. */
export const EXAMPLES = 3;

/** Entries of days for each check; beyond it, neighbouring ones are joined. */
const MOST_DAYS = 400;

/** A fault may show on a later day than the row that causes it, by at most this many days. */
const AFTERMATH = 15;

type Span = readonly [first: string | null, last: string | null];

/** The faulty days that rows of these days may change; they must be checked again as a whole. */
export function spansToRecheck(findings: readonly Finding[], touched: readonly (string | null)[]): readonly Span[] {
  const dates = touched.filter((date) => date !== null).sort();
  const reach = (date: string): string => daysAfter(date, -AFTERMATH);
  const isTouched = ([first, last]: Span): boolean => {
    if (first === null || last === null) return touched.includes(null);
    const next = dates[countUntil(dates, (date) => date < reach(first))];
    return next !== undefined && next <= last;
  };
  const spans = new Map<string, Span>();
  for (const { days } of findings)
    for (const [first, last] of days) if (isTouched([first, last])) spans.set(`${first} ${last}`, [first, last]);
  return [...spans.values()];
}

const overlaps = ([first, last]: Span, [from, to]: Span): boolean =>
  first === null || last === null || from === null || to === null ? first === from : first <= to && from <= last;

/** The findings of an entity after its rows changed: `fresh` has those of the checked days, `spans` included. */
export function mergeFindings(
  before: readonly Finding[],
  spans: readonly Span[],
  fresh: readonly Finding[],
): readonly Finding[] {
  const isOld = (span: Span): boolean => !spans.some((one) => overlaps(one, span));
  const ids = new Set([...before, ...fresh].map(({ check }) => check));
  return [...ids].sort().flatMap((id): readonly Finding[] => {
    const [old, found] = [before, fresh].map((findings) => findings.find(({ check }) => check === id));
    const days = [...(old?.days ?? []).filter(([first, last]) => isOld([first, last])), ...(found?.days ?? [])];
    const kept = (old?.examples ?? []).filter(({ date }) => isOld([date, date]));
    const examples = [...(found?.examples ?? []), ...kept]
      .sort((a, b) => compare(b.date, a.date) || compare(a.code, b.code))
      .slice(0, EXAMPLES);
    const total = days.reduce((sum, [, , n]) => sum + n, 0);
    return total === 0 ? [] : [{ check: id, count: total, days: joinDays(days), examples }];
  });
}

const compare = (a: string | null, b: string | null): number => ((a ?? "") < (b ?? "") ? -1 : a === b ? 0 : 1);

/** Sorts days, and joins neighbours, the oldest first, until there are few enough. */
export function joinDays(days: readonly FoundDays[]): readonly FoundDays[] {
  const sorted = [...days].sort((a, b) => compare(a[0], b[0]));
  const excess = sorted.length - MOST_DAYS;
  if (excess <= 0) return sorted;
  const early = sorted.slice(0, excess + 1);
  const dated = early.filter(([first]) => first !== null);
  const rest = [...early.filter(([first]) => first === null), ...sorted.slice(excess + 1)];
  const total = dated.reduce((sum, [, , n]) => sum + n, 0);
  return dated.length === 0
    ? rest
    : [...rest, [dated[0]![0], dated.at(-1)![1], total] as const].sort((a, b) => compare(a[0], b[0]));
}

/** A finding with its check; findings of checks that this release does not have are left out. */
export interface NamedFinding extends Finding {
  readonly about: Check;
}

export const namedFindings = (findings: readonly Finding[]): readonly NamedFinding[] =>
  findings.flatMap((finding) => {
    const about = checkNamed(finding.check);
    return about ? [{ ...finding, about }] : [];
  });

export const isSevere = (finding: NamedFinding): boolean => finding.about.severity === "severe";

/** E.g. `high is below low: 2 rows, e.g. 000001.SZ 20250102 (high 11.39, low 11.77)`. */
export function describeFinding({
  about,
  count,
  examples,
}: Pick<NamedFinding, "about" | "count" | "examples">): string {
  const shown = examples.length === 0 ? "" : `, e.g. ${examples.map(describeExample).join("; ")}`;
  return `${about.says}: ${plural(count, unitOf(about))}${shown}`;
}

function describeExample({ code, date, values }: Example): string {
  const shown = Object.entries(values).map(([name, value]) => `${name} ${value ?? "null"}`);
  const what = [code, date].filter((part) => part !== null).join(" ");
  return shown.length === 0 ? what : `${what} (${shown.join(", ")})`;
}

/** E.g. `severe: high-below-low (2 rows); suspicious: few-rows (1 day)`. */
export function summariseFindings(findings: readonly Finding[]): string {
  const named = namedFindings(findings);
  const parts = (["severe", "suspicious"] as const).flatMap((severity) => {
    const ofSeverity = named.filter(({ about }) => about.severity === severity);
    if (ofSeverity.length === 0) return [];
    const ids = ofSeverity.map(({ check, count, about }) => `${check} (${plural(count, unitOf(about))})`);
    return [`${severity}: ${ids.join(", ")}`];
  });
  return parts.join("; ");
}

const unitOf = ({ of }: Check): string => (of === "rows" ? "row" : "day");
