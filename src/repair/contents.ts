// Compares data files with their lists: rows, bounds, order and identities, and the code copy with the date files.
import { join } from "node:path";
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { quoteName } from "../sql-text.js";
import type { Layout } from "../lake/layout.js";
import { isCovered, type Clustering, type DataFile, type DateRange, type FileList } from "../lake/manifest.js";
import { BOUNDS, columnList, inDates, readBounds, scan, sortColumns } from "../store/datafile.js";

/** What is wrong with the rows of a file, in words; null if nothing is. */
export async function findWrongRows(
  writer: Writer,
  layout: Layout,
  entity: Entity,
  file: DataFile,
  clustering: Clustering,
): Promise<string | null> {
  const path = join(layout.lake, file.path);
  const bounds = await readBounds(writer, entity, path);
  for (const name of BOUNDS) {
    if (file[name] !== undefined && bounds[name] !== file[name])
      return `${name} is ${bounds[name]} in the file and ${file[name]} in its list`;
  }
  const order = sortColumns(entity, clustering).map((name) => `${quoteName(name)} NULLS LAST`);
  const [misplaced] = await writer.rows(
    `SELECT count(*) AS rows FROM (SELECT file_row_number AS row, row_number() OVER (ORDER BY ${order.join(", ")},
     file_row_number) - 1 AS position FROM read_parquet($1, file_row_number = true)) WHERE row <> position`,
    [path],
  );
  if (misplaced!["rows"] !== 0) return `${misplaced!["rows"]} rows are not in order`;
  if (entity.identityIs === "group") return null;
  const identity = entity.identity.map(quoteName).join(", ");
  const [twice] = await writer.rows(
    `SELECT count(*) AS rows FROM (SELECT 1 FROM read_parquet($1) GROUP BY ${identity} HAVING count(*) > 1)`,
    [path],
  );
  return twice!["rows"] === 0 ? null : `${twice!["rows"]} identities have more than one row`;
}

/** Files of a list that overlap. */
export function findOverlaps(list: FileList): readonly { readonly path: string; readonly problem: string }[] {
  const found: { path: string; problem: string }[] = [];
  const look = (files: readonly DataFile[], first: (f: DataFile) => string | null, last: typeof first): void => {
    files.forEach((file, i) => {
      const before = files[i - 1];
      if (before && !(last(before)! < (first(file) ?? "~"))) {
        found.push({ path: file.path, problem: `it overlaps ${before.path}` });
      }
    });
  };
  look(
    list.byDate,
    (file) => file.first,
    (file) => file.last,
  );
  look(
    list.byCode,
    (file) => file.firstCode,
    (file) => file.lastCode,
  );
  return found;
}

/** Whether the code copy holds exactly the rows of the date files that it covers. */
export async function isSameInBoth(writer: Writer, layout: Layout, entity: Entity, list: FileList): Promise<boolean> {
  const covered = list.byDate.filter((file) => isCovered(list, file));
  const spans = spansOf(list).map(([first, last]) => inDates(entity, first, last));
  const byDate = await summary(writer, entity, scan(layout, covered));
  const byCode = await summary(writer, entity, `${scan(layout, list.byCode)} WHERE ${spans.join(" OR ")}`);
  return byDate === byCode;
}

/** The date spans that are read from the code copy. Neighbouring covered files form one span. */
function spansOf(list: FileList): readonly DateRange[] {
  const spans: [string, string][] = [];
  let open = false;
  for (const file of list.byDate) {
    if (!isCovered(list, file)) open = false;
    else if (open) spans.at(-1)![1] = file.last!;
    else open = spans.push([file.first!, file.last!]) > 0;
  }
  return spans;
}

/** The number of rows and the sum of their hashes. Equal for the same rows in any order. */
async function summary(writer: Writer, entity: Entity, relation: string): Promise<string> {
  const [row] = await writer.rows(
    `SELECT concat_ws(' ', count(*), sum(hash(${columnList(entity)})::HUGEINT)) AS summary FROM ${relation}`,
  );
  return String(row!["summary"]);
}
