// Staging: reads one foreign file into a temp table with exactly the entity's columns, or refuses it with one message.
import { mkdtemp, rm } from "node:fs/promises";
import { join, normalize, resolve, sep } from "node:path";
import { SQL_TYPES, type Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { OperatorError, fileFault } from "../errors.js";
import { quoteName, quoteText } from "../sql-text.js";
import { plural } from "../words.js";
import { stampAt } from "../files.js";
import { planColumns, type Binding, type ColumnPlan, type ImportOptions } from "./columns.js";
import { collapse } from "./rows.js";
import { isMissing, notFinite, reasonAgainst, valueOf, type ValueRules } from "./values.js";
import { lostNumbers, warningsOf, type Measured } from "./warnings.js";
import { NO_LIMITS, requireFewRows } from "./limits.js";
import { openSource } from "./source.js";
import type { Source, SourceFormat } from "./source-types.js";

export type { ImportOptions } from "./columns.js";

export interface Staged {
  /** A temp table with the entity's columns in its order, and `__row`, the 1-based row of the file. */
  readonly table: string;
  /** Rows in the table. */
  readonly rows: number;
  /** Whether the rows are known to be in the entity's order. */
  readonly sorted: boolean;
  readonly format: SourceFormat;
  /** Source columns that were not used. */
  readonly ignored: readonly string[];
  /** Entity columns that the file lacked. They are null in every row. */
  readonly missing: readonly string[];
  /** Rows removed because an equal one stays. */
  readonly duplicates: number;
  /** Rows removed because a later row of the same identity has other values. */
  readonly conflicts: number;
  /** A few identities whose rows differed. */
  readonly conflictSamples: readonly string[];
  readonly warnings: readonly string[];
}

let tables = 0;

/**
 * Reads one file into a typed temp table. If any row is bad, throws an OperatorError that names file, row, column, value
 * and reason; the table is then dropped. Temporary files are always removed.
 */
export async function stage(
  writer: Writer,
  entity: Entity,
  file: string,
  options: ImportOptions,
  scratch: string,
): Promise<Staged> {
  const { label = file, below = resolve(file), limits = NO_LIMITS } = options;
  const folder = await mkdtemp(join(scratch, "stage-"));
  const table = `staged_${++tables}`;
  const before = await stampAt(file);
  try {
    const source = await openSource(writer, file, { label, scratch: folder, limits });
    const names = source.columns.map(({ name }) => name);
    const plan = planColumns(entity, names, options, foldersOf(below), label);
    const job = { writer, entity, source, plan, table, label };
    requireNotes(job);
    await requireNull(job);
    const { read, blank, lost } = await load(job);
    requireFewRows(read, limits, label);
    if ((await stampAt(file)) !== before) throw changedMeanwhile(label);
    const { duplicates, conflicts, samples, sorted } = await collapse(writer, entity, table);
    return {
      table,
      rows: read - blank - duplicates - conflicts,
      sorted,
      format: source.format,
      ignored: plan.ignored,
      missing: plan.missing,
      duplicates,
      conflicts,
      conflictSamples: samples,
      warnings: [
        ...source.warnings,
        ...plan.warnings,
        ...source.footnotes.map(({ text }) => `a line below the table was ignored: ${text}`),
        ...(source.openEnd && read > 0
          ? [`the last line has no line end: the file may be cut short; check row ${read}`]
          : []),
        ...lost,
        ...(blank > 0 ? [`${plural(blank, "blank row")} ignored`] : []),
        ...(await warningsOf(writer, entity, table, read)),
      ],
    };
  } catch (error) {
    await writer.run(`DROP TABLE IF EXISTS ${table}`).catch(() => undefined);
    if ((await stampAt(file)) !== before) throw changedMeanwhile(label);
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const changedMeanwhile = (label: string): OperatorError =>
  new OperatorError(`${label} changed while it was being read`);

/** The `name=value` folders above a file, as in partitioned data sets. */
function foldersOf(path: string): readonly (readonly [string, string])[] {
  return normalize(path)
    .split(sep)
    .slice(0, -1)
    .flatMap((folder) => {
      const [, name, value] = /^([^=]+)=(.*)$/.exec(folder) ?? [];
      if (name === undefined || value === undefined || value === "__HIVE_DEFAULT_PARTITION__") return [];
      return [[name, unescape(value)] as const];
    });
}

/** Partitioned data sets escape characters that folder names cannot have, e.g. as `%3A`. */
function unescape(value: string): string {
  return value.replace(/%([0-9A-F]{2})/gi, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}

interface Job {
  readonly writer: Writer;
  readonly entity: Entity;
  readonly source: Source;
  readonly plan: ColumnPlan;
  readonly table: string;
  readonly label: string;
}

/** Refuses a footnote in a column of text: it may be a row that was cut short. */
function requireNotes({ source, plan, label }: Job): void {
  for (const { text, column } of source.footnotes) {
    const target = plan.bindings.find((binding) => binding.from === "column" && binding.source === column)?.column;
    if (target?.type === "text") throw new OperatorError(`${label} ends with an incomplete row: ${quoted(text)}`);
  }
}

/** --set may fill a column of the file only if it has no values there. */
async function requireNull({ writer, source, plan, label }: Job): Promise<void> {
  for (const index of plan.overruled) {
    const { name, sql, kind } = source.columns[index]!;
    const [row] = await ask(writer, source, `SELECT count(*) FILTER (NOT ${isMissing("code", kind, sql)}) AS n`, "");
    if (row!["n"] !== 0) throw new OperatorError(`${label} has values in ${name}, so --set cannot fill this column`);
  }
}

async function ask(writer: Writer, source: Source, select: string, tail: string): ReturnType<Writer["rows"]> {
  return writer.rows(`${select} FROM ${source.relation} ${tail}`, source.values).catch(async (error: unknown) => {
    throw await source.explain(fileFault(error));
  });
}

/** Flags of a staged row during the check. A bad row has the 1-based position of its bad column. */
const GOOD = 0;
const BLANK = -1;
/** Good, except for numbers that are not finite, which become null. */
const LOSING = -2;

/** Creates the table in one pass over the file, then checks the flags of the rows. */
async function load(job: Job): Promise<{ read: number; blank: number; lost: readonly string[] }> {
  const { writer, source, table } = job;
  const { inner, values, flag, measured } = expressions(job);
  const row = source.row === null ? "" : `, ${source.row} AS __row`;
  const from = `(SELECT *, ${values.join(", ")} FROM (SELECT ${inner.join(", ")}${row} FROM ${source.relation}))`;
  const columns = job.plan.bindings.map(({ column }, i) => `v${i} AS ${quoteName(column.name)}`).join(", ");
  await writer
    .run(
      `CREATE TEMP TABLE ${table} AS SELECT ${columns}${row && ", __row"}, (${flag})::SMALLINT AS __flag FROM ${from}`,
      source.values,
    )
    .catch(async (error: unknown) => {
      throw await source.explain(fileFault(error));
    });
  if (source.row === null) {
    await writer.run(`ALTER TABLE ${table} ADD COLUMN __row BIGINT`);
    await writer.run(`UPDATE ${table} SET __row = rowid + 1`);
  }
  const [seen] = await writer.rows(
    `SELECT count(*) AS read, count(*) FILTER (__flag = ${BLANK}) AS blank, count(*) FILTER (__flag > ${GOOD}) AS bad, ` +
      `count(*) FILTER (__flag = ${LOSING}) AS losing, ` +
      `min(__row) FILTER (__flag > ${GOOD}) AS row, arg_min(__flag, __row) FILTER (__flag > ${GOOD}) AS flag FROM ${table}`,
  );
  if (Number(seen!["bad"]) > 0)
    throw await refusal(job, Number(seen!["row"]), Number(seen!["flag"]), Number(seen!["bad"]));
  if (Number(seen!["blank"]) > 0) await writer.run(`DELETE FROM ${table} WHERE __flag = ${BLANK}`);
  await writer.run(`ALTER TABLE ${table} DROP COLUMN __flag`);
  const losing = Number(seen!["losing"]) > 0;
  const lost = losing ? await lostNumbers(writer, measured, `${from} WHERE (${flag}) = ${LOSING}`, source.values) : [];
  return { read: Number(seen!["read"]), blank: Number(seen!["blank"]), lost };
}

interface Expressions {
  /** The raw values, `c0` and so on, and the normalised ones, `v0` and so on. */
  readonly inner: readonly string[];
  readonly values: readonly string[];
  /** The flag of a row. */
  readonly flag: string;
  /** Columns of measured numbers that may hold numbers that are not finite. */
  readonly measured: readonly Measured[];
}

function expressions({ entity, source, plan, label }: Job): Expressions {
  const rules: ValueRules = {
    bareCodes: entity.bareCodes ?? false,
    epochDates: source.format === "json" || source.format === "ndjson",
  };
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
    const value = valueOf(column.type, kind, `c${i}`, rules);
    if (value === null) throw new OperatorError(`${label}: the column ${name} (${kind}) cannot fill ${column.name}`);
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
    if (column.only) bad.push(`WHEN NOT list_contains([${column.only.map(constant).join(", ")}], v${i}) THEN ${i + 1}`);
  });
  if (losing.length > 0) bad.push(`WHEN ${losing.join(" OR ")} THEN ${LOSING}`);
  const flag = `CASE WHEN ${nothing.join(" AND ")} THEN ${BLANK} ${bad.join(" ")} ELSE ${GOOD} END`;
  return { inner, values, flag, measured };
}

const constant = (value: string | number): string => (typeof value === "number" ? String(value) : quoteText(value));

type Filled = Exclude<Binding, { readonly from: "nowhere" }>;

function originOf(binding: Filled, source: Source): Pick<Source["columns"][number], "name" | "sql" | "kind"> {
  if (binding.from === "column") return source.columns[binding.source]!;
  return { name: binding.column.name, sql: quoteText(binding.value), kind: "text" };
}

function scaled(value: string, binding: Filled): string {
  if (binding.from === "constant") return value;
  const { times, over } = binding.scale;
  return `(${value})${times === 1 ? "" : ` * ${times}`}${over === 1 ? "" : ` / ${over}`}`;
}

const timesOf = (binding: Filled): number => (binding.from === "column" ? binding.scale.times : 1);

/** The error about the first bad row. */
async function refusal({ writer, source, plan, label }: Job, row: number, flag: number, bad: number): Promise<Error> {
  const binding = plan.bindings[flag - 1] as Filled;
  const { column } = binding;
  const { name, sql, kind } = originOf(binding, source);
  const select = `SELECT (${sql})::VARCHAR AS value, ${isMissing(column.type, kind, sql)} AS nothing`;
  const [found] = await ask(writer, source, select, `LIMIT 1 OFFSET ${row - 1}`);
  const value = found!["value"] === null ? "" : String(found!["value"]).trim();
  const only = column.only ? `is not one of ${column.only.join(", ")}` : null;
  const times = timesOf(binding);
  const isTooLarge = Number.isFinite(Number(value)) && !Number.isFinite(Number(value) * times);
  const why = only ?? (isTooLarge ? `times ${times} is too large` : reasonAgainst(column.type, value));
  const reason = found!["nothing"] === true ? "is missing" : `${quoted(value)} ${why}`;
  const where = binding.from === "constant" ? `the given ${name}` : `${await source.locate(row)}, column ${name}`;
  const target = name.trim() === column.name ? "" : ` (${column.name})`;
  const more = binding.from === "column" && bad > 1 ? `; ${plural(bad - 1, "more row")} refused` : "";
  return new OperatorError(`${label}: ${where}${target}: ${reason}${more}`);
}

const LONGEST = 60;

const quoted = (value: string): string =>
  JSON.stringify(value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value);
