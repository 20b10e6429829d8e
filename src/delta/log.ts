// Reading a Delta log: its files by name, and the state of the table, from its newest checkpoint and the commits since.
import type { Entity } from "../catalog/types.js";
import type { ObjectStore } from "../objects/object-store.js";
import {
  type Action,
  type Add,
  type CommitInfo,
  DamagedLogError,
  decodeActions,
  type MetaData,
  type Protocol,
} from "./actions.js";
import { decodeCheckpoint } from "./checkpoint.js";

/** Keys are relative to the folder of the data files. */
export const logFolder = (entity: string): string => `${entity}/_delta_log/`;
const numbered = (entity: string, version: number): string =>
  `${logFolder(entity)}${String(version).padStart(20, "0")}`;

export const commitKey = (entity: string, version: number): string => `${numbered(entity, version)}.json`;
export const checkpointKey = (entity: string, version: number): string =>
  `${numbered(entity, version)}.checkpoint.parquet`;
const lastCheckpointKey = (entity: string): string => `${logFolder(entity)}_last_checkpoint`;

/** The versions of which a log has a commit or a checkpoint, in ascending order. */
export interface LogFiles {
  readonly commits: readonly number[];
  readonly checkpoints: readonly number[];
}

/** Lists the files of a log from a version on. Files of other programs are left out. */
export async function logFiles(objects: ObjectStore, entity: string, from = 0): Promise<LogFiles> {
  const commits: number[] = [];
  const checkpoints: number[] = [];
  const folder = logFolder(entity);
  for await (const { key } of objects.list(folder, numbered(entity, from))) {
    const [, digits, kind] = /^(\d{20})\.(json|checkpoint\.parquet)$/.exec(key.slice(folder.length)) ?? [];
    if (digits !== undefined) (kind === "json" ? commits : checkpoints).push(Number(digits));
  }
  return { commits, checkpoints };
}

export interface TableState {
  readonly protocol: Protocol;
  readonly metaData: MetaData;
  readonly files: ReadonlyMap<string, Add>;
  /** What the newest commit says of itself. */
  readonly commit: CommitInfo;
}

export interface Table {
  /** The newest Delta version; -1 if there is none. */
  readonly version: number;
  /** Null if there is no log, or one that cannot be replayed. */
  readonly state: TableState | null;
  /** The newest version with a checkpoint; -1 if there is none. */
  readonly checkpoint: number;
}

/** Reads the state of a table. Throws only if the objects cannot be read. */
export async function readTable(objects: ObjectStore, entity: string): Promise<Table> {
  const hint = await hintedCheckpoint(objects, entity);
  let { commits, checkpoints } = await logFiles(objects, entity, Math.max(0, hint));
  if (hint >= 0 && !checkpoints.includes(hint)) ({ commits, checkpoints } = await logFiles(objects, entity));
  const checkpoint = checkpoints.at(-1) ?? -1;
  const version = Math.max(-1, checkpoint, commits.at(-1) ?? -1);
  return { version, checkpoint, state: version < 0 ? null : await replay(objects, entity, checkpoint, commits) };
}

/** The version of the newest checkpoint according to the file that names it; -1 if it names none. */
async function hintedCheckpoint(objects: ObjectStore, entity: string): Promise<number> {
  return versionIn((await objects.get(lastCheckpointKey(entity)))?.bytes);
}

function versionIn(bytes: Buffer | undefined): number {
  try {
    const { version } = JSON.parse(bytes?.toString() ?? "") as { readonly version?: number };
    return Number.isSafeInteger(version) ? version! : -1;
  } catch {
    return -1;
  }
}

/** Names the newest checkpoint, and the number of its actions, unless a newer one is named already. */
export async function pointTo(
  objects: ObjectStore,
  { name }: Entity,
  checkpoint: { readonly version: number; readonly size: number },
): Promise<void> {
  const key = lastCheckpointKey(name);
  const content = Buffer.from(JSON.stringify(checkpoint));
  const found = await objects.get(key);
  if (!found) await objects.create(key, content);
  else if (versionIn(found.bytes) < checkpoint.version) await objects.replaceIf(key, content, found.tag);
}

/** Null if a commit or the checkpoint is missing or damaged. */
async function replay(
  objects: ObjectStore,
  entity: string,
  checkpoint: number,
  commits: readonly number[],
): Promise<TableState | null> {
  try {
    const start = checkpoint < 0 ? null : await stateAt(objects, entity, checkpoint);
    const later = commits.filter((version) => version > checkpoint);
    if (later.some((version, i) => version !== checkpoint + 1 + i)) return null;
    return applied(start, await Promise.all(later.map((version) => readCommit(objects, entity, version))));
  } catch (error) {
    if (error instanceof DamagedLogError) return null;
    throw error;
  }
}

async function stateAt(objects: ObjectStore, entity: string, version: number): Promise<TableState> {
  const key = checkpointKey(entity, version);
  const [found, actions] = await Promise.all([objects.get(key), readCommit(objects, entity, version)]);
  if (!found) throw new DamagedLogError(key);
  const { protocol, metaData, files } = await decodeCheckpoint(found.bytes, key);
  return { protocol, metaData, commit: commitOf(actions), files: new Map([...files].map((add) => [add.path, add])) };
}

/** Throws a DamagedLogError if it is missing or not ours. */
export async function readCommit(objects: ObjectStore, entity: string, version: number): Promise<readonly Action[]> {
  const key = commitKey(entity, version);
  const found = await objects.get(key);
  if (!found) throw new DamagedLogError(key);
  return decodeActions(found.bytes, key);
}

/** Each commit begins with what it says of itself. */
export const commitOf = ([first]: readonly Action[]): CommitInfo =>
  (first as { readonly commitInfo: CommitInfo }).commitInfo;

/** The state after some commits; null if none of them, nor an earlier one, describes the table. */
export function applied(state: TableState | null, commits: readonly (readonly Action[])[]): TableState | null {
  const files = new Map(state?.files);
  let [protocol, metaData, commit] = [state?.protocol, state?.metaData, state?.commit];
  for (const action of commits.flat()) {
    if ("add" in action) files.set(action.add.path, action.add);
    else if ("remove" in action) files.delete(action.remove.path);
    else if ("metaData" in action) metaData = action.metaData;
    else if ("protocol" in action) protocol = action.protocol;
    else if ("commitInfo" in action) commit = action.commitInfo;
  }
  return protocol && metaData && commit ? { protocol, metaData, commit, files } : null;
}
