// Writes data files: sorted, read back, checksummed, flushed and named by their content. Also the SQL that reads them.
import { randomUUID } from "node:crypto";
import { rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fieldIds } from "../catalog/field-ids.js";
import type { Entity } from "../catalog/types.js";
import { isoDate } from "../dates.js";
import type { Writer } from "../engine/writer.js";
import { sha256OfFile } from "../lake/integrity.js";
import type { Layout } from "../lake/layout.js";
import { type Clustering, type DataFile, ROW_GROUP_ROWS } from "../lake/manifest.js";
import type { Statement } from "../query/sql.js";
import { quoteName, quoteText } from "../sql-text.js";
import { makeFolderIn, syncPath } from "../durable.js";
import { mirrorOf } from "../lake/mirror/mirror.js";
import { journalIfNew } from "./journal.js";
import { rowGroupsOf } from "./row-groups.js";

/** The columns that rows are sorted by in a file. Nulls come last. */
function sortColumns(entity: Entity, clustering: Clustering): readonly string[] {
  return clustering === "byDate" ? entity.order : [entity.code, ...entity.order.filter((name) => name !== entity.code)];
}

/** The order of the rows of a file, for ORDER BY. */
export const orderOf = (entity: Entity, clustering: Clustering): string =>
  sortColumns(entity, clustering)
    .map((name) => `${quoteName(name)} NULLS LAST`)
    .join(", ");

/** The means to write files. */
export interface Writing {
  readonly writer: Writer;
  /** The lake that is read. */
  readonly layout: Layout;
  /** Where new files go; the lake itself by default. */
  readonly target?: Layout;
}

/** The rows of a future file. */
export interface FileRows {
  /** SQL of a table or a subquery with the entity's columns. */
  readonly relation: string;
  /** Values that are bound in it. */
  readonly values?: Statement["values"];
  /** Whether the rows are already in the order of the file, and need no sort. */
  readonly sorted?: boolean;
}

/** Writes the rows into one new file of the lake. Resolves to null if there are no rows. */
export async function writeDataFile(
  writing: Writing,
  entity: Entity,
  rows: FileRows,
  clustering: Clustering = "byDate",
): Promise<DataFile | null> {
  for await (const file of writeDataFiles(writing, entity, [rows], clustering)) return file;
  return null;
}

/**
 * Writes a new file of the lake for each of `files`, unless it has no rows, and yields them in this order. While one is
 * written, the one before it is read back, checksummed and named.
 */
export async function* writeDataFiles(
  writing: Writing,
  entity: Entity,
  files: Iterable<FileRows>,
  clustering: Clustering = "byDate",
): AsyncGenerator<DataFile> {
  const { writer, layout, target = layout } = writing;
  await makeFolderIn(target.lake, join(entity.name, ...(clustering === "byCode" ? ["by_code"] : [])));
  const temporaries: string[] = [];
  let before: Promise<DataFile> | undefined;
  try {
    for (const rows of files) {
      const temporary = join(target.scratch, `${randomUUID()}.parquet`);
      temporaries.push(temporary);
      const written = await copyRows(writer, entity, rows, clustering, temporary);
      if (before) yield await before;
      before = written === 0 ? undefined : admit(writing, entity, clustering, temporary, written);
      before?.catch(() => undefined); // handled at the await
    }
    if (before) yield await before;
  } finally {
    await before?.catch(() => undefined);
    for (const temporary of temporaries) await rm(temporary, { force: true });
  }
}

/** Resolves to the number of rows written. */
async function copyRows(
  writer: Writer,
  entity: Entity,
  { relation, values = [], sorted = false }: FileRows,
  clustering: Clustering,
  path: string,
): Promise<number> {
  const ids = [...fieldIds(entity)].map(([name, id]) => `${quoteName(name)}: ${id}`).join(", ");
  return writer.run(
    `COPY (SELECT ${columnList(entity)} FROM ${relation}${sorted ? "" : ` ORDER BY ${orderOf(entity, clustering)}`}) TO ${quoteText(path)} ` +
      `(FORMAT parquet, COMPRESSION zstd, FIELD_IDS {${ids}}, ROW_GROUP_SIZE ${ROW_GROUP_ROWS[clustering]})`,
    values,
  );
}

/** A smaller file of a bucket is fetched whole about as fast as some of its row groups. In bytes. */
const FETCHED_WHOLE = 4 << 20;

/** Adds a written file to the lake: reads it back, checksums and flushes it, and names it by its content. */
async function admit(
  { writer, layout, target = layout }: Writing,
  entity: Entity,
  clustering: Clustering,
  temporary: string,
  written: number,
): Promise<DataFile> {
  const [bounds, checksum, { size }] = await Promise.all([
    readBounds(writer, entity, temporary),
    sha256OfFile(temporary),
    stat(temporary),
    syncPath(temporary),
  ]);
  if (bounds.rows !== written) throw new Error(`${entity.name}: wrote ${written} rows but read back ${bounds.rows}`);
  const name = [bounds.first, bounds.last, checksum.slice(0, 16)].filter((part) => part !== null).join("-");
  const path = [entity.name, ...(clustering === "byCode" ? ["by_code"] : []), `${name}.parquet`].join("/");
  const isFetchedInParts = size >= FETCHED_WHOLE && (await mirrorOf(layout)) !== null;
  const rowGroups = isFetchedInParts ? await rowGroupsOf(writer, entity, clustering, temporary, size) : null;
  await journalIfNew(target, join(target.lake, path));
  await rename(temporary, join(target.lake, path));
  await syncPath(dirname(join(target.lake, path)));
  return { path, sha256: checksum, bytes: size, ...bounds, ...(rowGroups === null ? {} : { rowGroups }) };
}

const BOUNDS = ["rows", "first", "last", "firstCode", "lastCode", "mostOnADay"] as const;

type Bounds = Pick<DataFile, (typeof BOUNDS)[number]>;

/** Rows and bounds of a Parquet file with the entity's columns. */
async function readBounds(writer: Writer, entity: Entity, file: string): Promise<Bounds> {
  const date = entity.mainDate === null ? "NULL::DATE" : quoteName(entity.mainDate);
  const code = quoteName(entity.code);
  const [row] = await writer.rows(
    `SELECT sum(rows)::BIGINT AS rows, strftime(min(date), '%Y%m%d') AS first, strftime(max(date), '%Y%m%d') AS last,
            min(first_code) AS "firstCode", max(last_code) AS "lastCode", max(rows) AS "mostOnADay" FROM
       (SELECT ${date} AS date, count(*) AS rows, min(${code}) AS first_code, max(${code}) AS last_code
        FROM read_parquet($1) GROUP BY 1)`,
    [file],
  );
  return row as unknown as Bounds;
}

/** How the rows of a file differ from its entry in a list, in words; null if they do not. */
export async function wrongBounds(
  writer: Writer,
  entity: Entity,
  path: string,
  file: DataFile,
): Promise<string | null> {
  const bounds = await readBounds(writer, entity, path);
  const wrong = BOUNDS.find((name) => file[name] !== undefined && bounds[name] !== file[name]);
  return wrong === undefined ? null : `${wrong} is ${bounds[wrong]} in the file and ${file[wrong]} in its list`;
}

// SQL for rows of the lake: an entity's columns, the rows of data files, a range of main dates.

/** The entity's columns in its order, for SELECT. */
export const columnList = (entity: Entity): string => entity.columns.map((column) => quoteName(column.name)).join(", ");

/** The rows of data files, in the order of the files, for FROM. */
export const scan = (layout: Layout, files: readonly DataFile[]): string =>
  `read_parquet([${files.map((file) => quoteText(join(layout.lake, file.path))).join(", ")}])`;

/** Matches the main dates from `first` to `last` (`YYYYMMDD`, inclusive; null: rows without a date), for WHERE. */
export function inDates(entity: Entity, first: string | null, last: string | null): string {
  if (entity.mainDate === null) return "true";
  const date = quoteName(entity.mainDate);
  if (first === null || last === null) return `${date} IS NULL`;
  return `${date} BETWEEN DATE '${isoDate(first)}' AND DATE '${isoDate(last)}'`;
}
