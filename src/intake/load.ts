// Reads open files into a typed table and checks their rows.
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { OperatorError, fileFault } from "../errors.js";
import { quoteName } from "../sql-text.js";
import { plural } from "../words.js";
import { reasonAgainst } from "./reasons.js";
import type { Source } from "./source-types.js";
import {
  ask,
  BLANK,
  expressions,
  GOOD,
  LOSING,
  numberOfFile,
  originOf,
  quoted,
  timesOf,
  type Filled,
  type Job,
} from "./staging-sql.js";
import { isMissing } from "./values.js";
import { lostNumbers } from "./warnings.js";

let tables = 0;

export const newTable = (): string => `staged_${++tables}`;

interface FilledTable {
  readonly table: string;
  readonly missing: readonly string[];
}

/**
 * Joins the tables that hold one file each and lack the same columns, in the order of the files: many tables need memory,
 * and make statements long. Resolves to the new table in place of each.
 */
export async function joinTables(writer: Writer, files: readonly FilledTable[]): Promise<ReadonlyMap<string, string>> {
  const counts = new Map<string, number>();
  for (const { table } of files) counts.set(table, (counts.get(table) ?? 0) + 1);
  const alike = new Map<string, FilledTable[]>();
  for (const one of files) {
    const key = one.missing.join();
    if (counts.get(one.table) === 1) alike.set(key, [...(alike.get(key) ?? []), one]);
  }
  const joined = new Map<string, string>();
  for (const group of alike.values()) {
    if (group.length < 2) continue;
    const all = newTable();
    const parts = group.map(({ table }) => `SELECT * FROM ${table}`);
    await writer.run(`CREATE TEMP TABLE ${all} AS ${parts.join(" UNION ALL ")}`);
    for (const { table } of group) {
      await writer.run(`DROP TABLE ${table}`);
      joined.set(table, all);
    }
  }
  return joined;
}

/** Refuses a file with more text than allowed, before it is read. */
export async function requireShortText(reading: Omit<Job, "plan">, files: readonly Source[]): Promise<void> {
  const { writer, source, numbers } = reading;
  if (source.text === null) return;
  const select = `SELECT ${numberOfFile(reading)} AS file, sum(${source.text.bytes}) AS bytes`;
  const found = await ask(writer, source, select, "GROUP BY 1");
  const bytes = new Map(found.map((row) => [Number(row["file"]), Number(row["bytes"])]));
  for (const [i, { text }] of files.entries()) text?.requireFew(bytes.get(numbers[i]!) ?? 0);
}

interface Loaded {
  /** Rows of the file, blank ones included. */
  readonly read: number;
  readonly blank: number;
  /** Warnings of numbers that are not finite. */
  readonly lost: readonly string[];
  /** Each row is good, and none is blank or loses a value. */
  readonly isClean: boolean;
}

/**
 * Creates the table in one pass over the files. Resolves to what each of them holds. If there is only one, it is refused if
 * any row is bad, and its blank rows are removed.
 */
export async function load(job: Job): Promise<ReadonlyMap<number, Loaded>> {
  const { writer, source, table, numbers } = job;
  const { inner, values, flag, measured } = expressions(job);
  const isAlone = numbers.length === 1;
  const row = `${source.row ?? "NULL::BIGINT"} AS __row`;
  const raw = [...inner, row, `${numberOfFile(job)} AS __file`];
  const from = `(SELECT *, ${values.join(", ")} FROM (SELECT ${raw.join(", ")} FROM ${source.relation}))`;
  const columns = job.plan.bindings.map(({ column }, i) => `v${i} AS ${quoteName(column.name)}`).join(", ");
  await writer
    .run(
      `CREATE TEMP TABLE ${table} AS SELECT ${columns}, __row, __file::INTEGER AS __file, ` +
        `(${flag})::SMALLINT AS __flag FROM ${from}`,
      source.values,
    )
    .catch(async (error: unknown) => {
      throw await source.explain(fileFault(error));
    });
  if (source.row === null) await writer.run(`UPDATE ${table} SET __row = rowid + 1`);
  const rows = await writer.rows(
    `SELECT __file AS file, count(*) AS read, count(*) FILTER (__flag = ${BLANK}) AS blank, ` +
      `count(*) FILTER (__flag > ${GOOD}) AS bad, count(*) FILTER (__flag = ${LOSING}) AS losing, ` +
      `min(__row) FILTER (__flag > ${GOOD}) AS row, arg_min(__flag, __row) FILTER (__flag > ${GOOD}) AS flag ` +
      `FROM ${table} GROUP BY 1`,
  );
  const found = new Map<number, Loaded>(numbers.map((number) => [number, NO_ROWS]));
  for (const seen of rows) {
    const [file, read, blank, bad, losing] = ["file", "read", "blank", "bad", "losing"].map((name) =>
      Number(seen[name]),
    ) as [number, number, number, number, number];
    if (isAlone && bad > 0) throw await refusal(job, Number(seen["row"]), Number(seen["flag"]), bad);
    if (isAlone && blank > 0) await writer.run(`DELETE FROM ${table} WHERE __flag = ${BLANK}`);
    const losingRows = `${from} WHERE (${flag}) = ${LOSING}`;
    const lost = isAlone && losing > 0 ? await lostNumbers(writer, measured, losingRows, source.values) : [];
    found.set(file, { read, blank, lost, isClean: bad + blank + losing === 0 });
  }
  await writer.run(`ALTER TABLE ${table} DROP COLUMN __flag`);
  return found;
}

const NO_ROWS: Loaded = { read: 0, blank: 0, lost: [], isClean: true };

/** The first and last main date (`YYYYMMDD`) and code of a file; null if a row has none. */
export interface StagedSpan {
  readonly first: string | null;
  readonly last: string | null;
  readonly firstCode: string | null;
  readonly lastCode: string | null;
}

export const NO_SPAN: StagedSpan = { first: null, last: null, firstCode: null, lastCode: null };

export async function spansOf(writer: Writer, entity: Entity, table: string): Promise<ReadonlyMap<number, StagedSpan>> {
  const date = entity.mainDate === null ? "NULL::DATE" : quoteName(entity.mainDate);
  const code = quoteName(entity.code);
  const rows = await writer.rows(
    `SELECT __file AS file, CASE WHEN count(${date}) = count(*) THEN strftime(min(${date}), '%Y%m%d') END AS first,
            CASE WHEN count(${date}) = count(*) THEN strftime(max(${date}), '%Y%m%d') END AS last,
            CASE WHEN count(${code}) = count(*) THEN min(${code}) END AS "firstCode",
            CASE WHEN count(${code}) = count(*) THEN max(${code}) END AS "lastCode" FROM ${table} GROUP BY 1`,
  );
  return new Map(rows.map(({ file, ...span }) => [Number(file), span as unknown as StagedSpan]));
}

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
