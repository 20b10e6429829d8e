// The second copy of a big entity, clustered by code: many files of some hundred codes, so that the series of one code
// is a small part of one file.
import { join } from "node:path";
import type { Entity } from "../../catalog/types.js";
import type { Writer } from "../../engine/writer.js";
import type { Layout } from "../layout.js";
import { fileList, type DataFile, type FileList } from "../manifest.js";
import { quoteName, quoteText, writeDataFile } from "./datafile.js";

/** Rows in a file of the code copy. A code is never split, so a file may hold more. */
const ROWS_PER_CODE_FILE = 250_000;

/** Writes the code copy of all dated files anew; the list that is returned uses it for every date. */
export async function buildCodeCopy(writer: Writer, layout: Layout, entity: Entity, list: FileList): Promise<FileList> {
  const dated = list.byDate.filter((file) => file.first !== null);
  if (!entity.codeCopy || dated.length === 0) return list;
  const files = dated.map((file) => quoteText(join(layout.lake, file.path))).join(", ");
  const code = quoteName(entity.code);
  const sorted = `by_code_of_${entity.name}`;
  await writer.run(`CREATE TEMP TABLE ${sorted} AS SELECT * FROM read_parquet([${files}]) ORDER BY ${code}`);
  const byCode: DataFile[] = [];
  for (const [first, last] of await codeRuns(writer, sorted, code)) {
    const part = `(SELECT * FROM ${sorted} WHERE ${code} BETWEEN ${quoteText(first)} AND ${quoteText(last)})`;
    byCode.push((await writeDataFile(writer, layout, entity, part, "byCode"))!);
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
async function codeRuns(writer: Writer, table: string, code: string): Promise<readonly (readonly [string, string])[]> {
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
