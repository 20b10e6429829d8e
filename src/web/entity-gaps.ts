// The gaps of an entity: those that are open, and apart from them those that the operator excused, with the reason.
import { ask, Refusal } from "./api.js";
import type { App } from "./app.js";
import { coveredDays } from "./catalog.js";
import { h, table, unbroken } from "./dom.js";
import { gapYears, type GapYear, heatMap } from "./gap-days.js";
import { type TextKey, countText, dayText } from "./texts.js";
import type { Calendar, CatalogEntity, Coverage, ExcusedGap, Gap, Gaps } from "./types.js";

/** Gaps that are listed one by one. */
const LISTED = 200;

export async function gapNodes(app: App, entity: CatalogEntity, coverage: Coverage): Promise<Node[]> {
  const { t, signal } = app;
  const path = `api/v1/entities/${entity.name}/gaps`;
  const [{ gaps }, { gaps: excused }] = await Promise.all([
    ask<Gaps<Gap>>(path, {}, signal),
    ask<Gaps<ExcusedGap>>(path, { excused: "true" }, signal),
  ]);
  const all = [...gaps, ...excused];
  if (all.length === 0 && entity.gaps === "none") return [h("p", {}, t("gapsNotComputed"))];
  const covered = coveredDays(entity, coverage);
  const days = [...(covered ?? []), ...all.flatMap(({ gap_start, gap_end }) => [gap_start, gap_end])].sort();
  const [begin, end] = [days[0]!, days.at(-1)!];
  const open = await tradingDays(app, begin, end);
  const years = gapYears(begin, end, open, gaps, excused);
  const isWhole = gaps.length === 0;
  return [
    h(
      "p",
      { class: isWhole ? "good" : "bad" },
      ...unbroken(isWhole ? noGaps(app, [begin, end], excused) : someGaps(app, gaps, years)),
    ),
    ...(excused.length === 0 ? [] : [h("p", {}, t("excusedSome", { n: countText(excused.length) }))]),
    ...(open === null ? [h("p", { class: "note" }, t("noCalendar"))] : []),
    heatMap(app, years),
    yearTable(app, years),
    ...(isWhole ? [] : [gapList(app, "gapList", gaps)]),
    ...(excused.length === 0 ? [] : [gapList(app, "excusedList", excused)]),
  ];
}

function noGaps({ t }: App, [first, last]: readonly [string, string], excused: readonly ExcusedGap[]): string {
  return t(excused.length === 0 ? "gapsNone" : "gapsNoneOpen", { first: dayText(first), last: dayText(last) });
}

function someGaps({ t }: App, gaps: readonly Gap[], years: readonly GapYear[]): string {
  const days = years.reduce((sum, { none, partial }) => sum + none + partial, 0);
  return t("gapsSome", { n: countText(gaps.length), days: countText(days) });
}

/** Null where the token does not cover the calendar. */
async function tradingDays({ signal }: App, start_date: string, end_date: string): Promise<ReadonlySet<string> | null> {
  try {
    const { days } = await ask<Calendar>("api/v1/calendar", { start_date, end_date, is_open: "1" }, signal);
    return new Set(days.map(({ cal_date }) => cal_date));
  } catch (error) {
    if (error instanceof Refusal && error.status === 403) return null;
    throw error;
  }
}

function yearTable({ t }: App, years: readonly GapYear[]): HTMLElement {
  const heads: readonly TextKey[] = ["year", "openDays", "missingDays", "partialDays", "excusedDays"];
  const rows = [...years]
    .reverse()
    .map(({ year, open, none, partial, excused }) => [year, open, none, partial, excused]);
  const caption = t("gapYears");
  return h(
    "details",
    {},
    h("summary", {}, caption),
    table(
      caption,
      heads.map((head) => t(head)),
      rows,
    ),
  );
}

/** Kinds of computed gaps in words; others are the words of who recorded them. */
const kindOf = (t: App["t"], kind: string): string =>
  kind === "missing" ? t("kindMissing") : kind === "missing_day" ? t("kindMissingDay") : kind;

/** One by one; excused ones with the reason. */
function gapList({ t }: App, title: TextKey, gaps: readonly (Gap | ExcusedGap)[]): HTMLElement {
  const heads: readonly TextKey[] = ["code", "first", "last", "kind"];
  const hasReasons = gaps.some((gap) => "reason" in gap);
  const rows = gaps
    .slice(0, LISTED)
    .map(({ ts_code, gap_start, gap_end, kind, ...rest }) => [
      ...[ts_code ?? t("everyCode"), dayText(gap_start), dayText(gap_end), kindOf(t, kind)],
      ...("reason" in rest ? [rest.reason] : []),
    ]);
  const caption = t(title);
  return h(
    "details",
    {},
    h("summary", {}, caption),
    gaps.length > LISTED ? h("p", { class: "note" }, t("gapMore", { n: LISTED, all: countText(gaps.length) })) : null,
    table(
      caption,
      [...heads, ...(hasReasons ? (["reason"] as const) : [])].map((head) => t(head)),
      rows,
    ),
  );
}
