// Maintenance in the background: joins small files, builds code copies and removes old versions. Readers are not affected.
import { ENTITY_NAMES, entityNamed } from "../catalog/index.js";
import { readDeltaState } from "../lake/delta-state.js";
import type { Lake } from "../lake/lake.js";
import type { FileList } from "../lake/manifest.js";
import { isShort, freeSpace } from "../lake/status.js";
import { compact, planGroups, wantsCodeCopy } from "../store/compact.js";
import type { WriteOptions } from "../store/session.js";
import { keepTables } from "../store/tables.js";
import { vacuum, removableVersions, type RetentionPolicy } from "../store/vacuum.js";

export interface MaintenanceOptions extends WriteOptions {
  readonly policy: RetentionPolicy;
  readonly now: () => Date;
  readonly log: (line: string) => void;
  /** Fires when the process must stop. A running import is finished first; a compaction is abandoned. */
  readonly signal: AbortSignal;
}

/** How many of the latest days keep files of their own, since they will soon be dropped again. */
const KEEP_RECENT = 5;
/** More small files than this are joined when no drops come, or in any case. */
const SMALL_WHEN_IDLE = 16;
const SMALL_AT_MOST = 64;
/** While drops come, old versions are removed in batches of at least this size. */
const REMOVED_AT_ONCE = 20;

/**
 * Does one task that is due; resolves to false if none is. Throws what `compact` and `vacuum` throw. `now` is the time
 * for the age of versions.
 */
export async function maintain(lake: Lake, isIdle: boolean, now: Date, options: MaintenanceOptions): Promise<boolean> {
  const { root } = lake.layout;
  await lake.refresh();
  if ((await readDeltaState(lake.layout))?.last) await keepTables(lake.layout, ENTITY_NAMES, options.log);
  const { version } = lake.current();
  const after = lake.mark();
  // Joining files needs disk space before it frees any.
  const isDiskShort = isShort(await freeSpace(lake.layout));
  for (const name of isDiskShort ? [] : Object.keys(version.lists)) {
    if (!needsCompaction(lake.current().files(name), isIdle)) continue;
    const report = await compact(root, { ...options, after, entities: [name], keepRecent: KEEP_RECENT }, () =>
      options.signal.throwIfAborted(),
    );
    for (const { filesBefore, filesAfter, codeCopy } of report.entities) {
      const copy = codeCopy === "built" ? ", code copy built" : "";
      options.log(`compacted ${name}: ${filesBefore} date files, now ${filesAfter}${copy}`);
    }
    if (report.version !== null) return true;
  }
  const { policy } = options;
  const removable = removableVersions(await lake.versions(), policy, now).length;
  if (removable < (isIdle || isDiskShort ? 1 : REMOVED_AT_ONCE)) return false;
  const { removed, kept, bytes } = await vacuum(root, { policy, now, after });
  options.log(`removed ${removed.length} old versions, ${(bytes / 1e6).toFixed(1)} MB; ${kept} stay`);
  return true;
}

function needsCompaction(list: FileList, isIdle: boolean): boolean {
  const small = planGroups(list, KEEP_RECENT, false).flat().length;
  if (small > SMALL_AT_MOST) return true;
  const entity = entityNamed(list.entity);
  return isIdle && entity !== undefined && (small > SMALL_WHEN_IDLE || wantsCodeCopy(entity, list, true));
}
