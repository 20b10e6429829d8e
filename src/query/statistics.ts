// Statistics of the columns of an entity: the parameters of a request, and the read of a column.
import type { Column, Entity } from "../catalog/types.js";
import type { FileList } from "../lake/manifest.js";
import { parseRequest, type EntityRequest } from "./request.js";
import { scanOf, type Read } from "./scan.js";

/** `fields` chooses columns, `data_version` an older version. Throws a Problem for anything else. */
export const parseStatisticsRequest = (
  entity: Entity,
  search: URLSearchParams,
): Pick<EntityRequest, "columns" | "dataVersion"> =>
  parseRequest(entity, search, { defaultLimit: null, maxLimit: null }, ["fields", "data_version"]);

/** One row about all stored rows: missing values, distinct values, least, greatest, last main date with a value. */
export function statisticsRead(entity: Entity, { byDate }: FileList, column: Column): Read {
  const valueOrNull = { type: column.type, nullable: true } as const;
  const columns: readonly Column[] = [
    { name: "nulls", type: "int64", nullable: false },
    { name: "distinct", type: "int64", nullable: false },
    { name: "min", ...valueOrNull },
    { name: "max", ...valueOrNull },
    { name: "last", type: "date", nullable: true },
  ];
  if (byDate.length === 0) return { columns, scans: [] };
  const select = { what: "statistics", value: { column }, date: entity.mainDate } as const;
  return { columns, scans: [scanOf(byDate, select, { bounds: { atMost: 1, exact: true } })] };
}
