// The parameters that an entity takes. Whatever parses, describes or shows them has a table with an entry for each kind.
import { columnNamed } from "./index.js";
import type { Entity, EntityColumn } from "./types.js";

const isDated = ({ mainDate }: Entity): boolean => mainDate !== null;
const isKnownByDay = ({ pointInTime }: Entity): boolean => pointInTime !== null;
const always = (): boolean => true;

/** The kinds of parameters that are no filters, by their names, and which entities take them. */
const TAKEN_BY = {
  start_date: isDated,
  end_date: isDated,
  as_of: isKnownByDay,
  as_of_days: isKnownByDay,
  as_of_start: isKnownByDay,
  as_of_end: isKnownByDay,
  latest: ({ revisions }) => revisions !== null,
  adjust: ({ adjustment }) => adjustment !== undefined,
  adjust_volume: ({ adjustment }) => adjustment !== undefined,
  fields: always,
  limit: always,
  cursor: always,
  order: always,
  data_version: always,
  format: always,
  dates: always,
  compression: always,
  bom: always,
} as const satisfies Readonly<Record<string, (entity: Entity) => boolean>>;

export type ParameterKind = keyof typeof TAKEN_BY;

export const PARAMETER_KINDS = Object.keys(TAKEN_BY) as readonly ParameterKind[];

export type EntityParameter =
  | { readonly kind: ParameterKind; readonly name: string }
  | { readonly kind: "filter"; readonly name: string; readonly column: EntityColumn };

/** The kinds that an entity takes. */
export const kindsOf = (entity: Entity): readonly ParameterKind[] =>
  PARAMETER_KINDS.filter((kind) => TAKEN_BY[kind](entity));

/** The columns that can be filtered by their own name: `start_date` and `end_date` always mean the range. */
export function filterColumns(entity: Entity): readonly EntityColumn[] {
  const taken: readonly string[] = kindsOf(entity);
  return entity.columns.filter(({ name, type }) => type !== "float64" && !taken.includes(name));
}

/** All parameters of an entity: its range, a filter for each column of text or whole numbers, and the others. */
export function parametersOf(entity: Entity): readonly EntityParameter[] {
  const aliases = Object.entries(entity.filterAliases ?? {});
  const filters = [
    ...filterColumns(entity).map((column) => ({ kind: "filter", name: column.name, column }) as const),
    ...aliases.map(([name, column]) => ({ kind: "filter", name, column: columnNamed(entity, column)! }) as const),
  ];
  const others = kindsOf(entity).map((kind) => ({ kind, name: kind }));
  const isRange = ({ kind }: EntityParameter): boolean => kind === "start_date" || kind === "end_date";
  return [...others.filter(isRange), ...filters, ...others.filter((one) => !isRange(one))];
}

export const parameterNames = (entity: Entity): readonly string[] => parametersOf(entity).map(({ name }) => name);
