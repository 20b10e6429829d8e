// What a server and a process that runs statements of users tell each other.
import type { Format } from "../catalog/formats.js";
import type { ProblemCode, ProblemExtras } from "../errors.js";
import type { FileList } from "../lake/manifest.js";
import type { Encoding } from "../segments/packer.js";
import type { SqlParameter } from "../query/sql-request.js";

/** What such a process may use. */
export interface RunnerOptions {
  /** E.g. `1GB`. */
  readonly memory: string;
  readonly spill: string;
  readonly tempDirectory: string;
  readonly threads: number;
  /** The host and port of a cluster; null if there is none. */
  readonly cluster: string | null;
}

/** A statement, as its author wrote it. */
export interface Asked {
  readonly sql: string;
  /** By name, without the dollar sign. */
  readonly parameters: Readonly<Record<string, SqlParameter>>;
}

/** How its rows are answered. */
export interface Answering {
  readonly dataVersion: string;
  readonly format: Format;
  readonly dates: "date" | null;
  readonly compression: "zstd" | null;
  readonly bom: true | null;
  readonly encoding: Encoding;
  readonly limit: number | null;
  /** Whether it must be known before the first byte if rows are left out. */
  readonly endFirst: boolean;
  /** The result ends with an error after this many rows. */
  readonly mostRows: number;
  /** When the statement ends at the latest, in milliseconds since 1970. */
  readonly deadline: number;
}

/** Where a statement runs: in DuckDB on this machine, or on a cluster. */
export type Side = "local" | "cluster";

/**
 * The lists of the entities that a statement reads, and where each of their files is by its name in the lake: its path here,
 * or its address for the cluster.
 */
export interface Files {
  readonly lists: Readonly<Record<string, FileList>>;
  readonly paths: Readonly<Record<string, string>>;
}

/** Server → process. One statement at a time: `read`, `run`, then `more` for each piece. */
export type Order =
  | { readonly order: "begin"; readonly options: RunnerOptions }
  | { readonly order: "read"; readonly asked: Asked }
  | { readonly order: "run"; readonly side: Side; readonly files: Files; readonly answering: Answering }
  | { readonly order: "more" }
  /** End the statement, whatever it does. */
  | { readonly order: "stop" };

/** Process → server: one for each order. */
export type Reply =
  | { readonly reply: "ready" }
  /** The entities that the statement reads. */
  | { readonly reply: "read"; readonly entities: readonly string[] }
  /** Its first rows are there. `truncated` is null if that is known only at the end. */
  | { readonly reply: "begun"; readonly truncated: boolean | null }
  /** The cluster cannot answer, and nothing of the result was read: it may run on the other side. */
  | { readonly reply: "declined"; readonly problem: SentProblem; readonly reason: string }
  | { readonly reply: "piece"; readonly bytes: Uint8Array; readonly rows: number }
  | { readonly reply: "end"; readonly rows: number }
  | { readonly reply: "stopped" }
  /** The statement cannot be answered. */
  | { readonly reply: "problem"; readonly problem: SentProblem }
  /** The process failed. */
  | { readonly reply: "failed"; readonly message: string };

export interface SentProblem {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly extras: ProblemExtras;
}
