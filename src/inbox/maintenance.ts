// Background work on the lake: small files are joined, copies by code are built, old versions go. Readers never notice.
import { entityNamed } from "../catalog/index.js";
import type { Lake } from "../lake/lake.js";
import type { FileList } from "../lake/manifest.js";
import { isShort, freeSpace } from "../lake/disk-space.js";
import { wantsCodeCopy } from "../store/code-copy.js";
import { compact, planGroups } from "../store/compact.js";
import { removableVersions, type RetentionPolicy } from "../store/retention.js";
import type { WriteOptions } from "../store/session.js";
import { vacuum } from "../store/vacuum.js";

export interface MaintenanceOptions extends WriteOptions {
  readonly policy: RetentionPolicy;
  readonly now: () => Date;
  readonly log: (line: string) => void;
  /** Fires when it is time to stop: a drop that is being taken is finished first, a compaction is given up. */
  readonly signal: AbortSignal;
}

/** So many of the latest days stay files of their own: they are dropped again soon. */
const KEEP_RECENT = 5;
/** Small files that are joined when nothing was dropped for a while, and those that are joined in any case. */
const SMALL_WHEN_IDLE = 16;
const SMALL_AT_MOST = 64;
/** So many versions go at once while drops come; fewer go when nothing was dropped for a while. */
const REMOVED_AT_ONCE = 20;

/**
 * Does one piece of work that is due; resolves to false if none is. Throws what `compact` and `vacuum` throw. `now` is
 * the time by which versions are old.
 */
export async function maintain(lake: Lake, isIdle: boolean, now: Date, options: MaintenanceOptions): Promise<boolean> {
  const { root } = lake.layout;
  await lake.refresh();
  const { version } = lake.current();
  const after = lake.mark();
  // Joining files takes room before it gives any back.
  const isTight = isShort(await freeSpace(lake.layout));
  for (const name of isTight ? [] : Object.keys(version.lists)) {
    if (!needsCompaction(lake.current().files(name), isIdle)) continue;
    const report = await compact(root, { ...options, after, entities: [name], keepRecent: KEEP_RECENT }, () =>
      options.signal.throwIfAborted(),
    );
    for (const { filesBefore, filesAfter, codeCopy } of report.entities) {
      const copy = codeCopy === "built" ? ", copy by code built" : "";
      options.log(`compacted ${name}: ${filesBefore} date files, now ${filesAfter}${copy}`);
    }
    if (report.version !== null) return true;
  }
  const { policy } = options;
  const removable = removableVersions(await lake.versions(), policy, now).length;
  if (removable < (isIdle || isTight ? 1 : REMOVED_AT_ONCE)) return false;
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
