// The versions of a Delta table beside those of the lake, and which of them can go.
import type { Entity } from "../catalog/types.js";
import type { Lake } from "../lake/lake.js";
import type { ObjectStore } from "../objects/object-store.js";
import { type CommitInfo, DamagedLogError } from "./actions.js";
import { checkpointKey, commitKey, commitOf, logFiles, logFolder, readCommit } from "./log.js";

export interface DeltaVersion {
  readonly entity: string;
  /** The version of the table. */
  readonly version: number;
  /** The version of the lake whose rows it has; the table has them until its next version. */
  readonly data_version: string;
  readonly rows: number;
  /** ISO 8601 in UTC: from then on engines read this version by time. */
  readonly time: string;
  /** What created the version of the lake, e.g. `import daily`. */
  readonly reason: string;
  /** Whether the lake still keeps all its files. The others cannot be read in full any more. */
  readonly isKept: boolean;
}

/** The versions of a table, oldest first, as far as its log goes back. */
export async function deltaVersions(
  lake: Lake,
  objects: ObjectStore,
  { name: entity }: Entity,
): Promise<readonly DeltaVersion[]> {
  const { commits } = await logFiles(objects, entity);
  const kept = await lake.versions();
  const infos = await Promise.all(commits.map((version) => infoOf(objects, entity, version)));
  return infos.flatMap((info, i) => {
    if (info === null) return [];
    const { data_version, rows, reason } = info.operationParameters;
    const next = infos[i + 1]?.operationParameters.data_version ?? "~";
    const isKept = kept.some((one) => data_version <= one.data_version && one.data_version < next);
    const time = new Date(info.inCommitTimestamp).toISOString();
    return [{ entity, version: commits[i]!, data_version, rows: Number(rows), time, reason, isKept }];
  });
}

/** What a commit says of itself; null if it cannot be read. */
const infoOf = (objects: ObjectStore, entity: string, version: number): Promise<CommitInfo | null> =>
  readCommit(objects, entity, version).then(commitOf, (error: unknown) => {
    if (error instanceof DamagedLogError) return null;
    throw error;
  });

/** Removes all files of a log. Resolves to false if there is none. */
export async function removeLog(objects: ObjectStore, { name }: Entity): Promise<boolean> {
  const keys: string[] = [];
  for await (const { key } of objects.list(logFolder(name))) keys.push(key);
  await objects.remove(keys);
  return keys.length > 0;
}

/** A log keeps this many commits before its newest checkpoint, even if the lake keeps older versions. */
const MOST_COMMITS = 5_000;

/**
 * Removes the commits that no kept version of the lake needs: those before the last checkpoint that is no newer than the
 * oldest kept version. Then readers say that an older version is not there; otherwise they would miss data files.
 */
export async function cleanLog(lake: Lake, objects: ObjectStore, { name: entity }: Entity): Promise<void> {
  const { commits, checkpoints } = await logFiles(objects, entity);
  const [oldest] = await lake.versions();
  const most = (checkpoints.at(-1) ?? 0) - MOST_COMMITS;
  let first = 0;
  for (const checkpoint of checkpoints) {
    const since = (await infoOf(objects, entity, checkpoint))?.operationParameters.data_version;
    const isNewer = since === undefined || oldest === undefined || since > oldest.data_version;
    if (isNewer && checkpoint > most) break;
    first = checkpoint;
  }
  await objects.remove([
    ...commits.filter((version) => version < first).map((version) => commitKey(entity, version)),
    ...checkpoints.filter((version) => version < first).map((version) => checkpointKey(entity, version)),
  ]);
}
