// What has to be read to find gaps: on which days there are rows, which stocks were listed when, which were suspended.
import { columnNamed, entityNamed } from "../catalog/index.js";
import type { Column, Entity } from "../catalog/types.js";
import type { FileList } from "../lake/manifest.js";
import { quoteName } from "../sql-text.js";
import { choosePieces } from "./choose.js";
import { bitsOf, type Span } from "./gaps-days.js";
import { betweenSql, Bindings } from "./sql.js";
import type { Read } from "./statement.js";

/** Whose rows are told apart: nobody's, each code's, or those of some codes, of which alone rows count. */
export type Whose = "all" | "each" | readonly string[];

const DAY_COLUMNS: readonly Column[] = [
  { name: "code", type: "code", meaning: "whose days; null for all together", nullable: true },
  { name: "days", type: "text", meaning: "a bit a day of the span, base64", nullable: false },
];

/** The code that rows and gaps are compared by: without its suffix where rows may lack it. */
export const comparedCode = (entity: Entity, code: string): string => (entity.bareCodes ? code.split(".")[0]! : code);

/** For each code, or for all together, the days of the span on which there are rows. */
export function heldDaysRead(entity: Entity, list: FileList, span: Span, whose: Whose): Read {
  return daysRead(entity, list, span, whose, []);
}

/** For each stock the days of the span on which it was suspended all day: other suspensions leave a row to be expected. */
export function suspendedDaysRead(list: FileList, span: Span): Read {
  return daysRead(entityNamed("suspend_d")!, list, span, "each", ["suspend_type = 'S'", "suspend_timing IS NULL"]);
}

function daysRead(entity: Entity, list: FileList, span: Span, whose: Whose, where: readonly string[]): Read {
  const files = filesOf(list, span);
  if (files.length === 0) return { columns: DAY_COLUMNS, steps: [] };
  const bindings = new Bindings();
  const source = `read_parquet(${bindings.add(files.map((file) => file.path))})`;
  const date = quoteName(entity.mainDate!);
  const name = quoteName(entity.code);
  const code = entity.bareCodes ? `split_part(${name}, '.', 1)` : name;
  const codes = typeof whose === "string" ? [] : whose;
  const tests = [
    ...betweenSql(entity.mainDate!, span.first, span.last, bindings),
    ...(codes.length === 0 ? [] : [`${code} IN (${codes.map((one) => bindings.add(one)).join(", ")})`]),
    ...where,
  ];
  const shown = whose === "all" ? "DISTINCT NULL::VARCHAR" : code;
  const rows =
    `SELECT ${shown} AS code, ${date} - ${bindings.date(span.first)} AS day FROM ${source}` +
    ` WHERE ${tests.join(" AND ")}`;
  const days = `to_base64(bitstring_agg(day, 0, ${bitsOf(span) - 1})::BLOB)`;
  const sql = `SELECT code, ${days} AS days FROM (${rows}) GROUP BY code`;
  return { columns: DAY_COLUMNS, steps: [{ sql, values: bindings.values, files }] };
}

/** Code, listing date and delisting date of every stock of the latest snapshot, as columns of the same order. */
export function listingsRead(list: FileList): Read {
  const entity = entityNamed("stock_list")!;
  const columns = ["ts_code", "list_date", "delist_date"].map((name) => columnNamed(entity, name)!);
  if (list.last === null) return { columns, steps: [] };
  const files = filesOf(list, { first: list.last, last: list.last });
  const bindings = new Bindings();
  const sql =
    `SELECT ts_code, list_date, delist_date FROM read_parquet(${bindings.add(files.map((file) => file.path))})` +
    ` WHERE snapshot_date = ${bindings.date(list.last)}`;
  return { columns, steps: [{ sql, values: bindings.values, files }] };
}

const filesOf = (list: FileList, { first, last }: Span): FileList["byDate"] =>
  choosePieces(list, { start: first, end: last }, null).flatMap((piece) => piece.files);
