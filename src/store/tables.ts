// Keeps the Delta tables of a lake: with each publication, and when asked. Tables follow from versions and never hold one up.
import { mkdir } from "node:fs/promises";
import { ENTITIES, ENTITY_NAMES } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import { chinaTime } from "../dates.js";
import { followEntity } from "../delta/follow.js";
import { cleanLog, type DeltaVersion, deltaVersions, removeLog } from "../delta/history.js";
import { reasonOf } from "../errors.js";
import { type DeltaState, NO_FAILURES, readDeltaState } from "../lake/delta-state.js";
import { type Lake, openLake } from "../lake/lake.js";
import { layoutOf, type Layout } from "../lake/layout.js";
import { withLock } from "../lock.js";
import { mirrorOf } from "../lake/mirror/mirror.js";
import { below } from "../objects/below.js";
import { openFolder } from "../objects/folder.js";
import type { ObjectStore } from "../objects/object-store.js";
import { putShared, removeShared } from "./shared-file.js";

/** How long a publication waits for another process that writes tables, in milliseconds. */
const PATIENCE = 10_000;

/** From now on every publication writes the tables. Resolves to the number of commits that this wrote. */
export async function beginTables(root: string): Promise<number> {
  const layout = layoutOf(root);
  await mkdir(layout.state, { recursive: true });
  if ((await readDeltaState(layout)) === null) await writeState(layout, NO_FAILURES);
  return (await followTables(layout))!;
}

/** Removes all logs; the data files belong to the lake. Resolves to the number of tables that there were. */
export async function endTables(root: string): Promise<number> {
  const layout = layoutOf(root);
  await mkdir(layout.state, { recursive: true });
  return withTables(layout, async (_, objects) => {
    await removeShared(layout, layout.delta);
    let tables = 0;
    for (const entity of ENTITIES) if (await removeLog(objects, entity)) tables++;
    return tables;
  });
}

/**
 * Brings tables up to the served version. Resolves to the number of commits; to null if the lake has no tables. Throws an
 * OperatorError if a log cannot be written.
 */
export async function followTables(layout: Layout, names = ENTITY_NAMES): Promise<number | null> {
  if ((await readDeltaState(layout)) === null) return null;
  return withTables(layout, async (lake, objects) => {
    let commits = 0;
    const state = await readDeltaState(layout);
    if (state === null || lake.current().version.sequence === 0) return commits;
    for (const entity of ENTITIES) {
      if (names.includes(entity.name)) commits += await followEntity(lake, objects, entity);
    }
    if (state.last !== null && names.length === ENTITY_NAMES.length) await writeState(layout, { ...state, last: null });
    return commits;
  });
}

/** The same after a publication: a failure is counted and logged, and the next time catches up. */
export async function keepTables(
  layout: Layout,
  names: readonly string[],
  log: (line: string) => void = () => undefined,
): Promise<void> {
  const before = await readDeltaState(layout).catch(() => null);
  if (before === null) return;
  try {
    // What failed before is made up for now.
    await followTables(layout, before.last === null ? names : ENTITY_NAMES);
    if (before.last !== null) log("the Delta tables are up to date again");
  } catch (error) {
    const reason = reasonOf(error);
    if (before.last === null) log(`the Delta tables are behind: ${reason}`);
    const state = { failures: before.failures + 1, last: { time: chinaTime(new Date()), reason } };
    await writeState(layout, state).catch(() => undefined);
  }
}

/** Removes the commits of versions that a vacuum has removed. */
export async function cleanTables(layout: Layout): Promise<void> {
  if ((await readDeltaState(layout)) === null) return;
  await withTables(layout, async (lake, objects) => {
    for (const entity of ENTITIES) await cleanLog(lake, objects, entity);
  });
}

/** The newest version of each table; with an entity, all versions of its table, oldest first. */
export async function listTables(root: string, entity?: Entity): Promise<readonly DeltaVersion[]> {
  const lake = await openLake(root);
  const objects = await openLogs(lake.layout);
  if (entity) return deltaVersions(lake, objects, entity);
  const newest: DeltaVersion[] = [];
  for (const one of ENTITIES) newest.push(...(await deltaVersions(lake, objects, one)).slice(-1));
  return newest;
}

async function withTables<T>(layout: Layout, work: (lake: Lake, objects: ObjectStore) => Promise<T>): Promise<T> {
  const lake = await openLake(layout.root);
  const objects = await openLogs(layout);
  try {
    return await withLock(layout.deltaLock, () => work(lake, objects), PATIENCE, false);
  } finally {
    objects.close();
  }
}

const writeState = (layout: Layout, state: DeltaState): Promise<void> =>
  putShared(layout, layout.delta, `${JSON.stringify(state)}\n`);

/** Where the data files are, and the logs beside them. */
async function openLogs(layout: Layout): Promise<ObjectStore> {
  const mirror = await mirrorOf(layout);
  return mirror === null ? openFolder(layout.lake) : below(mirror.objects, "lake/");
}
