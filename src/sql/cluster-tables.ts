// The entities of a statement as tables of a cluster, over the explicit files of one version.
import { entityNamed } from "../catalog/index.js";
import type { Column } from "../catalog/types.js";
import type { ClusterTable } from "../cluster/views.js";
import { emptyList } from "../lake/manifest.js";
import type { Files } from "./messages.js";

/** The columns that the data files of an entity have. */
export const storedColumns = (name: string): readonly Column[] =>
  entityNamed(name)!.columns.filter(({ lookup, derived }) => lookup === undefined && derived === undefined);

/** `names` are those of entities. */
export const tablesOf = (names: Iterable<string>, { lists, paths }: Files): readonly ClusterTable[] =>
  [...names].map((name) => {
    const { byDate, rows } = lists[name] ?? emptyList(name);
    return { name, columns: storedColumns(name), files: byDate.map(({ path }) => paths[path]!), rows };
  });
