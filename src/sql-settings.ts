// The settings of SQL, a part of the table in settings.ts.
import { partOfSize, partOrAuto } from "./setting-shares.js";
import { setting } from "./setting-types.js";
import { MOST_WORKERS, parsers } from "./setting-values.js";

const SERVER = ["serve"] as const;
const CHECKED = ["serve", "doctor"] as const;
const STATEMENTS = ["serve", "sql"] as const;
const CLUSTER = [...STATEMENTS, "doctor"] as const;

const FALLBACKS = ["local", "none"] as const;

export const SQL_SETTINGS = {
  sqlProcesses: setting({
    fallback: "auto",
    meaning:
      "processes that run SQL, one statement each at a time; auto: two per worker, one if memory is short; 0: no SQL",
    parse: parsers.orAuto(parsers.wholeNumber(0, MOST_WORKERS)),
    of: CHECKED,
    share: partOrAuto,
  }),
  sqlMemory: setting({
    fallback: "auto",
    meaning: "memory for SQL, all processes together; auto: half as much as --memory",
    parse: parsers.orAuto(parsers.size),
    of: CHECKED,
    share: partOfSize,
  }),
  sqlSpill: setting({
    fallback: "10GB",
    meaning: "disk space for SQL spill files; a statement that needs more gets 503",
    parse: parsers.size,
    of: SERVER,
    share: partOfSize,
  }),
  sqlDeadline: setting({
    fallback: "60",
    meaning: "seconds that a statement may take, including its time in the queue; beyond it 504",
    parse: parsers.seconds(1),
    of: SERVER,
  }),
  sqlRows: setting({
    fallback: "10000000",
    meaning: "rows that a statement may return; beyond it the response is an error, or cut if it has begun",
    parse: parsers.wholeNumber(1, 10_000_000_000),
    of: SERVER,
  }),
  cluster: setting({
    fallback: "none",
    meaning: "a cluster that speaks Spark Connect and may run SQL, such as sc://host:15002; none: no cluster",
    parse: parsers.orNone(parsers.cluster),
    of: CLUSTER,
  }),
  clusterFrom: setting({
    fallback: "10GB",
    meaning: "size of the data files that a statement reads, from which it runs on the cluster",
    parse: parsers.bytes,
    of: STATEMENTS,
  }),
  clusterFallback: setting({
    fallback: "local",
    meaning: "where a statement runs that the cluster fails to answer: local, or none for an error",
    parse: parsers.oneOf(FALLBACKS),
    of: STATEMENTS,
    offers: FALLBACKS,
  }),
  clusterData: setting({
    fallback: "none",
    meaning: "where the cluster finds the data directory: a folder or s3://bucket/prefix; none: where it is",
    parse: parsers.orNone(parsers.place),
    of: CLUSTER,
  }),
} as const;
