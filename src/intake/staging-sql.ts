// The SQL of one staging: the values of each column, and the flag of each row.
import { codeRules } from "../catalog/codes.js";
import { SQL_TYPES, type Column, type Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { OperatorError, fileFault } from "../errors.js";
import { quoteText } from "../sql-text.js";
import { clip, printable } from "../words.js";
import { withExchange } from "./code-values.js";
import type { ColumnPlan } from "./columns.js";
import type { Binding } from "./fit.js";
import type { Source } from "./source-types.js";
import { isMissing, notFinite, valueOf, type ValueRules } from "./values.js";
import type { Measured } from "./warnings.js";

export interface Job {
  readonly writer: Writer;
  readonly entity: Entity;
  readonly source: Source;
  readonly plan: ColumnPlan;
  readonly table: string;
  /** Its number, or those of several files that are read together. */
  readonly numbers: readonly number[];
  readonly label: string;
  readonly completeCodes: boolean | undefined;
}

export async function ask(writer: Writer, source: Source, select: string, tail: string): ReturnType<Writer["rows"]> {
  return writer.rows(`${select} FROM ${source.relation} ${tail}`, source.values).catch(async (error: unknown) => {
    throw await source.explain(fileFault(error));
  });
}

/** What the file of a row has, of what each of the files has, as SQL over the relation. */
const ofFile = (each: readonly string[]): string =>
  each.length === 1 ? each[0]! : `[${each.join(", ")}][file_index::BIGINT + 1]`;

/** The number of the file of a row, as SQL over the relation. */
export const numberOfFile = ({ numbers }: Pick<Job, "numbers">): string => ofFile(numbers.map(String));

/** Flags of a staged row during the check. A bad row has the 1-based position of its bad column. */
export const GOOD = 0;
export const BLANK = -1;
/** Good, except for numbers that are not finite, which become null. */
export const LOSING = -2;

export interface Expressions {
  /** The raw values, `c0` and so on, and the normalised ones, `v0` and so on. */
  readonly inner: readonly string[];
  readonly values: readonly string[];
  /** The flag of a row. */
  readonly flag: string;
  /** Columns of measured numbers that may hold numbers that are not finite. */
  readonly measured: readonly Measured[];
}

export function expressions({ entity, source, plan, label, completeCodes }: Job): Expressions {
  const inner: string[] = [];
  const values: string[] = [];
  const nothing: string[] = [];
  const bad: string[] = [];
  const measured: Measured[] = [];
  const losing: string[] = [];
  plan.bindings.forEach((binding, i) => {
    const { column } = binding;
    const type = SQL_TYPES[column.type];
    if (binding.from === "nowhere") {
      values.push(`NULL::${type} AS v${i}`);
      return;
    }
    const { sql, kind, name } = originOf(binding, source);
    const value = valueOf(column.type, kind, `c${i}`, rulesOf(entity, column, source, completeCodes));
    if (value === null) {
      const wayOut = kind === "wide decimal" ? ": write it as float64, or as a decimal of at most 38 digits" : "";
      throw new OperatorError(`${label}: the column ${name} (${kind}) cannot fill ${column.name}${wayOut}`);
    }
    inner.push(`${sql} AS c${i}`);
    values.push(`(${scaled(value, binding)})::${type} AS v${i}`);
    const absent = isMissing(column.type, kind, `c${i}`);
    if (binding.from === "column") nothing.push(column.nullable ? absent : `v${i} IS NULL AND ${absent}`);
    bad.push(`WHEN v${i} IS NULL${column.nullable ? ` AND NOT ${absent}` : ""} THEN ${i + 1}`);
    const odd = column.type === "float64" ? notFinite(kind, `c${i}`) : null;
    if (odd) {
      measured.push({ ...odd, name: column.name });
      losing.push(`v${i} IS NULL AND (${odd.nan} OR ${odd.infinite})`);
    }
    if (timesOf(binding) !== 1) bad.push(`WHEN NOT isfinite(v${i}) THEN ${i + 1}`);
    if (column.type === "date" && !column.nullable) bad.push(`WHEN v${i} = DATE '1970-01-01' THEN ${i + 1}`);
    if (column.only) bad.push(`WHEN NOT list_contains([${column.only.map(constant).join(", ")}], v${i}) THEN ${i + 1}`);
  });
  if (losing.length > 0) bad.push(`WHEN ${losing.join(" OR ")} THEN ${LOSING}`);
  const flag = `CASE WHEN ${nothing.join(" AND ")} THEN ${BLANK} ${bad.join(" ")} ELSE ${GOOD} END`;
  return { inner, values, flag, measured };
}

const constant = (value: string | number): string => (typeof value === "number" ? String(value) : quoteText(value));

export type Filled = Exclude<Binding, { readonly from: "nowhere" }>;

export function originOf(binding: Filled, source: Source): Pick<Source["columns"][number], "name" | "sql" | "kind"> {
  if (binding.from === "column") {
    const column = source.columns[binding.source]!;
    if (binding.exchange === undefined) return column;
    const exchange = textOf(source.columns[binding.exchange]!);
    return { ...column, sql: withExchange(textOf(column), exchange), kind: "text" };
  }
  const { column, value, values = [value] } = binding;
  return { name: column.name, sql: ofFile(values.map(quoteText)), kind: "text" };
}

function scaled(value: string, binding: Filled): string {
  if (binding.from === "constant") return value;
  const { times, over } = binding.scale;
  return `(${value})${times === 1 ? "" : ` * ${times}`}${over === 1 ? "" : ` / ${over}`}`;
}

export const timesOf = (binding: Filled): number => (binding.from === "column" ? binding.scale.times : 1);

export const textOf = ({ sql, kind }: Source["columns"][number]): string =>
  kind === "text" ? sql : `(${sql})::VARCHAR`;

export const rulesOf = (
  entity: Entity,
  column: Column,
  { format }: Pick<Source, "format">,
  completeCodes: boolean | undefined,
): ValueRules => ({
  ...codeRules(entity, column),
  completeCodes,
  epochDates: format === "json" || format === "ndjson",
});

const LONGEST = 60;

/** A value as it is in the file. */
export const quoted = (value: string): string => `"${printable(clip(value, LONGEST + 1))}"`;
