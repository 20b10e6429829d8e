// Columns of stocks that are looked up in other entities: the province of the company, the industry.
import { type Column, type Lookup, LOOKUPS } from "../catalog/types.js";
import type { ListsOf } from "./bars.js";
import { keysOf, type Plan } from "./plan.js";
import type { EntityRequest } from "./request.js";
import type { Joining, Scan } from "./scan.js";

type LookedUp = Column & { readonly lookup: Lookup };

/** The columns of a request, shown or filtered, that are looked up in other entities. */
export function lookedUpColumns({ columns, filters }: EntityRequest): readonly LookedUp[] {
  const used = [...columns, ...filters.map(({ column }) => column)];
  return [...new Set(used)].filter((column): column is LookedUp => column.lookup !== undefined);
}

/** A plan with the looked-up columns of its request. */
export function withLookups(request: EntityRequest, plan: Plan, listsOf: ListsOf): Plan {
  const { entity, order } = request;
  const columns = lookedUpColumns(request).map(({ name, lookup }): Joining["columns"][number] => ({
    name,
    lookup,
    from: LOOKUPS[lookup].map((source) => listsOf(source).byDate),
  }));
  if (columns.length === 0) return plan;
  const scans = plan.scans.map((scan): Scan => ({
    ...scan,
    files: [...scan.files, ...columns.flatMap(({ from }) => from.flat())],
    derived: { how: "joined", files: scan.files, code: entity.code, date: entity.mainDate!, columns },
    // Joined rows have no order of their own.
    order: { columns: keysOf(entity), descending: order === "desc" },
    wholeFiles: false,
    bounds: { ...scan.bounds, exact: false },
  }));
  return { ...plan, scans };
}
