// Finds the gaps of a version: DuckDB returns sets of days, `query/gaps.ts` compares them, and the result is cached by
// the files it was read from.
import { isByStock, isDelistingName } from "../catalog/gap-rules.js";
import type { Entity } from "../catalog/types.js";
import { isExcuse, type Gap, type RecordedGap } from "../lake/gaps.js";
import type { Snapshot } from "../lake/lake.js";
import type { Calendar } from "../query/calendar.js";
import { datesIn, daySet, hull, type Span } from "../query/day-sets.js";
import { coveredSpan, newestDay, rangeOf, withEdges, type AskedRange, type GapBounds } from "../query/gap-range.js";
import { comparedCode } from "../query/gap-request.js";
import { commonSpan, computeGaps, type HeldDays, type Market } from "../query/gaps.js";
import { divideByExcuses, isFilled, spanOfGaps, type ExcusedGap } from "../query/recorded-gaps.js";
import {
  heldDaysRead,
  listingsRead,
  namesRead,
  resumedDaysRead,
  suspendedDaysRead,
  type CodeScope,
} from "../query/gaps-read.js";
import type { Read } from "../query/scan.js";
import { createCache } from "./cache.js";
import { type Calendars, readColumns } from "./calendars.js";
import type { Reader } from "./reader.js";

interface FoundGaps {
  readonly gaps: readonly Gap[];
  readonly excused: readonly ExcusedGap[];
  /** The days on which gaps were looked for; null if none can be computed. */
  readonly covered: Span | null;
}

export interface GapFinder {
  /**
   * The gaps computed from calendar, stock list and suspensions, and those of `recorded` for which there is no data. Gaps
   * outside the asked bounds may be among them. `recorded` is what an operator recorded about the entity and did not
   * resolve.
   */
  find(
    snapshot: Snapshot,
    entity: Entity,
    recorded: readonly RecordedGap[],
    asked: GapBounds,
    signal: AbortSignal,
  ): Promise<FoundGaps>;
  /** The gaps of `recorded`, all of one entity, for which this version still has no data. */
  unfilled<G extends Gap>(
    snapshot: Snapshot,
    entity: Entity,
    recorded: readonly G[],
    signal: AbortSignal,
  ): Promise<readonly G[]>;
  /** The days of a gap, `YYYYMMDD`, for which this version has rows of the gap's entity and code. */
  held(snapshot: Snapshot, entity: Entity, gap: Gap, signal: AbortSignal): Promise<readonly string[]>;
}

/** How many results are cached: enough for a few entities in a few versions. */
const KEPT = 32;

/** What the gaps of stocks are computed from, besides the calendar. */
const MARKET = ["stock_list", "suspend_d", "namechange"];

const NONE: HeldDays = new Map();

/** `now` tells which days are over. */
export function createGapFinder(reader: Reader, calendars: Calendars, now: () => Date): GapFinder {
  const gapsOf = createCache<readonly Gap[]>(KEPT);
  const daysOf = createCache<HeldDays>(KEPT);

  const readDays = async (read: Read, signal: AbortSignal): Promise<HeldDays> => {
    const [codes, days] = (await readColumns(reader, read, signal)) as [(string | null)[], string[]];
    return new Map(codes.map((code, i) => [code, Buffer.from(days[i]!, "base64")]));
  };

  const readMarket = async (snapshot: Snapshot, { gaps }: Entity, span: Span, signal: AbortSignal): Promise<Market> => {
    const suspensions = snapshot.files("suspend_d");
    const [codes, listed, delisted] = await readColumns(reader, listingsRead(snapshot.files("stock_list")), signal);
    const suspended = await readDays(suspendedDaysRead(suspensions, span), signal);
    const resumed = await readDays(resumedDaysRead(suspensions, span), signal);
    const delisting = gaps === "every_limit" ? await readDelisting(snapshot, signal) : null;
    return {
      codes: codes as string[],
      ...{ listed: listed as string[], delisted: delisted as string[], suspended, resumed, delisting },
    };
  };

  /** The first day of each delisting period. */
  const readDelisting = async (snapshot: Snapshot, signal: AbortSignal): Promise<ReadonlyMap<string, string>> => {
    const columns = await readColumns(reader, namesRead(snapshot.files("namechange")), signal);
    const [codes, names, starts] = columns as string[][];
    const found = new Map<string, string>();
    // By day: a later name of the same period is left out.
    for (const [i, code] of codes!.entries()) {
      if (isDelistingName(names![i]!) && !found.has(code)) found.set(code, starts![i]!);
    }
    return found;
  };

  const compute = async (
    snapshot: Snapshot,
    entity: Entity,
    calendar: Calendar,
    signal: AbortSignal,
  ): Promise<readonly Gap[]> => {
    const list = snapshot.files(entity.name);
    const within = commonSpan(list, calendar);
    if (within === null) return [];
    const byStock = isByStock(entity.gaps) && snapshot.files("stock_list").rows > 0;
    // A halt may have begun before, or end later.
    const span = byStock ? hull(within, commonSpan(snapshot.files("suspend_d"), calendar)) : within;
    const held = await readDays(heldDaysRead(entity, list, span, byStock ? "each" : "all"), signal);
    const market = byStock ? await readMarket(snapshot, entity, span, signal) : null;
    return computeGaps(entity, { span, within, calendar }, held, market);
  };

  const heldDays = (
    snapshot: Snapshot,
    entity: Entity,
    span: Span,
    scope: CodeScope,
    signal: AbortSignal,
  ): Promise<HeldDays> => {
    const key = JSON.stringify([snapshot.version.lists[entity.name], entity.name, span, scope]);
    return daysOf.get(
      key,
      (making) => readDays(heldDaysRead(entity, snapshot.files(entity.name), span, scope), making),
      signal,
    );
  };

  const computed = async (
    snapshot: Snapshot,
    entity: Entity,
    asked: AskedRange,
    calendar: Calendar,
    signal: AbortSignal,
  ): Promise<Omit<FoundGaps, "excused">> => {
    const list = snapshot.files(entity.name);
    const covered =
      entity.gaps === "none" ? null : coveredSpan(list, newestDay(snapshot.files, asked.today), asked, calendar);
    if (covered === null) return { gaps: [], covered };
    const names = [entity.name, "trade_cal", ...(isByStock(entity.gaps) ? MARKET : [])];
    const key = JSON.stringify([entity.name, ...names.map((name) => snapshot.version.lists[name])]);
    const gaps = await gapsOf.get(key, (making) => compute(snapshot, entity, calendar, making), signal);
    return { gaps: withEdges(entity, gaps, covered, commonSpan(list, calendar), calendar), covered };
  };

  const unfilled: GapFinder["unfilled"] = async (snapshot, entity, recorded, signal) => {
    const span = spanOfGaps(recorded);
    if (span === null || entity.mainDate === null) return recorded;
    const calendar = await calendars.of(snapshot, signal);
    const codes = [...new Set(recorded.flatMap(({ ts_code }) => ts_code ?? []))];
    const compared = codes.map((code) => comparedCode(entity, code));
    const ofCodes = codes.length === 0 ? NONE : await heldDays(snapshot, entity, span, compared, signal);
    const ofAll = await heldDays(snapshot, entity, span, "all", signal);
    return recorded.filter((gap) => {
      const held = gap.ts_code === null ? ofAll.get(null) : ofCodes.get(comparedCode(entity, gap.ts_code));
      return !isFilled(gap, calendar, span, held ?? daySet(span, []));
    });
  };

  return {
    async find(snapshot, entity, recorded, asked, signal) {
      const calendar = await calendars.of(snapshot, signal);
      const { gaps, covered } = await computed(snapshot, entity, rangeOf(asked, now()), calendar, signal);
      const added = recorded.filter((gap) => !isExcuse(gap));
      const open = await unfilled(snapshot, entity, added, signal);
      const { left, excused } = divideByExcuses(entity, [...gaps, ...open], recorded.filter(isExcuse), calendar);
      return { gaps: left, excused, covered };
    },
    unfilled,
    async held(snapshot, entity, gap, signal) {
      if (entity.mainDate === null) return [];
      const span = { first: gap.gap_start, last: gap.gap_end };
      const code = gap.ts_code === null ? null : comparedCode(entity, gap.ts_code);
      const days = await heldDays(snapshot, entity, span, code === null ? "all" : [code], signal);
      return datesIn(span, days.get(code) ?? daySet(span, []));
    },
  };
}
