// Changes between two versions of an entity: the parameters of a request, its columns, and its plan.
import { parametersOf } from "../catalog/parameters.js";
import type { Column, Entity } from "../catalog/types.js";
import type { FileList } from "../lake/manifest.js";
import { differingParts, type Part } from "./changed-dates.js";
import { betweenTests, filterTest, requestedDates } from "./conditions.js";
import type { Position } from "./cursor.js";
import { rowsIn } from "./files.js";
import { collectParameters, required, single } from "./parameters.js";
import type { Plan } from "./plan.js";
import { longestList, parseRequest, parseVersion, type EntityRequest, type RequestLimits } from "./request.js";
import { costOf, scanOf, type ChangesSelect, type Read, type Scan, type Test } from "./scan.js";

/** `dataVersion` is the version that is compared with `from`; null is the current one. */
export interface ChangesRequest extends EntityRequest {
  readonly from: string;
}

/** The parameters of the entity that hold for changes: those of the range and of the page, and filters by identity. */
export function changesParameters(entity: Entity): readonly string[] {
  const isTaken = (name: string): boolean =>
    ["start_date", "end_date", "limit", "cursor", "format", "dates", "compression", "bom"].includes(name);
  const taken = parametersOf(entity).filter((parameter) =>
    parameter.kind === "filter" ? entity.identity.includes(parameter.column.name) : isTaken(parameter.name),
  );
  return ["from", "to", ...taken.map(({ name }) => name)];
}

/** Throws a Problem that names the parameter and the accepted values. */
export function parseChangesRequest(entity: Entity, search: URLSearchParams, limits: RequestLimits): ChangesRequest {
  const known = changesParameters(entity);
  const parameters = collectParameters(search, known);
  return {
    ...parseRequest(entity, search, limits, known),
    columns: changesColumns(entity),
    from: required("from", single(parameters, "from", parseVersion), "a data_version from /api/v1/versions"),
    dataVersion: single(parameters, "to", parseVersion),
  };
}

const TEXT = { type: "text", nullable: true } as const;

/** The columns of the response: the kind of change, the identity, and the changed column with its values as text. */
export function changesColumns(entity: Entity): readonly Column[] {
  const parts = ["column", "before", "after"].map((name): Column => ({ name, ...TEXT }));
  return [{ name: "change", type: "text", nullable: false }, ...identityOf(entity), ...parts];
}

/** The columns of the identity, in the order of the entity. */
const identityOf = ({ columns, identity }: Entity): readonly Column[] =>
  columns.filter(({ name }) => identity.includes(name));

/** The columns of a page's position: main date (if there is one), and the number of the row on that date. */
function positionColumns({ mainDate }: Entity): readonly Column[] {
  const date: readonly Column[] = mainDate === null ? [] : [{ name: "__date", type: "date", nullable: true }];
  return [...date, { name: "__row", type: "int64", nullable: false }];
}

/** The scans of a request, in date order; `after` is the end of the previous page. */
export function planChanges(request: EntityRequest, older: FileList, newer: FileList, after: Position | null): Plan {
  const { entity, filters, limit } = request;
  const position = limit === null ? [] : positionColumns(entity);
  const parts = differingParts(older, newer, requestedDates(request), mostRows(entity)).flatMap((part) =>
    from(part, after),
  );
  const tests = filters.map((filter) => filterTest(request, filter));
  const shows = { shows: "cells", numbered: limit !== null, after: null } as const;
  return {
    columns: [...changesColumns(entity), ...position],
    positionColumns: position.length,
    scans: parts.map((part) => {
      const continues = after !== null && part.first === after.date;
      return scanPart(entity, part, tests, {
        ...shows,
        after: continues ? { date: after.date, row: after.row } : null,
      });
    }),
    cost: costOf(
      parts.reduce((sum, { rows }) => sum + rows, 0),
      longestList(request),
    ),
  };
}

/**
 * For each part of all dates and each kind of change: the kind, the number of rows, and the first and the last of their
 * dates.
 */
export function countsRead(entity: Entity, older: FileList, newer: FileList): Read {
  const parts = differingParts(older, newer, { start: null, end: null }, mostRows(entity));
  const columns: readonly Column[] = [
    { name: "change", type: "text", nullable: false },
    { name: "rows", type: "int64", nullable: false },
    { name: "first", type: "date", nullable: true },
    { name: "last", type: "date", nullable: true },
  ];
  const shows = { shows: "counts", numbered: false, after: null } as const;
  return { columns, scans: parts.map((part) => scanPart(entity, part, [], shows)) };
}

/** Values of both versions that one statement compares: it holds one version of them in memory. */
const VALUES_AT_ONCE = 4_000_000;

const mostRows = ({ columns }: Entity): number => Math.ceil(VALUES_AT_ONCE / columns.length);

/** What is left of a part after the previous page: it begins on the date on which the page ended. */
function from(part: Part, after: Position | null): readonly Part[] {
  if (after === null || part.first === null) return [part];
  if (after.date === null || part.last! < after.date) return [];
  return [part.first < after.date ? { ...part, first: after.date } : part];
}

function scanPart(
  entity: Entity,
  { first, last, older, newer }: Part,
  tests: readonly Test[],
  shows: Pick<ChangesSelect, "shows" | "numbered" | "after">,
): Scan {
  const files = [...older, ...newer];
  const [start, end] = [older, newer].reduce<readonly (string | null)[]>(
    ([lo, hi], side) => [
      side.length > 0 && side[0]!.first! < first! ? first : lo!,
      side.length > 0 && side.at(-1)!.last! > last! ? last : hi!,
    ],
    [null, null],
  );
  const identity = identityOf(entity);
  const select: ChangesSelect = {
    what: "changes",
    older: older.length,
    isGroup: entity.identityIs !== "row",
    identity,
    columns: entity.columns,
    order: entity.order.filter((name) => entity.identity.includes(name)),
    date: entity.mainDate,
    ...shows,
  };
  const cells = Math.max(1, entity.columns.length - identity.length);
  return scanOf(files, select, {
    tests: [...betweenTests(entity.mainDate, [start!, end!]), ...tests],
    bounds: { atMost: shows.shows === "counts" ? CHANGES.length : rowsIn(files) * cells, exact: false },
  });
}

/** The kinds of change. */
const CHANGES = ["added", "removed", "changed"] as const;
export type Change = (typeof CHANGES)[number];
