// When statements run on the cluster: as requests ask, by the bytes that they read, and by whether it answers.
import { Problem } from "../errors.js";
import type { DataFile } from "../lake/manifest.js";
import type { SqlRequest } from "../query/sql-request.js";
import type { Side } from "./messages.js";
import type { Declined } from "./pool.js";

type Asked = SqlRequest["engine"];

/** The settings of a cluster. */
export interface ClusterSettings {
  /** Host and port; null: there is none. */
  readonly cluster: string | null;
  /** Where the cluster finds the data directory; null: where it is. */
  readonly clusterData: string | null;
  /** Bytes of data files from which `auto` asks the cluster. */
  readonly clusterFrom: number;
  /** What `auto` does with a statement that the cluster fails to answer. */
  readonly clusterFallback: "local" | "none";
}

export interface ClusterUse {
  readonly data: string | null;
  /** Throws a problem if a request asks for a cluster and there is none. */
  require(asked: Asked): void;
  /** Where a statement runs that reads these files. */
  sideOf(asked: Asked, files: () => readonly DataFile[]): Side;
  /** Notes that the cluster cannot answer. Throws the problem if the statement may not run here instead. */
  declined(asked: Asked, declined: Declined): void;
  /** Notes that the cluster answers. */
  answered(): void;
}

/** Milliseconds in which `auto` does not ask a cluster again that was away. */
const PAUSE = 30_000;

/** `onAway` is called with the reason if the cluster fails. */
export function createClusterUse(
  { cluster, clusterData, clusterFrom, clusterFallback }: ClusterSettings,
  now: () => Date,
  onAway: (reason: string) => void,
): ClusterUse {
  let pausedUntil = -Infinity;
  return {
    data: clusterData,
    require(asked) {
      if (asked !== "cluster" || cluster !== null) return;
      throw new Problem("invalid_parameter", "engine: there is no cluster", {
        parameter: "engine",
        allowed: ["auto", "local"],
      });
    },
    sideOf(asked, files) {
      if (asked !== "auto") return asked;
      if (cluster === null || (clusterFallback === "local" && now().getTime() < pausedUntil)) return "local";
      return files().reduce((sum, { bytes }) => sum + bytes, 0) >= clusterFrom ? "cluster" : "local";
    },
    declined(asked, { problem, reason }) {
      const isAway = problem.code === "cluster_unavailable";
      if (isAway) {
        pausedUntil = now().getTime() + PAUSE;
        onAway(reason);
      }
      if (asked === "cluster" || (clusterFallback === "none" && problem.code !== "sql_not_allowed")) throw problem;
    },
    answered() {
      pausedUntil = -Infinity;
    },
  };
}
