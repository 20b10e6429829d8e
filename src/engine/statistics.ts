// Exact statistics of the columns of a version, each read once and cached by the files it was read from.
import type { Column, Entity } from "../catalog/types.js";
import type { Snapshot } from "../lake/lake.js";
import { statisticsRead } from "../query/statistics.js";
import { createCache } from "./cache.js";
import { readColumns, type Value } from "./calendars.js";
import type { Reader } from "./reader.js";

interface ColumnStatistics {
  readonly name: string;
  /** Rows without a value. */
  readonly nulls: number;
  readonly distinct: number;
  /** Null if no row has a value. Text is compared byte by byte. */
  readonly min: Value;
  readonly max: Value;
  /** The last main date with a value, `YYYYMMDD`; null if there is none. */
  readonly last: string | null;
}

interface EntityStatistics {
  readonly entity: string;
  readonly data_version: string;
  readonly rows: number;
  readonly columns: readonly ColumnStatistics[];
}

export interface Statistics {
  /** Of some columns of an entity, over all of its rows. Throws what `Reader.read` throws. */
  of(snapshot: Snapshot, entity: Entity, columns: readonly Column[], signal: AbortSignal): Promise<EntityStatistics>;
}

/** How many columns are cached: those of all entities, in a few versions. */
const KEPT = 2_048;

export function createStatistics(reader: Reader): Statistics {
  const cache = createCache<ColumnStatistics>(KEPT);
  return {
    async of({ version, files }, entity, columns, signal) {
      const list = files(entity.name);
      const found: ColumnStatistics[] = [];
      // One after another, each in a slot of its own: others get their turn, and one column is in memory at a time.
      for (const column of columns) {
        const key = JSON.stringify([version.lists[entity.name], entity.name, column.name]);
        const read = statisticsRead(entity, list, column);
        const make = async (making: AbortSignal): Promise<ColumnStatistics> =>
          toStatistics(column.name, await readColumns(reader, read, making));
        found.push(await cache.get(key, make, signal));
      }
      return { entity: entity.name, data_version: version.data_version, rows: list.rows, columns: found };
    },
  };
}

/** From the only row of `statisticsRead`; there is none if nothing is stored. */
function toStatistics(name: string, [nulls, distinct, min, max, last]: readonly Value[][]): ColumnStatistics {
  return {
    name,
    nulls: Number(nulls![0] ?? 0),
    distinct: Number(distinct![0] ?? 0),
    min: min![0] ?? null,
    max: max![0] ?? null,
    last: (last![0] ?? null) as string | null,
  };
}
