// Checks of a staged file beyond its values: what its columns, its folders and the times of its rows say.
import { normalize, sep } from "node:path";
import { SQL_TYPES, type Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { OperatorError } from "../errors.js";
import { quoteName, quoteText } from "../sql-text.js";
import { rowsHave, shown } from "../words.js";
import { isBare } from "./code-values.js";
import { withExchangeColumn, type ColumnPlan } from "./columns.js";
import { fold, type Binding } from "./fit.js";
import type { Source } from "./source-types.js";
import { ask, originOf, quoted, rulesOf, textOf, type Job } from "./staging-sql.js";
import { inChina, isMissing, valueOf } from "./values.js";

/** How many rows tell whether codes lack their exchange. */
const PEEK = 1_000;

/** The plan with the exchange column of the file if codes lack their exchange. */
export async function completed(writer: Writer, entity: Entity, source: Source, plan: ColumnPlan): Promise<ColumnPlan> {
  const better = withExchangeColumn(
    entity,
    plan,
    source.columns.map(({ name }) => name),
  );
  const binding = better?.bindings.find((one) => one.from === "column" && one.exchange !== undefined);
  if (!better || binding?.from !== "column") return plan;
  const sql = textOf(source.columns[binding.source]!);
  const some = { ...source, relation: `(SELECT * FROM ${source.relation} LIMIT ${PEEK})` };
  const [row] = await ask(writer, some, `SELECT count(*) FILTER (${isBare(sql)}) AS bare`, "");
  return Number(row!["bare"]) > 0 ? better : plan;
}

/** Refuses a footnote in a column of text: it may be a row that was cut short. */
export function requireNotes({ source, plan, label }: Job): void {
  for (const { text, column } of source.footnotes) {
    const target = plan.bindings.find((binding) => binding.from === "column" && binding.source === column)?.column;
    if (target?.type === "text") throw new OperatorError(`${label} ends with an incomplete row: ${quoted(text)}`);
  }
}

/** --set may fill a column of the file only if it has no values there. */
export async function requireNull({ writer, source, plan, label }: Job): Promise<void> {
  for (const index of plan.overruled) {
    const { name, sql, kind } = source.columns[index]!;
    const [row] = await ask(writer, source, `SELECT count(*) FILTER (NOT ${isMissing("code", kind, sql)}) AS n`, "");
    if (row!["n"] !== 0)
      throw new OperatorError(
        `${label} has values in ${name}, so --set cannot fill this column; to ignore them, put the column aside with --map ${name}=`,
      );
  }
}

/** Columns with the time of a row beside its day. */
const TIMES = ["time", "trade_time", "时间", "时刻", "交易时间"];

/**
 * Refuses rows of one identity at different times of the same day, such as bars of minutes: only the last of them would
 * stay. To be called if rows share an identity.
 */
export async function requireWholeDays(job: Job): Promise<void> {
  const { writer, entity, source, plan, label } = job;
  const times = timesOfRows(entity, source, plan);
  if (times.length === 0 || entity.identityIs === "group") return;
  const identity = plan.bindings.filter(({ column }) => entity.identity.includes(column.name));
  const keys = identity.map((binding) => identityValue(job, binding));
  const key = keys.map((_sql, i) => i + 1).join(", ");
  for (const time of times) {
    const [row] = await ask(
      writer,
      {
        ...source,
        relation: `(SELECT ${keys.map((sql, i) => `${sql} AS k${i}`).join(", ")}, ${time} AS t FROM ${source.relation})`,
      },
      `SELECT ${keys.map((_sql, i) => `k${i}`).join(", ")}, concat_ws(' ', ${keys.map((_sql, i) => `k${i}::VARCHAR`).join(", ")}) AS sample, min(t) AS first, max(t) AS last`,
      `GROUP BY ${key} HAVING min(t) <> max(t) ORDER BY ${key} LIMIT 1`,
    );
    if (!row) continue;
    const [sample, first, last] = [row["sample"], row["first"], row["last"]].map(String);
    throw new OperatorError(
      `${label} has several rows of one day, e.g. ${sample} at ${first} and ${last}: ` +
        `${entity.name} holds one row for each day, so sum up bars of minutes into days first`,
    );
  }
}

/** The time of day of a row, from each column that tells one, as SQL. */
function timesOfRows(entity: Entity, source: Source, plan: ColumnPlan): readonly string[] {
  const day = plan.bindings.find(({ from, column }) => from === "column" && column.name === entity.mainDate);
  if (day?.from !== "column") return [];
  const { sql, kind } = source.columns[day.source]!;
  const unused = source.columns.filter(({ name }) => plan.ignored.includes(name) && TIMES.includes(fold(name)));
  return [
    ...(kind === "text" ? [`nullif(regexp_extract(${sql}, '\\d[ T]+(\\d{1,2}:\\d{2}(:\\d{2})?)', 1), '')`] : []),
    ...(kind === "timestamp" ? [`strftime(${sql}::TIMESTAMP, '%H:%M:%S')`] : []),
    ...(kind === "timestamptz" ? [`strftime(${inChina(sql)}::TIMESTAMP, '%H:%M:%S')`] : []),
    ...unused.map(textOf),
  ];
}

function identityValue({ entity, source, completeCodes }: Job, binding: Binding): string {
  if (binding.from === "nowhere") return "NULL";
  const { column } = binding;
  const { sql, kind } = originOf(binding, source);
  return `(${valueOf(column.type, kind, sql, rulesOf(entity, column, source, completeCodes))!})::${SQL_TYPES[column.type]}`;
}

/** Warns of folders such as `trade_date=20250210` above rows of other values. */
export async function foldersContradicted({ writer, entity, plan, table }: Job): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const { column, value } of plan.stated) {
    const rules = rulesOf(entity, column, { format: "csv" }, false);
    const stated = `(${valueOf(column.type, "text", quoteText(value), rules)!})::${SQL_TYPES[column.type]}`;
    const [row] = await writer.rows(
      `SELECT count(*) FILTER (${quoteName(column.name)} <> ${stated}) AS others FROM ${table}`,
    );
    const others = Number(row!["others"]);
    if (others > 0) {
      const folder = shown(`${column.name}=${value}`);
      warnings.push(
        `${rowsHave(others)} another ${column.name} than the folder ${folder} says: what the file says counts`,
      );
    }
  }
  return warnings;
}

/** The `name=value` folders above a file, as in partitioned data sets. */
export function foldersOf(path: string): readonly (readonly [string, string])[] {
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
