// What every handler receives.
import type { ServerConfig } from "../config.js";
import type { Adjustments } from "../engine/adjust.js";
import type { Calendars } from "../engine/calendars.js";
import type { History } from "../engine/changes.js";
import type { GapFinder } from "../engine/gaps.js";
import type { Reader } from "../engine/reader.js";
import type { Statistics } from "../engine/statistics.js";
import type { Integrity } from "../lake/integrity.js";
import type { Lake } from "../lake/lake.js";
import type { TokenStore } from "../lake/tokens.js";
import type { SegmentStore } from "../segments/store.js";
import type { SqlService } from "../sql/statement.js";
import type { Log } from "./observe.js";
import type { Metrics, ProcessMetrics } from "./metrics.js";
import type { TokenAdmission } from "./limits.js";

/** What other processes do for the server; false for what should be done but is not. */
export interface Background {
  /** The inbox is watched. */
  readonly inbox: boolean;
  /** The bucket answers, and its versions are followed. */
  readonly bucket: boolean;
}

export const ALL_RUNS: Background = { inbox: true, bucket: true };

export interface Context {
  readonly config: ServerConfig;
  readonly lake: Lake;
  readonly reader: Reader;
  readonly calendars: Calendars;
  readonly gaps: GapFinder;
  readonly adjustments: Adjustments;
  readonly statistics: Statistics;
  readonly sql: SqlService;
  readonly history: History;
  readonly tokens: TokenStore;
  readonly tokenAdmission: TokenAdmission;
  readonly integrity: Integrity;
  readonly segments: SegmentStore;
  readonly now: () => Date;
  /** Requests and internal errors: for the operator, never shown to clients. */
  readonly log: Log;
  readonly metrics: Metrics;
  /** The metrics of all processes that serve. */
  readonly gatherMetrics: () => Promise<readonly ProcessMetrics[]>;
  /** What is done beside the workers. */
  readonly background: () => Background;
}
