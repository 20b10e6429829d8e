// Brings Delta tables up to the lake: a commit for each version that changed the files of an entity.
import { randomUUID } from "node:crypto";
import type { Entity } from "../catalog/types.js";
import { OperatorError } from "../errors.js";
import { newestFirst } from "../lake/kept-versions.js";
import type { Lake } from "../lake/lake.js";
import { DamagedManifestError, type FileList, type Version } from "../lake/manifest.js";
import type { ObjectStore } from "../objects/object-store.js";
import { type Action, encodeActions, type MetaData, PROTOCOL } from "./actions.js";
import { encodeCheckpoint } from "./checkpoint.js";
import { applied, checkpointKey, commitKey, pointTo, readTable, type Table, type TableState } from "./log.js";
import { addOf, descriptionOf, pathOf, removalOf } from "./schema.js";

/** How many commits a reader reads at most besides a checkpoint. */
const CHECKPOINT_EVERY = 20;
/** How often another process may commit first before this one gives up. */
const ATTEMPTS = 50;

/**
 * Commits what the served version and the kept ones before it changed in the files of an entity since the newest commit.
 * Resolves to the number of commits. May be called by several processes at once, and after a crash at any point.
 */
export async function followEntity(lake: Lake, objects: ObjectStore, entity: Entity): Promise<number> {
  let commits = 0;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    let table: Table | null = await readTable(objects, entity.name);
    // After the log: whoever wrote it knew the versions until then.
    await lake.refresh();
    let known = Number(table.state?.commit.operationParameters.sequence);
    for (const version of await newerVersions(lake, table.state)) {
      const list = await listIn(lake, entity, version);
      if (list === null) continue;
      const actions = changes(entity, table, version, list, version.sequence === known + 1);
      known = version.sequence;
      if (actions === null) continue;
      table = await commit(objects, entity, table, actions);
      if (table === null) break;
      commits++;
    }
    if (table === null) continue;
    await checkpointIfDue(objects, entity, table);
    return commits;
  }
  throw new OperatorError(`the Delta log of ${entity.name} was changed by others all the time; try again`);
}

/**
 * The kept versions after the one that the table has, oldest first. The served one in any case: after a restore of an
 * older state it is not newer than what the table has.
 */
async function newerVersions(lake: Lake, state: TableState | null): Promise<readonly Version[]> {
  const known = state?.commit.operationParameters.data_version ?? "";
  const newer: Version[] = [];
  for await (const version of newestFirst(lake.layout, lake.mark().sequence)) {
    if (version.data_version <= known) break;
    newer.unshift(version);
  }
  return newer.length > 0 ? newer : [lake.current().version];
}

/** The files of an entity in a version; null if it was removed meanwhile, or if its list is damaged. */
async function listIn(lake: Lake, { name }: Entity, version: Version): Promise<FileList | null> {
  const { current } = lake;
  if (version.sequence === current().version.sequence) return current().files(name);
  const found = await lake.at(version.data_version).catch((error: unknown) => {
    if (error instanceof DamagedManifestError) return "damaged";
    throw error;
  });
  return typeof found === "string" ? null : found.files(name);
}

/**
 * The actions that turn the state of a table into that of a version; null if it has it already. `isNext`: the table has
 * the state of the version before it, so that of a compaction is known that no row changes.
 */
function changes(
  entity: Entity,
  table: Table,
  version: Version,
  list: FileList,
  isNext: boolean,
): readonly Action[] | null {
  const { state } = table;
  if (state === null && list.byDate.length === 0) return null;
  const { data_version, sequence, reason } = version;
  const time = Math.max(Date.parse(data_version), (state?.commit.inCommitTimestamp ?? 0) + 1);
  const dataChange = !(isNext && reason === "compact");
  const paths = new Set(list.byDate.map((file) => pathOf(entity, file)));
  const removed = [...(state?.files.values() ?? [])].filter(({ path }) => !paths.has(path));
  const added = list.byDate.filter((file) => !state?.files.has(pathOf(entity, file)));
  const actions: readonly Action[] = [
    ...described(entity, table, time),
    ...removed.map((add) => ({ remove: removalOf(add, time, dataChange) })),
    ...added.map((file) => ({ add: addOf(entity, file, time, dataChange) })),
  ];
  if (actions.length === 0) return null;
  const operation = dataChange ? "WRITE" : "OPTIMIZE";
  const operationParameters = { data_version, sequence: String(sequence), reason, rows: String(list.rows) };
  const times = { inCommitTimestamp: time, timestamp: time };
  return [{ commitInfo: { ...times, operation, operationParameters, engineInfo: "Tapehouse" } }, ...actions];
}

/** Protocol and metadata, if the table lacks them or the catalog has changed. */
function described(entity: Entity, { version, state }: Table, time: number): readonly Action[] {
  const description = descriptionOf(entity);
  if (state === null) return [{ protocol: PROTOCOL }, { metaData: newTable(description, version + 1, time) }];
  const metaData: MetaData = { ...state.metaData, ...description };
  return JSON.stringify(metaData) === JSON.stringify(state.metaData) ? [] : [{ metaData }];
}

function newTable(description: ReturnType<typeof descriptionOf>, version: number, time: number): MetaData {
  const configuration: Record<string, string> = { "delta.enableInCommitTimestamps": "true" };
  if (version > 0) {
    configuration["delta.inCommitTimestampEnablementVersion"] = String(version);
    configuration["delta.inCommitTimestampEnablementTimestamp"] = String(time);
  }
  const format = { provider: "parquet", options: {} } as const;
  return { id: randomUUID(), ...description, format, partitionColumns: [], configuration, createdTime: time };
}

/** Resolves to null if another process has written this version. */
async function commit(
  objects: ObjectStore,
  entity: Entity,
  table: Table,
  actions: readonly Action[],
): Promise<Table | null> {
  const version = table.version + 1;
  const tag = await objects.create(commitKey(entity.name, version), encodeActions(actions));
  if (tag === undefined) return null;
  const next: Table = { ...table, version, state: applied(table.state, [actions]) };
  // Until there is a checkpoint, nobody can read a table whose earlier commits cannot be replayed.
  const isAnew = table.state === null && version > 0;
  return isAnew ? writeCheckpoint(objects, entity, next) : next;
}

async function checkpointIfDue(objects: ObjectStore, entity: Entity, table: Table): Promise<void> {
  if (table.version - table.checkpoint >= CHECKPOINT_EVERY) await writeCheckpoint(objects, entity, table);
}

async function writeCheckpoint(objects: ObjectStore, entity: Entity, table: Table): Promise<Table> {
  const { version, state } = table;
  const { protocol, metaData, files } = state!;
  const { bytes, actions } = encodeCheckpoint({ protocol, metaData, files: files.values() });
  await objects.put(checkpointKey(entity.name, version), bytes);
  await pointTo(objects, entity, { version, size: actions });
  return { ...table, checkpoint: version };
}
