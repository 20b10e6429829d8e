// What the supervisor and its workers tell each other.
import type { ServerConfig } from "../config.js";
import type { ProcessMetrics } from "../http/metrics.js";
import type { LakeMark } from "../http/server.js";

/** To a worker. */
export type Order =
  /**
   * The first one; the port comes with it. `spill` is the folder for what DuckDB has no memory for, `seen` the lake that
   * was served, which it has to go on from. Where nobody else serves, it `waits` for that lake. `hadTokens`: others have
   * read a token file.
   */
  | {
      readonly order: "serve";
      readonly config: ServerConfig;
      readonly spill: string;
      readonly seen: LakeMark | null;
      readonly waits: boolean;
      readonly hadTokens: boolean;
    }
  /** Another worker has taken over: end when every connection has come to its own end. */
  | { readonly order: "retire" }
  /** End when every answer under way is sent; what is left after so many milliseconds is cut. */
  | { readonly order: "stop"; readonly within: number }
  /** Report what you counted. */
  | { readonly order: "count" }
  /** Other workers found these files damaged: look at them. */
  | { readonly order: "suspect"; readonly files: readonly string[] }
  /** What all workers counted, as you asked. */
  | { readonly order: "counted"; readonly all: readonly ProcessMetrics[] };

/** From a worker. */
export type Report =
  | { readonly report: "ready"; readonly url: string }
  /** How far the lake got that it serves. */
  | { readonly report: "mark"; readonly mark: LakeMark }
  /** It has read a token file. */
  | { readonly report: "tokens" }
  /** It could not start. `known`: for a reason that its user can mend. */
  | { readonly report: "failed"; readonly message: string; readonly known: boolean }
  /** Its event loop turns. */
  | { readonly report: "alive" }
  /** Files that it found damaged and does not read. */
  | { readonly report: "damaged"; readonly files: readonly string[] }
  | { readonly report: "counts"; readonly metrics: ProcessMetrics }
  /** It wants to know what all workers counted. */
  | { readonly report: "gather" };

/** How often a worker reports that it is alive, in milliseconds. */
export const ALIVE_EVERY = 1_000;
