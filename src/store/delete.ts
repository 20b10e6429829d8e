// Deletes stored rows by code, day and every column that requests can be filtered by, as one version.
import { columnNamed } from "../catalog/index.js";
import { parametersOf, type EntityParameter } from "../catalog/parameters.js";
import type { Entity } from "../catalog/types.js";
import { parseDate } from "../dates.js";
import { OperatorError, nearest, Problem } from "../errors.js";
import type { Selection } from "../lake/ledger.js";
import type { Version } from "../lake/manifest.js";
import { betweenTests, filterTest, keepsOrder, requestedDates } from "../query/conditions.js";
import { parseRequest, type EntityRequest } from "../query/request.js";
import { conditionOf } from "../query/sql.js";
import { printableJson } from "../words.js";
import type { Change } from "./change.js";
import { checkChange } from "./checks.js";
import { commandEntry } from "./ledger-file.js";
import { findGone, merge, spanOfGone, type DateCount } from "./merge.js";
import { withWriteSession, type WriteOptions } from "./session.js";

export interface Deleted {
  readonly entity: string;
  readonly rows: number;
  /** The main dates of the rows, and how many each has; null for rows without one. */
  readonly days: readonly DateCount[];
  /** The published version; null for a dry run, or if no rows match. */
  readonly version: Version | null;
}

interface DeleteOptions extends WriteOptions {
  readonly dryRun?: boolean;
}

/** Deletes rows from the served version; older versions keep them. */
export async function deleteRows(
  root: string,
  entity: Entity,
  selection: Selection,
  options: DeleteOptions,
): Promise<Deleted> {
  const change = { where: removalOf(entity, selection) };
  return withWriteSession(root, options, async (session) => {
    const before = session.base.files(entity.name);
    const days = await findGone(session, entity, before, change);
    const found = { entity: entity.name, rows: days.reduce((sum, { rows }) => sum + rows, 0), days };
    if (options.dryRun || found.rows === 0) return { ...found, version: null };
    const merged = await merge(session, entity, before, change);
    const { list } = await checkChange(session, entity, session.base, change, merged, 0);
    const span = await spanOfGone(session, entity, before, change);
    const counts = { rows: found.rows, added: -found.rows, replaced: found.rows };
    const entries = [commandEntry(entity.name, { name: "delete", selection }, span, counts)];
    return { ...found, version: await session.publish([list], `delete ${entity.name}`, { entries }) };
  });
}

/** The change that deletes rows. Throws an OperatorError that names the condition that is not understood. */
export function removalOf(entity: Entity, selection: Selection): Change["where"] & object {
  const { where, all } = selection;
  const range = rangeOf(entity, selection);
  const isLimited = where.length > 0 || range.length > 0;
  if (!isLimited && !all) {
    throw new OperatorError(
      `say which rows with --where, --from or --to; to delete all rows of ${entity.name}: --all`,
      2,
    );
  }
  if (isLimited && all) throw new OperatorError("--all deletes all rows, so it takes no --where, --from or --to", 2);
  const request = requestOf(entity, where, range);
  const { start, end } = requestedDates(request);
  const tests = [
    ...betweenTests(entity.mainDate, [request.start, request.end]),
    ...request.filters.map((filter) => filterTest(request, filter)),
  ];
  return {
    condition: conditionOf(tests),
    first: start,
    last: end,
    keepsOrder: request.filters.every((filter) => keepsOrder(request, filter)),
  };
}

type Pair = readonly [string, string];

function rangeOf(entity: Entity, { from, to }: Selection): readonly Pair[] {
  const given = [
    ["--from", "start_date", from],
    ["--to", "end_date", to],
  ] as const;
  const range = given.flatMap(([option, name, text]): Pair[] => {
    if (text === null) return [];
    if (entity.mainDate === null) {
      throw new OperatorError(`${entity.name} has no main date, so ${option} has no meaning: use --where`, 2);
    }
    const date = parseDate(text);
    if (date === undefined) {
      throw new OperatorError(`${option}: ${printableJson(text)} is not a calendar day; write YYYYMMDD`, 2);
    }
    return [[name, date]];
  });
  const [start, end] = range.map(([, date]) => date);
  if (start !== undefined && end !== undefined && start > end) {
    throw new OperatorError(`--from ${start} is after --to ${end}`, 2);
  }
  return range;
}

type FilterParameter = Extract<EntityParameter, { readonly kind: "filter" }>;

/** The request for the same rows. */
function requestOf(entity: Entity, where: readonly Pair[], range: readonly Pair[]): EntityRequest {
  const filters = parametersOf(entity).filter((one): one is FilterParameter => one.kind === "filter");
  const unknown = where.find(([name]) => !filters.some((one) => one.name === name));
  if (unknown) throw new OperatorError(unknownColumn(entity, unknown[0], filters), 2);
  const search = new URLSearchParams([...where, ...range].map(([name, value]): [string, string] => [name, value]));
  try {
    return parseRequest(entity, search, { defaultLimit: null, maxLimit: null });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { hint, allowed } = error.extras;
    const way = hint ?? (allowed ? `allowed: ${allowed.slice(0, 10).join(", ")}` : undefined);
    throw new OperatorError(`--where ${error.detail}${way === undefined ? "" : `; ${way}`}`, 2);
  }
}

function unknownColumn(entity: Entity, name: string, filters: readonly FilterParameter[]): string {
  if (name === "start_date" || name === "end_date") {
    const own = filters.find((filter) => filter.column.name === name);
    const column = own ? `, and for the column of this name ${own.name}` : "";
    return `--where ${name}: for a range of days use --from and --to${column}`;
  }
  if (columnNamed(entity, name)) return `--where: ${name} is a number column, by which no rows are selected`;
  const names = filters.map((filter) => filter.name);
  const near = nearest(name, names);
  const hint = near ? `did you mean ${near}?` : `there are ${names.join(", ")}`;
  return `--where: ${entity.name} has no column ${printableJson(name)}; ${hint}`;
}
