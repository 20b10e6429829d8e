// The second copy of a big entity, clustered by code: many files of some tens of codes, so that the series of one code
// is a small part of one file.
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { quoteName, quoteText } from "../sql-text.js";
import { fileList, isCovered, ROW_GROUP_ROWS, type DataFile, type FileList } from "../lake/manifest.js";
import { orderOf, scan, writeDataFiles, type Writing } from "./datafile.js";

/**
 * Rows in a file of the code copy: six row groups, for a reader looks at each of a file to find the one that it needs. A
 * code is never split, so a file may hold more.
 */
const ROWS_PER_CODE_FILE = 6 * ROW_GROUP_ROWS.byCode;

/** With fewer rows than this the date files are as fast. */
const LEAST_ROWS = 200_000;

/** Where the copy is built only when it pays: rows that may be missing in it, and what share of all. */
const MISSING_ROWS = 250_000;
const MISSING_SHARE = 0.05;

/** Whether the code copy is worth building anew: rows are missing in it or, when `thrifty`, many are. */
export function wantsCodeCopy(entity: Entity, list: FileList, thrifty: boolean): boolean {
  if (!entity.codeCopy || list.rows < LEAST_ROWS) return false;
  const missing = list.byDate.filter((file) => file.first !== null && !isCovered(list, file));
  const rows = missing.reduce((sum, file) => sum + file.rows, 0);
  return thrifty ? rows > Math.max(MISSING_ROWS, list.rows * MISSING_SHARE) : rows > 0;
}

/**
 * Writes the code copy of all dated files anew; the list that is returned uses it for every date. What does not fit
 * into the writer's memory spills. `onRows` is told the rows written so far.
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

/** First and last code of each file to be. */
async function codeSpans(writer: Writer, table: string, code: string): Promise<readonly (readonly [string, string])[]> {
  const counts = await writer.rows(`SELECT ${code} AS code, count(*) AS rows FROM ${table} GROUP BY 1 ORDER BY 1`);
  const runs: [string, string][] = [];
  let rowsInRun = Infinity;
  for (const { code: value, rows } of counts) {
    if (rowsInRun + Number(rows) > ROWS_PER_CODE_FILE) {
      runs.push([String(value), String(value)]);
      rowsInRun = 0;
    }
    runs.at(-1)![1] = String(value);
    rowsInRun += Number(rows);
  }
  return runs;
}
