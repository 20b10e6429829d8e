// Changes between versions: how many rows of which kind, what each version brought, and the rows themselves.
import type { Entity } from "../catalog/types.js";
import type { Lake, Snapshot } from "../lake/lake.js";
import { countsRead, parseChangesRequest, planChanges, type Change } from "../query/changes.js";
import type { Read } from "../query/scan.js";
import { createCache } from "./cache.js";
import { readColumns, type Value } from "./calendars.js";
import type { Reader } from "./reader.js";

export interface ChangeCounts {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  /** First and last main date of these rows, `YYYYMMDD`; null if there are none. */
  readonly first: string | null;
  readonly last: string | null;
}

/** Counts the rows of an entity that differ. Throws what `Reader.read` throws. */
export async function countChanges(
  reader: Reader,
  entity: Entity,
  [older, newer]: readonly [Snapshot, Snapshot],
  signal: AbortSignal,
): Promise<ChangeCounts> {
  const read = countsRead(entity, older.files(entity.name), newer.files(entity.name));
  const [kinds, rows, first, last] = (await readColumns(reader, read, signal)) as [Value[], number[], Value[], Value[]];
  const rowsOf = (kind: Change): number => rows.reduce((sum, count, i) => (kinds[i] === kind ? sum + count : sum), 0);
  const dates = [...first, ...last]
    .filter((date) => date !== null)
    .map(String)
    .sort();
  return {
    ...{ added: rowsOf("added"), removed: rowsOf("removed"), changed: rowsOf("changed") },
    ...{ first: dates[0] ?? null, last: dates.at(-1) ?? null },
  };
}

/** What one version brought to an entity. */
interface VersionChanges extends ChangeCounts {
  readonly data_version: string;
}

export interface History {
  /**
   * The newest versions up to that of `snapshot` that changed rows of the entity, newest first, at most `limit` of them. The
   * oldest kept version is compared with nothing, so it is left out. Throws what `Reader.read` throws.
   */
  of(
    lake: Lake,
    snapshot: Snapshot,
    entity: Entity,
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly VersionChanges[]>;
}

/** How many comparisons are cached. */
const KEPT = 512;

export function createHistory(reader: Reader): History {
  const cache = createCache<ChangeCounts>(KEPT);
  return {
    async of(lake, snapshot, entity, limit, signal) {
      const { data_version } = snapshot.version;
      const versions = (await lake.versions()).filter((version) => version.data_version <= data_version);
      const found: VersionChanges[] = [];
      for (let i = versions.length - 1; i > 0 && found.length < limit; i--) {
        const [older, newer] = [versions[i - 1]!, versions[i]!];
        const lists = [older, newer].map((version) => version.lists[entity.name] ?? null);
        if (lists[0] === lists[1]) continue;
        const both = [await lake.at(older.data_version), await lake.at(newer.data_version)] as const;
        // A vacuum has removed one of them, and all before it.
        if (typeof both[0] === "string" || typeof both[1] === "string") break;
        const pair = [both[0], both[1]] as const;
        const key = JSON.stringify([entity.name, lists]);
        const counts = await cache.get(key, (making) => countChanges(reader, entity, pair, making), signal);
        if (counts.added + counts.removed + counts.changed > 0)
          found.push({ data_version: newer.data_version, ...counts });
      }
      return found;
    },
  };
}

/** The rows that `/api/v1/entities/<entity>/changes` returns without a limit, as a read. */
export function changesRead(entity: Entity, [older, newer]: readonly [Snapshot, Snapshot]): Read {
  const search = new URLSearchParams({ from: older.version.data_version });
  const request = parseChangesRequest(entity, search, { defaultLimit: null, maxLimit: null });
  return planChanges(request, older.files(entity.name), newer.files(entity.name), null);
}
