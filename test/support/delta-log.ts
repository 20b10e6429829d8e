// A Delta log as an independent reader replays it: from the newest checkpoint up to a version, and the commits after it.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { sharedWriter } from "./upkeep.js";

interface Action {
  readonly commitInfo?: {
    readonly inCommitTimestamp: number;
    readonly operation: string;
    readonly operationParameters: Readonly<Record<string, string>>;
  };
  readonly metaData?: { readonly id: string; readonly schemaString: string };
  readonly protocol?: object;
  readonly add?: { readonly path: string; readonly size: number; readonly dataChange: boolean; readonly stats: string };
  readonly remove?: { readonly path: string; readonly dataChange: boolean };
}

export interface Replayed {
  readonly version: number;
  /** What its commit says of the lake. */
  readonly commit: NonNullable<Action["commitInfo"]>;
  /** Paths and bytes, relative to the folder of the entity, in the order of their names. */
  readonly files: readonly string[];
  readonly tableId: string;
}

const logOf = (root: string, entity: string): string => join(root, "lake", entity, "_delta_log");

async function versionsOf(folder: string, suffix: string): Promise<readonly number[]> {
  const names = await readdir(folder).catch((): string[] => []);
  const ours = names.filter((name) => name.length === 20 + suffix.length && name.endsWith(suffix));
  return ours.map((name) => Number(name.slice(0, 20))).sort((a, b) => a - b);
}

const padded = (version: number): string => String(version).padStart(20, "0");

/** The actions of a commit. */
export async function actionsOf(root: string, entity: string, version: number): Promise<readonly Action[]> {
  const text = await readFile(join(logOf(root, entity), `${padded(version)}.json`), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Action);
}

/** The versions that the log has, oldest first. */
export const deltaVersionsOf = (root: string, entity: string): Promise<readonly number[]> =>
  versionsOf(logOf(root, entity), ".json");

/** Every version that can be replayed, oldest first. */
export async function replayAll(root: string, entity: string): Promise<readonly Replayed[]> {
  const folder = logOf(root, entity);
  const checkpoints = await versionsOf(folder, ".checkpoint.parquet");
  const replayed: Replayed[] = [];
  for (const version of await deltaVersionsOf(root, entity)) {
    const checkpoint = checkpoints.findLast((one) => one <= version);
    const files = new Map<string, number>();
    let tableId = "";
    if (checkpoint !== undefined) {
      const path = join(folder, `${padded(checkpoint)}.checkpoint.parquet`);
      const rows = await (
        await sharedWriter()
      ).rows(`SELECT add.path AS path, add.size::BIGINT AS size, metaData.id AS id FROM read_parquet($1)`, [path]);
      for (const { path: name, size } of rows) if (name !== null) files.set(String(name), Number(size));
      tableId = String(rows.find(({ id }) => id !== null)!["id"]);
    }
    const first = checkpoint === undefined ? 0 : checkpoint + 1;
    for (let one = first; one <= version; one++) {
      for (const { add, remove, metaData } of await actionsOf(root, entity, one)) {
        if (remove && !files.delete(remove.path)) throw new Error(`version ${one} removes ${remove.path} twice`);
        if (add) files.set(add.path, add.size);
        if (metaData) tableId = metaData.id;
      }
    }
    const [{ commitInfo }] = (await actionsOf(root, entity, version)) as [Action];
    const shown = [...files].map(([path, size]) => `${path} ${size}`).sort();
    replayed.push({ version, commit: commitInfo!, files: shown, tableId });
  }
  return replayed;
}
