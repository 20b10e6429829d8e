// The versions of a Delta table beside those of the lake, and which of them can go.
import type { Entity } from "../catalog/types.js";
import type { Lake } from "../lake/lake.js";
import type { ObjectStore } from "../objects/object-store.js";
import { DamagedLogError } from "./actions.js";
import { checkpointKey, commitKey, commitOf, logFiles, readCommit } from "./log.js";

export interface DeltaVersion {
  readonly entity: string;
  /** The version of the table. */
  readonly version: number;
  /** The version of the lake whose rows it has; the table has them until its next version. */
  readonly data_version: string;
  readonly rows: number;
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
  const found = await Promise.all(commits.map((version) => parametersOf(objects, entity, version)));
  return found.flatMap((one, i) => {
    if (one === null) return [];
    const next = found[i + 1]?.data_version ?? "~";
    const isKept = kept.some(({ data_version }) => one.data_version <= data_version && data_version < next);
    const { data_version, rows, reason } = one;
    return [{ entity, version: commits[i]!, data_version, rows: Number(rows), reason, isKept }];
  });
}

/** What a commit says of its version of the lake; null if it cannot be read. */
const parametersOf = (objects: ObjectStore, entity: string, version: number) =>
  readCommit(objects, entity, version).then(
    (actions) => commitOf(actions).operationParameters,
    (error: unknown) => {
      if (error instanceof DamagedLogError) return null;
      throw error;
    },
  );

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
    const since = (await parametersOf(objects, entity, checkpoint))?.data_version;
    const isNewer = since === undefined || oldest === undefined || since > oldest.data_version;
    if (isNewer && checkpoint > most) break;
    first = checkpoint;
  }
  await objects.remove([
    ...commits.filter((version) => version < first).map((version) => commitKey(entity, version)),
    ...checkpoints.filter((version) => version < first).map((version) => checkpointKey(entity, version)),
  ]);
}
