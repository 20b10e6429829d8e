// Whether a file fits an entity at all, and the message that names everything it lacks and the way out.
import { ENTITIES } from "../catalog/index.js";
import type { Column, ColumnType, Entity } from "../catalog/types.js";
import { OperatorError } from "../errors.js";
import { shown } from "../words.js";
import type { Scale } from "./aliases.js";

/** Where the values of an entity column come from. */
export type Binding =
  | {
      readonly from: "column";
      readonly column: Column;
      readonly source: number;
      readonly scale: Scale;
      /** Of a code: the index of the source column that completes it with its exchange. */
      readonly exchange?: number;
    }
  | {
      readonly from: "constant";
      readonly column: Column;
      readonly value: string;
      readonly origin: string;
      /** Of files that are read together: the value of each. */
      readonly values?: readonly string[];
    }
  | { readonly from: "nowhere"; readonly column: Column };

/** What a value of each type looks like in an example. */
const EXAMPLES: Readonly<Record<ColumnType, string>> = {
  ...{ date: "YYYYMMDD", code: "CODE", text: "TEXT", int64: "NUMBER", float64: "NUMBER" },
};

/** Refuses a file that lacks required columns, that has only keys, or that belongs to another entity. */
export function requireFit(
  entity: Entity,
  bare: readonly string[],
  bindings: readonly Binding[],
  names: readonly string[],
  label: string,
): void {
  const has = `The file has ${names.length === 0 ? "no columns" : list(names)}`;
  const refuse = (why: string, rest: string): OperatorError =>
    new OperatorError(`${label} does not fit ${entity.name}: ${why}. ${has}${rest}`);
  const absent = bindings.filter(({ from, column }) => from === "nowhere" && !column.nullable).map(columnOf);
  const values = bindings.filter(({ column }) => column.name !== entity.mainDate && column.type !== "code");
  const isEmpty = !values.some(({ from }) => from !== "nowhere");
  const optional = isEmpty ? values.map(columnOf).filter(({ nullable }) => nullable) : [];
  if (absent.length > 0 || isEmpty) {
    const headless = names.some((name) => LOOKS_LIKE_DATA.test(name.trim())) ? " (is its header line missing?)" : "";
    const lacks = [
      ...(absent.length > 0 ? [`it has no ${listed(absent)}`] : []),
      ...(optional.length > 0 ? [`it has ${optional.length > 1 ? "none of" : "no"} ${listed(optional)}`] : []),
    ];
    throw refuse(lacks.join(", and "), `${headless}. ${wayOut(entity, [...absent, ...oneOf(optional)])}`);
  }
  const filled = bindings.filter(({ from }) => from === "column").length;
  if (filled === 0) throw refuse("none of its columns is used", "");
  const own = ownNames(entity, bare);
  const other = ENTITIES.find((candidate) => ownNames(candidate, bare) > Math.max(own, filled));
  if (other && filled < entity.columns.length / 2) {
    throw new OperatorError(
      `${label} looks like ${other.name}, not ${entity.name}: ` +
        `it has ${ownNames(other, bare)} columns of ${other.name} and ${filled} of ${entity.name}`,
    );
  }
}

/** One column is enough; a day is rarely the same in every row. */
const oneOf = (columns: readonly Column[]): readonly Column[] =>
  (columns.some(({ type }) => type !== "date") ? columns.filter(({ type }) => type !== "date") : columns).slice(0, 1);

const columnOf = ({ column }: Binding): Column => column;

/** What to run, with every column that must be filled. */
function wayOut(entity: Entity, columns: readonly Column[]): string {
  const mapped = columns.map(({ name }) => `NAME=${name}`).join(",");
  const set = columns.map(({ name, type }) => `${name}=${EXAMPLES[type]}`);
  const folder =
    set[
      Math.max(
        0,
        columns.findIndex(({ type }) => type === "date"),
      )
    ]!;
  return (
    `Rename columns with tapehouse import ${entity.name} FILE --map ${mapped}, or give every row the same value with ` +
    `--set ${set.join(",")}, or for a drop with a folder, inbox/${entity.name}/${folder}/`
  );
}

/** The number of names that are columns of the entity. */
export function ownNames(entity: Entity, names: readonly string[]): number {
  const folded = new Set(names.map(fold));
  return entity.columns.filter(({ name }) => folded.has(name)).length;
}

/** A date, a number or a code instead of a name. */
const LOOKS_LIKE_DATA = /^\d{4,}(\.[A-Za-z]{2,4})?$|^-?\d+(\.\d+)?$/;

export const fold = (name: string): string => name.trim().toLowerCase();

const SHOWN = 30;

export const list = (names: readonly string[]): string =>
  names.slice(0, SHOWN).map(shown).join(", ") + (names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "");

const listed = (columns: readonly Column[]): string => list(columns.map(({ name }) => name));
