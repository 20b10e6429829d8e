// How the rows of a request are read: as they are stored, or made of the rows of other entities.
import type { FileList } from "../lake/manifest.js";
import { type ListsOf, planAdjustedBars, planBuiltBars } from "./bars.js";
import type { Position } from "./cursor.js";
import { withLookups } from "./lookups.js";
import { planDays, planRead, type Plan } from "./plan.js";
import { adjustedColumns, type EntityRequest } from "./request.js";

/** The rows of a request, which are in `list` if they are stored. `listsOf` gives the files of other entities. */
export function planRows(request: EntityRequest, list: FileList, listsOf: ListsOf, after: Position | null): Plan {
  const { entity, columns } = request;
  if (entity.builtFrom) return planBuiltBars(request, listsOf, after);
  const isRebuilt = adjustedColumns(request).length > 0 || columns.some(({ name }) => name === CHANGE_IN_PERCENT);
  if (request.adjust !== null && entity.adjustment?.days && isRebuilt)
    return planAdjustedBars(request, list, listsOf, after);
  if (request.asOfDays !== null) return withLookups(request, planDays(request, list, after), listsOf);
  return withLookups(request, planRead(request, list, after), listsOf);
}

/** It is not a price, but it follows from two of them. */
const CHANGE_IN_PERCENT = "pct_chg";
