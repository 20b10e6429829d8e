// Makes a plan from a request and a version of the lake: scans in the order of the response. Pure: no I/O, no clock.
import { columnNamed } from "../catalog/index.js";
import type { Column, Entity } from "../catalog/types.js";
import type { FileList } from "../lake/manifest.js";
import { chooseFiles, mostRows, rowsToRead } from "./choose.js";
import {
  afterTests,
  announcedTests,
  betweenTests,
  filterTest,
  keepsOrder,
  shown,
  spanOf,
  wantedDay,
  windowOf,
  type ListDay,
} from "./conditions.js";
import type { Position } from "./cursor.js";
import { cutBackwards, isBefore, joinGroups, type FileGroup } from "./files.js";
import { adjustedColumns, codeFilter, type EntityRequest, type Filter } from "./request.js";
import { costOf, type Cost, type Read, type Scan, type Test } from "./scan.js";

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
  const { entity, columns, limit, order } = request;
  const position = limit === null && adjustedColumns(request).length === 0 ? null : keysOf(entity);
  const day = wantedDay(request, list);
  const window = windowOf(request, day);
  const codes = codesOf(request);
  const chosen = chooseFiles(list, window, codes).filter((group) => !isBefore(group, after, order));
  const groups =
    order === "asc"
      ? joinGroups(chosen, limit)
      : chosen.toReversed().flatMap((group) => cutBackwards(group, limit, after));
  const scans = groups.map((group): Scan => {
    const span = spanOf(group, window);
    const tests = testsOf(request, span, day, after);
    return {
      files: group.files,
      select: { what: "rows", columns: columns.map((column) => shown(request, column)), position },
      tests,
      order: orderOf(request, group, day),
      rowRange: group.rowRange,
      limit: null,
      bounds: { atMost: mostRows(group, entity, span, codes), exact: tests.length === 0 },
      wholeFiles: limit === null && order === "asc" && group.clustering === "byDate" && span.every(isOpen),
    };
  });
  const rows = groups.reduce((sum, group) => sum + rowsToRead(group, window, codes), 0);
  // A page without conditions on its rows ends when it is full.
  const ofPage = limit !== null && request.filters.length === 0 && request.asOf === null ? limit : Infinity;
  return {
    columns: [...columns, ...(position === null ? [] : positionColumns(entity))],
    positionColumns: position === null ? 0 : position.length + 1,
    scans,
    cost: costOf(Math.min(rows, ofPage)),
  };
}

const isOpen = (bound: string | null): boolean => bound === null;

/** The requested codes; null if there is no filter by code, or if codes may be written in two ways. */
const codesOf = (request: EntityRequest): Filter["values"] | null =>
  request.entity.bareCodes ? null : (codeFilter(request)?.values ?? null);

/** The columns by which files are sorted: main date (if there is one) and code. */
const keysOf = ({ mainDate, code }: Entity): readonly string[] => [...(mainDate === null ? [] : [mainDate]), code];

/** Main date and code under names that no entity uses, then the row number in the file. */
function positionColumns(entity: Entity): readonly Column[] {
  const date = entity.mainDate === null ? [] : [{ ...columnNamed(entity, entity.mainDate)!, name: "__date" }];
  const code = { ...columnNamed(entity, entity.code)!, name: "__code" };
  return [...date, code, { name: "__row", type: "int64", nullable: false }];
}

function testsOf(
  request: EntityRequest,
  span: readonly [string | null, string | null],
  day: ListDay,
  after: Position | null,
): readonly Test[] {
  const { entity, filters } = request;
  const last: Test[] = day && "latestIn" in day ? [{ is: "last", column: entity.mainDate!, until: day.until }] : [];
  return [
    ...betweenTests(entity.mainDate, span),
    ...filters.map((filter) => filterTest(request, filter)),
    ...announcedTests(request),
    ...last,
    ...afterTests(request, after),
  ];
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
