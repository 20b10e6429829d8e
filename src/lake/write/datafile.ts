// Writing one immutable Parquet file: sorted by DuckDB, read back, checksummed, flushed, then named by its content.
import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Entity } from "../../catalog/types.js";
import type { Writer } from "../../engine/writer.js";
import { sha256OfFile } from "../integrity.js";
import type { Layout } from "../layout.js";
import type { DataFile } from "../manifest.js";
import { quoteName, quoteText } from "../../sql-text.js";
import { syncPath } from "./durable.js";
import { noteIfNew } from "./leftovers.js";

/** How rows lie in a file: for cross-sections and wide pulls, or for the series of one code. */
export type Clustering = "byDate" | "byCode";

/** Rows in a row group, the unit that a read can skip: about a month of the whole market, or some decades of a code. */
const ROW_GROUP_ROWS: Record<Clustering, number> = { byDate: 122_880, byCode: 20_480 };

/** The columns that rows are sorted by in a file. Nulls come last. */
export function sortColumns(entity: Entity, clustering: Clustering): readonly string[] {
  return clustering === "byDate" ? entity.order : [entity.code, ...entity.order.filter((name) => name !== entity.code)];
}

/**
 * Sorts the rows of `relation` (SQL of a table or a subquery with the entity's columns) into one new file of the lake.
 * Resolves to null where the relation has no rows.
 */
export async function writeDataFile(
  writer: Writer,
  layout: Layout,
  entity: Entity,
  relation: string,
  clustering: Clustering = "byDate",
): Promise<DataFile | null> {
  const folder = join(layout.lake, entity.name, ...(clustering === "byCode" ? ["by_code"] : []));
  if (await mkdir(folder, { recursive: true })) await syncPath(dirname(folder));
  const temporary = join(layout.scratch, `${randomUUID()}.parquet`);
  try {
    const columns = entity.columns.map((column) => quoteName(column.name)).join(", ");
    const order = sortColumns(entity, clustering).map((name) => `${quoteName(name)} NULLS LAST`);
    const written = await writer.run(
      `COPY (SELECT ${columns} FROM ${relation} ORDER BY ${order.join(", ")}) TO ${quoteText(temporary)} ` +
        `(FORMAT parquet, COMPRESSION lz4_raw, ROW_GROUP_SIZE ${ROW_GROUP_ROWS[clustering]})`,
    );
    if (written === 0) return null;
    const bounds = await readBounds(writer, entity, temporary);
    if (bounds.rows !== written) throw new Error(`${entity.name}: wrote ${written} rows but read back ${bounds.rows}`);
    const checksum = await sha256OfFile(temporary);
    const { size } = await stat(temporary);
    await syncPath(temporary);
    const name = [bounds.first, bounds.last, checksum.slice(0, 16)].filter((part) => part !== null).join("-");
    const path = [entity.name, ...(clustering === "byCode" ? ["by_code"] : []), `${name}.parquet`].join("/");
    await noteIfNew(layout, join(layout.lake, path));
    await rename(temporary, join(layout.lake, path));
    await syncPath(folder);
    return { path, sha256: checksum, bytes: size, ...bounds };
  } finally {
    await rm(temporary, { force: true });
  }
}

type Bounds = Pick<DataFile, "rows" | "first" | "last" | "firstCode" | "lastCode">;

/** Rows and bounds of a Parquet file with the entity's columns. */
export async function readBounds(writer: Writer, entity: Entity, file: string): Promise<Bounds> {
  const date = entity.mainDate === null ? "NULL::DATE" : quoteName(entity.mainDate);
  const code = quoteName(entity.code);
  const [row] = await writer.rows(
    `SELECT count(*) AS rows, strftime(min(${date}), '%Y%m%d') AS first, strftime(max(${date}), '%Y%m%d') AS last,
            min(${code}) AS "firstCode", max(${code}) AS "lastCode" FROM read_parquet($1)`,
    [file],
  );
  return row as unknown as Bounds;
}
