// The files that a statement reads: checked, and held until its last byte; or their addresses for a cluster.
import { resolve } from "node:path";
import { entityNamed } from "../catalog/index.js";
import type { Column } from "../catalog/types.js";
import type { ClusterTable } from "../cluster/views.js";
import { Problem } from "../errors.js";
import type { Integrity } from "../lake/integrity.js";
import type { Lake, Snapshot } from "../lake/lake.js";
import { nameOf } from "../lake/layout.js";
import { placeOf } from "../lake/mirror/binding.js";
import { isBucketAddress } from "../objects/address.js";
import { type DataFile, emptyList, type FileList } from "../lake/manifest.js";
import type { Files } from "./messages.js";

export interface HeldFiles {
  readonly files: Files;
  /** Passes pieces on, and ends only after a check that the files did not change while they were read. */
  thenCheck(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
  leave(): void;
}

/** Rejects with DamagedFileError if one of the files of these entities is damaged. */
export async function holdFiles(
  integrity: Integrity,
  snapshot: Snapshot,
  entities: readonly string[],
): Promise<HeldFiles> {
  const lists = listsOf(snapshot, entities);
  const { pathOf, checkAgain, leave } = await integrity.hold(lists.flatMap(({ byDate }) => byDate));
  return {
    files: filesIn(lists, pathOf),
    async *thenCheck(pieces) {
      yield* pieces;
      await checkAgain();
    },
    leave,
  };
}

/** Statements read files by date alone. */
const listsOf = (snapshot: Snapshot, entities: readonly string[]): readonly FileList[] =>
  entities.map((name) => ({ ...snapshot.files(name), byCode: [] }));

const filesIn = (lists: readonly FileList[], pathOf: (file: DataFile) => string): Files => ({
  lists: Object.fromEntries(lists.map((list) => [list.entity, list])),
  paths: Object.fromEntries(lists.flatMap(({ byDate }) => byDate).map((file) => [file.path, pathOf(file)])),
});

/**
 * The addresses of the same files for a cluster. Their rows are counted there, and they are not fetched here. A version that
 * is removed meanwhile ends the statement: its files may be gone.
 */
export async function filesForCluster(
  { data }: { readonly data: string | null },
  lake: Lake,
  snapshot: Snapshot,
  entities: readonly string[],
): Promise<HeldFiles> {
  const place = data ?? (await placeOf(lake.layout));
  const folder = nameOf(lake.layout, lake.layout.lake);
  const root = isBucketAddress(place) ? place : resolve(place);
  const { data_version } = snapshot.version;
  return {
    files: filesIn(listsOf(snapshot, entities), ({ path }) => `${root}/${folder}/${path}`),
    async *thenCheck(pieces) {
      yield* pieces;
      if ((await lake.at(data_version)) === "removed")
        throw new Problem("version_removed", `data_version ${data_version} was removed while the cluster read it`);
    },
    leave: () => undefined,
  };
}

/** The columns that the data files of an entity have. */
export const storedColumns = (name: string): readonly Column[] =>
  entityNamed(name)!.columns.filter(({ lookup, derived }) => lookup === undefined && derived === undefined);

/** The entities of a statement as tables of a cluster; `names` are theirs. */
export const tablesOf = (names: Iterable<string>, { lists, paths }: Files): readonly ClusterTable[] =>
  [...names].map((name) => {
    const { byDate, rows } = lists[name] ?? emptyList(name);
    return { name, columns: storedColumns(name), files: byDate.map(({ path }) => paths[path]!), rows };
  });
