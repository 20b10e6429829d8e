// Finds the gaps of a version: DuckDB returns sets of days, `query/gaps.ts` compares them, and the result is cached by
// the files it was read from.
import type { Entity } from "../catalog/types.js";
import type { Gap } from "../lake/gaps.js";
import type { Snapshot } from "../lake/lake.js";
import { commonSpan, computeGaps, isFilled, spanOfGaps, type HeldDays, type Market } from "../query/gaps.js";
import { datesIn, daySet, type Span } from "../query/gaps-days.js";
import { comparedCode, heldDaysRead, listingsRead, suspendedDaysRead, type CodeScope } from "../query/gaps-read.js";
import type { Read } from "../query/scan.js";
import { createCache } from "./cache.js";
import { type Calendars, readColumns } from "./calendars.js";
import type { Reader } from "./reader.js";

export interface GapFinder {
  /** The gaps computed from calendar, stock list and suspensions; none if the version lacks one of them. */
  computed(snapshot: Snapshot, entity: Entity, signal: AbortSignal): Promise<readonly Gap[]>;
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

const NONE: HeldDays = new Map();

export function createGapFinder(reader: Reader, calendars: Calendars): GapFinder {
  const gapsOf = createCache<readonly Gap[]>(KEPT);
  const daysOf = createCache<HeldDays>(KEPT);

  const readDays = async (read: Read, signal: AbortSignal): Promise<HeldDays> => {
    const [codes, days] = (await readColumns(reader, read, signal)) as [(string | null)[], string[]];
    return new Map(codes.map((code, i) => [code, Buffer.from(days[i]!, "base64")]));
  };

  const readMarket = async (snapshot: Snapshot, span: Span, signal: AbortSignal): Promise<Market> => {
    const [codes, listed, delisted] = await readColumns(reader, listingsRead(snapshot.files("stock_list")), signal);
    const suspended = await readDays(suspendedDaysRead(snapshot.files("suspend_d"), span), signal);
    return { codes: codes as string[], listed: listed as string[], delisted: delisted as string[], suspended };
  };

  const compute = async (snapshot: Snapshot, entity: Entity, signal: AbortSignal): Promise<readonly Gap[]> => {
    const list = snapshot.files(entity.name);
    const calendar = await calendars.of(snapshot, signal);
    const span = commonSpan(list, calendar);
    if (span === null) return [];
    const byStock = entity.gaps === "every_stock" && snapshot.files("stock_list").rows > 0;
    const held = await readDays(heldDaysRead(entity, list, span, byStock ? "each" : "all"), signal);
    return computeGaps(entity, span, calendar.open, held, byStock ? await readMarket(snapshot, span, signal) : null);
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

  return {
    async computed(snapshot, entity, signal) {
      if (entity.gaps === "none") return [];
      const names = entity.gaps === "every_stock" ? ["trade_cal", "stock_list", "suspend_d"] : ["trade_cal"];
      const key = JSON.stringify([entity.name, ...[entity.name, ...names].map((name) => snapshot.version.lists[name])]);
      return gapsOf.get(key, (making) => compute(snapshot, entity, making), signal);
    },
    async unfilled(snapshot, entity, recorded, signal) {
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
    },
    async held(snapshot, entity, gap, signal) {
      if (entity.mainDate === null) return [];
      const span = { first: gap.gap_start, last: gap.gap_end };
      const code = gap.ts_code === null ? null : comparedCode(entity, gap.ts_code);
      const days = await heldDays(snapshot, entity, span, code === null ? "all" : [code], signal);
      return datesIn(span, days.get(code) ?? daySet(span, []));
    },
  };
}
