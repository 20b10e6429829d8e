// Adjusted prices: the factors that a request needs, in the order of its rows, and the last factor of each code.
import { columnNamed, entityNamed } from "../catalog/index.js";
import type { Adjustment, Column, Entity } from "../catalog/types.js";
import type { FileList } from "../lake/manifest.js";
import { chooseFiles } from "./choose.js";
import { betweenTests, filterTest, spanOf, windowOf } from "./conditions.js";
import type { Position } from "./cursor.js";
import { dateGroup } from "./files.js";
import { planRead, type Plan } from "./plan.js";
import { codeFilter, type EntityRequest } from "./request.js";
import { scanOf, type Read, type Scan } from "./scan.js";

interface Factors {
  readonly entity: Entity;
  readonly date: Column;
  readonly code: Column;
  readonly factor: Column;
}

function factorsOf({ factors, factor }: Adjustment): Factors {
  const entity = entityNamed(factors)!;
  const [date, code, value] = [entity.mainDate!, entity.code, factor].map((name) => columnNamed(entity, name)!);
  return { entity, date: date!, code: code!, factor: value! };
}

/**
 * Reads at least the factors of every row of the response, in the order of its rows: date, code and factor are the
 * first columns. `list` holds the files of the factors; `after` is the end of the previous page. The other conditions
 * of the request apply to the factors too.
 */
export function planFactors(request: EntityRequest, list: FileList, after: Position | null): Plan {
  const { entity, date, code, factor } = factorsOf(request.entity.adjustment!);
  const { filters, order, start, end, limit, asOf, dataVersion, cursor, format } = request;
  const from = after?.date ?? null;
  const bounds = order === "asc" ? { start: from ?? start, end } : { start, end: from ?? end };
  const columns = [date, code, factor];
  const same = { filters, order, limit, asOf, dataVersion, cursor, format };
  return planRead({ entity, columns, adjust: null, ...bounds, ...same }, list, null);
}

/**
 * The last factor of each code up to the request's `end_date`, or of all dates if it has none: code, its date, factor.
 * A code may occur several times. Factors before the first requested date are left out: no row needs them.
 */
export function lastFactorsRead(request: EntityRequest, list: FileList): Read {
  const { date, code, factor } = factorsOf(request.entity.adjustment!);
  const window = { start: windowOf(request).start, end: request.end };
  const codes = codeFilter(request);
  const groups = chooseFiles(list, window, codes?.values ?? null);
  const byDate = groups.filter(({ clustering }) => clustering === "byDate").flatMap(({ files }) => files);
  const joined = byDate.length === 0 ? [] : [dateGroup(byDate)];
  const scans = [...joined, ...groups.filter(({ clustering }) => clustering === "byCode")].map((group): Scan => {
    const select = { what: "latest", code: code.name, date: date.name, value: factor.name } as const;
    const tests = [
      { is: "positive", column: factor.name } as const,
      ...betweenTests(date.name, spanOf(group, window)),
      ...(codes ? [filterTest(request, codes)] : []),
    ];
    return scanOf(group.files, select, { tests });
  });
  return { columns: [code, date, factor], scans };
}
