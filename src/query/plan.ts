// Makes a plan from a request and a version of the lake: scans in the order of the response. Pure: no I/O, no clock.
import { columnNamed } from "../catalog/index.js";
import type { Column, Entity } from "../catalog/types.js";
import type { FileList } from "../lake/manifest.js";
import { AS_OF, isSchedule } from "./as-of.js";
import {
  betweenTests,
  conditionsOn,
  datesToTest,
  filterTest,
  keepsOrder,
  type ListDay,
  numberingOf,
  requestedDates,
  shown,
  testsOf,
  testsOnNumbered,
  wantedDay,
} from "./conditions.js";
import {
  chooseFiles,
  type DateBounds,
  dateGroup,
  mostRows,
  rowsIn,
  rowsToRead,
  cutBackwards,
  groupsOf,
  isBefore,
  isBehind,
  rowsOfGroup,
  joinGroups,
  type FileGroup,
} from "./files.js";
import type { Position } from "./cursor.js";
import { adjustedColumns, codeFilter, longestList, shownKeys, type EntityRequest, type Filter } from "./request.js";
import { costOf, type Cost, type Expression, type Numbering, type Part, type Read, type Scan } from "./scan.js";

export interface Plan extends Read {
  /**
   * How many of `columns`, at the end, hold the position: main date (if there is one), code, row number in its file.
   */
  readonly positionColumns: number;
  /** By the number of rows that have to be read. */
  readonly cost: Cost;
}

/**
 * `list` holds the entity's files in the version that is read; `after` is the end of the previous page. Scans after the
 * one that reaches `limit` need not be run.
 */
export function planRead(request: EntityRequest, list: FileList, after: Position | null): Plan {
  const { entity, limit, order } = request;
  const needsKeys = adjustedColumns(request).length > 0 && shownKeys(request) === null;
  const position = limit === null && !needsKeys ? null : keysOf(entity);
  const numbering = numberingOf(request);
  if (numbering !== null) return planNumbered(request, numbering, list, after, position);
  const day = wantedDay(request, list);
  const dates = requestedDates(request, day);
  const codes = codesOf(request);
  const left = leftGroups(groupsOf(list, dates, codes, order), after, order);
  // A page ends when it is full, unless it has to look for rows that meet a condition.
  const ofPage = limit !== null && conditionsOn(request, day).length === 0 ? limit : Infinity;
  const scans: Scan[] = [];
  let [rows, certain] = [0, 0];
  for (const group of order === "asc" ? joinGroups(left, limit) : backwards(left, limit, after)) {
    const tested = datesToTest(group, dates);
    const tests = testsOf(request, tested, day, after);
    scans.push({
      files: group.files,
      select: selectOf(request, position),
      derived: null,
      tests,
      order: orderOf(request, group, day),
      rowRange: group.rowRange,
      limit: null,
      bounds: { atMost: mostRows(group, entity, tested, codes), exact: tests.length === 0 },
      wholeFiles: limit === null && order === "asc" && group.clustering === "byDate" && tested.every(isOpen),
    });
    rows += rowsToRead(group, dates, codes);
    if (tested.every(isOpen) && isBehind(group, after, order)) certain += rowsOfGroup(group);
    if (certain > ofPage) break;
  }
  return { ...columnsOf(request, position), scans, cost: costOf(Math.min(rows, ofPage), longestList(request)) };
}

/** The groups with rows that were not on previous pages. */
function* leftGroups(
  groups: Iterable<FileGroup>,
  after: Position | null,
  order: EntityRequest["order"],
): Generator<FileGroup, void, undefined> {
  for (const group of groups) if (!isBefore(group, after, order)) yield group;
}

function* backwards(
  groups: Iterable<FileGroup>,
  limit: number | null,
  after: Position | null,
): Generator<FileGroup, void, undefined> {
  for (const group of groups) yield* cutBackwards(group, limit, after);
}

/** The files of an entity in a range, and the tests of its dates and of `codes`; null for all codes. */
export function partsOf(
  entity: Entity,
  list: FileList,
  dates: DateBounds,
  request: EntityRequest,
  codes = codeFilter(request),
): readonly Part[] {
  const groups = chooseFiles(list, dates, codes?.values ?? null);
  const byDate = groups.filter(({ clustering }) => clustering === "byDate").flatMap(({ files }) => files);
  const joined = byDate.length === 0 ? [] : [dateGroup(byDate)];
  return [...joined, ...groups.filter(({ clustering }) => clustering === "byCode")].map((group) => ({
    files: group.files,
    tests: [
      ...betweenTests(entity.mainDate, datesToTest(group, dates)),
      ...(codes ? [filterTest(request, codes)] : []),
    ],
  }));
}

/** One scan of all files, since the revisions of one thing may be in any of them. */
function planNumbered(
  request: EntityRequest,
  numbering: Numbering,
  list: FileList,
  after: Position | null,
  position: readonly string[] | null,
): Plan {
  const numbered = request.asOf === null ? request : { ...request, start: null, end: null, filters: [] };
  const files = chooseFiles(list, requestedDates(numbered), codesOf(request)).flatMap((group) => group.files);
  const rows = rowsIn(files);
  const scan: Scan = {
    files,
    select: selectOf(request, position),
    derived: numbering,
    tests: testsOnNumbered(request, after),
    order: { columns: keysOf(request.entity), descending: request.order === "desc" },
    rowRange: null,
    limit: null,
    bounds: { atMost: rows, exact: false },
    wholeFiles: false,
  };
  return {
    ...columnsOf(request, position),
    scans: files.length === 0 ? [] : [scan],
    cost: costOf(rows, longestList(request)),
  };
}

/**
 * The scans of each day of `as_of`, in their order. The day is the first column, and comes before the position. Throws
 * if the days are still to be found.
 */
export function planDays(request: EntityRequest, list: FileList, after: Position | null): Plan {
  const { asOfDays, order, columns } = request;
  if (asOfDays === null || isSchedule(asOfDays)) throw new Error("the days of as_of are not known yet");
  const reached = after?.asOf;
  const left = asOfDays.filter((day) => reached === undefined || (order === "asc" ? day >= reached : day <= reached));
  const plans = (order === "asc" ? left : left.toReversed()).map((asOf) => ({
    asOf,
    plan: planRead({ ...request, asOf, asOfDays: null }, list, asOf === reached ? after : null),
  }));
  const position = request.limit === null ? null : keysOf(request.entity);
  const own = columnsOf(request, position);
  const column: Column = { ...AS_OF, name: "__as_of" };
  const scans = plans.flatMap(({ asOf, plan }) =>
    plan.scans.map((scan) => (position === null ? scan : withColumn(scan, { column, constant: asOf }))),
  );
  const isHeavy = plans.some(({ plan }) => plan.cost === "heavy");
  return {
    columns: position === null ? own.columns : [...columns, column, ...own.columns.slice(columns.length)],
    positionColumns: own.positionColumns + (position === null ? 0 : 1),
    scans,
    cost: isHeavy
      ? "heavy"
      : costOf(
          scans.reduce((sum, { bounds }) => sum + bounds.atMost, 0),
          longestList(request),
        ),
  };
}

/** A scan of rows with one more column, before those of the position. */
function withColumn(scan: Scan, expression: Expression): Scan {
  const { select } = scan;
  return select.what === "rows" ? { ...scan, select: { ...select, columns: [...select.columns, expression] } } : scan;
}

export const selectOf = (request: EntityRequest, position: readonly string[] | null): Scan["select"] => ({
  what: "rows",
  columns: request.columns.map((column) => shown(request, column)),
  position,
});

export const columnsOf = (
  { entity, columns }: EntityRequest,
  position: readonly string[] | null,
): Pick<Plan, "columns" | "positionColumns"> => ({
  columns: [...columns, ...(position === null ? [] : positionColumns(entity))],
  positionColumns: position === null ? 0 : position.length + 1,
});

const isOpen = (bound: string | null): boolean => bound === null;

/** The requested codes; null if there is no filter by code, or if codes may be written in two ways. */
const codesOf = (request: EntityRequest): Filter["values"] | null =>
  request.entity.bareCodes ? null : (codeFilter(request)?.values ?? null);

/** The columns by which files are sorted: main date (if there is one) and code. */
export const keysOf = ({ mainDate, code }: Entity): readonly string[] => [
  ...(mainDate === null ? [] : [mainDate]),
  code,
];

/** Main date and code under names that no entity uses, then the row number in the file. */
function positionColumns(entity: Entity): readonly Column[] {
  const date = entity.mainDate === null ? [] : [{ ...columnNamed(entity, entity.mainDate)!, name: "__date" }];
  const code = { ...columnNamed(entity, entity.code)!, name: "__code" };
  return [...date, code, { name: "__row", type: "int64", nullable: false }];
}

/**
 * Files are sorted. Only a descending read, several codes of the code copy, and a test that becomes a join need another
 * sort.
 */
function orderOf(request: EntityRequest, { clustering }: FileGroup, day: ListDay): Scan["order"] {
  const { entity, filters } = request;
  const inFileOrder = clustering === "byDate" || codeFilter(request)?.values.length === 1;
  if (request.order === "desc") return { columns: inFileOrder ? [] : keysOf(entity), descending: true };
  const joins = (day !== null && "latestIn" in day) || filters.some((filter) => !keepsOrder(request, filter));
  return inFileOrder && !joins ? null : { columns: keysOf(entity), descending: false };
}
