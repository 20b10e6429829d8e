// Adjusted prices: the factors that a request needs, in the order of its rows, and the last factor of each code.
import { columnNamed, entityNamed } from "../catalog/index.js";
import type { Adjustment, Column, Entity } from "../catalog/types.js";
import { firstDayOf } from "../dates.js";
import type { FileList } from "../lake/manifest.js";
import { requestedDates } from "./conditions.js";
import type { DateBounds } from "./files.js";
import type { Position } from "./cursor.js";
import { partsOf, planRead, type Plan } from "./plan.js";
import type { EntityRequest } from "./request.js";
import { scanOf, type CodeDates, type Read, type Scan } from "./scan.js";

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
 * Reads at least the factors of every row of these scans of the response, in the order of its rows: date, code and factor
 * are the first columns. `list` holds the files of the factors; `after` is the end of the previous page. The other
 * conditions of the request apply to the factors too.
 */
export function planFactors(
  request: EntityRequest,
  list: FileList,
  after: Position | null,
  rows: readonly Scan[],
): Plan {
  const { entity, date, code, factor } = factorsOf(request.entity.adjustment!);
  const { filters, order, start, end, limit, asOf, dataVersion, cursor, format, compression, bom } = request;
  const from = after?.date ?? null;
  const asked = order === "asc" ? { start: from ?? start, end } : { start, end: from ?? end };
  const bounds = within(asked, rows);
  const columns = [date, code, factor];
  const shown = { format, compression, bom, dates: null };
  const same = { filters, order, limit, asOf, asOfDays: null, latest: null, dataVersion, cursor, ...shown };
  return planRead({ entity, columns, adjust: null, adjustVolume: null, ...bounds, ...same }, list, null);
}

/** The dates that the files of these scans may hold. */
function within({ start, end }: DateBounds, scans: readonly Scan[]): DateBounds {
  const files = scans.flatMap((scan) => scan.files);
  const [firsts, lasts] = [files.map(({ first }) => first), files.map(({ last }) => last)];
  if (files.length === 0 || firsts.includes(null) || lasts.includes(null)) return { start, end };
  const starts = [firsts.sort()[0]!, ...(start === null ? [] : [start])];
  const ends = [lasts.sort().at(-1)!, ...(end === null ? [] : [end])];
  return { start: starts.sort().at(-1)!, end: ends.sort()[0]! };
}

/** The last bar of each code in the requested range: code and date. A code may occur several times. */
export function lastBarsRead(request: EntityRequest, list: FileList): Read {
  const { entity } = request;
  const [code, date] = [entity.code, entity.mainDate!].map((name) => columnNamed(entity, name)!);
  const select = { what: "latest", code: code!.name, date: date!.name, value: null, upTo: null } as const;
  const parts = partsOf(entity, list, requestedDates(request), request);
  return { columns: [code!, date!], scans: parts.map(({ files, tests }) => scanOf(files, select, { tests })) };
}

/**
 * The last factor of each code on or before the date of its last bar: code, its date, factor. A code may occur several
 * times. Factors before the first requested date are left out: no row needs them.
 */
export function lastFactorsRead(request: EntityRequest, list: FileList, lastBars: CodeDates): Read {
  const { days, ...adjustment } = request.entity.adjustment!;
  const { entity, date, code, factor } = factorsOf(adjustment);
  const { start, end } = requestedDates(request);
  const from = start !== null && days ? firstDayOf(start, days.period) : start;
  const select = { what: "latest", code: code.name, date: date.name, value: factor.name, upTo: lastBars } as const;
  const scans = partsOf(entity, list, { start: from, end }, request).map((part): Scan => {
    const tests = [{ is: "positive", column: factor.name } as const, ...part.tests];
    return scanOf(part.files, select, { tests });
  });
  return { columns: [code, date, factor], scans };
}
