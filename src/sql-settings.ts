// The settings of SQL, a part of the table in settings.ts.
import { partOfSize, partOrAuto } from "./setting-shares.js";
import { setting } from "./setting-types.js";
import { MOST_WORKERS, parsers } from "./setting-values.js";

const SERVER = ["serve"] as const;

export const SQL_SETTINGS = {
  sqlProcesses: setting({
    fallback: "auto",
    meaning:
      "processes that run SQL, one statement each at a time; auto: two per worker, one if memory is short; 0: no SQL",
    parse: parsers.orAuto(parsers.wholeNumber(0, MOST_WORKERS)),
    of: SERVER,
    share: partOrAuto,
  }),
  sqlMemory: setting({
    fallback: "auto",
    meaning: "memory for SQL, all processes together; auto: half as much as --memory",
    parse: parsers.orAuto(parsers.size),
    of: SERVER,
    share: partOfSize,
  }),
  sqlSpill: setting({
    fallback: "10GB",
    meaning: "disk space for spilling of SQL; a statement that needs more gets 503",
    parse: parsers.size,
    of: SERVER,
    share: partOfSize,
  }),
  sqlDeadline: setting({
    fallback: "60",
    meaning: "seconds that a statement may take, with the time that it waits; beyond it 504",
    parse: parsers.seconds(1),
    of: SERVER,
  }),
  sqlRows: setting({
    fallback: "10000000",
    meaning: "rows that a statement may return; beyond it the response is an error, or cut if it has begun",
    parse: parsers.wholeNumber(1, 10_000_000_000),
    of: SERVER,
  }),
} as const;
