// The code copy of a large entity: a second set of files, each with some tens of codes, so that the series of one code
// is a small part of one file.
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { quoteName, quoteText } from "../sql-text.js";
import { fileList, isCovered, ROW_GROUP_ROWS, type DataFile, type FileList } from "../lake/manifest.js";
import { orderOf, scan, writeDataFiles, type Writing } from "./datafile.js";

/**
 * Rows in a file of the code copy: only six row groups, since a reader checks all groups of a file to find the right one.
 * A code is never split, so a file may hold more.
 */
const ROWS_PER_CODE_FILE = 6 * ROW_GROUP_ROWS.byCode;

/** With fewer rows than this, reading the date files is as fast. */
const LEAST_ROWS = 200_000;

/** In the background the copy is rebuilt only if more rows than this are missing in it, and a larger share of all rows. */
const MISSING_ROWS = 250_000;
const MISSING_SHARE = 0.05;

/** Whether to rebuild the code copy: rows are missing in it or, with `inBackground`, many rows are. */
export function wantsCodeCopy(entity: Entity, list: FileList, inBackground: boolean): boolean {
  if (!entity.codeCopy || list.rows < LEAST_ROWS) return false;
  const missing = list.byDate.filter((file) => file.first !== null && !isCovered(list, file));
  const rows = missing.reduce((sum, file) => sum + file.rows, 0);
  return inBackground ? rows > Math.max(MISSING_ROWS, list.rows * MISSING_SHARE) : rows > 0;
}

/**
 * Rebuilds the code copy from all dated files, and resolves to a list that uses it for every date. Data that does not
 * fit into the writer's memory spills to disk. `onRows` gets the rows written so far.
 */
export async function buildCodeCopy(
  writing: Writing,
  entity: Entity,
  list: FileList,
  onRows: (written: number) => void = () => undefined,
): Promise<FileList> {
  const { writer, layout } = writing;
  const dated = list.byDate.filter((file) => file.first !== null);
  if (!entity.codeCopy || dated.length === 0) return list;
  const code = quoteName(entity.code);
  const order = orderOf(entity, "byCode");
  const sorted = `by_code_of_${entity.name}`;
  await writer.run(`CREATE TEMP TABLE ${sorted} AS SELECT * FROM ${scan(layout, dated)} ORDER BY ${order}`);
  const byCode: DataFile[] = [];
  let rows = 0;
  const parts = (await codeSpans(writer, sorted, code)).map(([first, last]) => ({
    relation: `(SELECT * FROM ${sorted} WHERE ${code} BETWEEN ${quoteText(first)} AND ${quoteText(last)})`,
    sorted: true,
  }));
  for await (const file of writeDataFiles(writing, entity, parts, "byCode")) {
    byCode.push(file);
    onRows((rows += file.rows));
  }
  await writer.run(`DROP TABLE ${sorted}`);
  return fileList(
    entity.name,
    list.byDate,
    byCode,
    dated.map((file) => [file.first!, file.last!]),
  );
}

/** The first and the last code of each future file. */
async function codeSpans(writer: Writer, table: string, code: string): Promise<readonly (readonly [string, string])[]> {
  const counts = await writer.rows(`SELECT ${code} AS code, count(*) AS rows FROM ${table} GROUP BY 1 ORDER BY 1`);
  const spans: [string, string][] = [];
  let rowsInSpan = Infinity;
  for (const { code: value, rows } of counts) {
    if (rowsInSpan + Number(rows) > ROWS_PER_CODE_FILE) {
      spans.push([String(value), String(value)]);
      rowsInSpan = 0;
    }
    spans.at(-1)![1] = String(value);
    rowsInSpan += Number(rows);
  }
  return spans;
}
