// The parameters of a request for gaps, and which of the gaps it gets.
import { columnNamed } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import type { Gap } from "../lake/gaps.js";
import { inOrder } from "./gaps.js";
import { codeOf, collectParameters, oneOf, parseRange, single } from "./parameters.js";
import { parseVersion } from "./request.js";

export interface GapRequest {
  /** The interval that a gap must overlap, `YYYYMMDD` inclusive; null means unbounded. */
  readonly start: string | null;
  readonly end: string | null;
  readonly code: string | null;
  readonly dataVersion: string | null;
  /** Whether the gaps that are excused are requested, instead of those that are left. */
  readonly excused: boolean;
}

export function parseGapRequest(entity: Entity, search: URLSearchParams): GapRequest {
  const parameters = collectParameters(search, ["start_date", "end_date", "ts_code", "excused", "data_version"]);
  return {
    ...parseRange(parameters),
    code: single(parameters, "ts_code", codeOf(entity, columnNamed(entity, entity.code)!)),
    dataVersion: single(parameters, "data_version", parseVersion),
    excused: single(parameters, "excused", oneOf(["true", "false"])) === "true",
  };
}

/** The gaps that overlap the interval, uncut and in order; with a code, its own gaps and those without a code. */
export function selectGaps<G extends Gap>(
  entity: Entity,
  gaps: readonly G[],
  { start, end, code }: Pick<GapRequest, "start" | "end" | "code">,
): readonly G[] {
  const wanted = code === null ? null : comparedCode(entity, code);
  return gaps
    .filter(
      (gap) =>
        (start === null || gap.gap_end >= start) &&
        (end === null || gap.gap_start <= end) &&
        (wanted === null || gap.ts_code === null || comparedCode(entity, gap.ts_code) === wanted),
    )
    .sort(inOrder);
}

/** The code by which rows and gaps are compared: without its suffix if rows may lack it. */
export const comparedCode = (entity: Entity, code: string): string => (entity.bareCodes ? code.split(".")[0]! : code);
