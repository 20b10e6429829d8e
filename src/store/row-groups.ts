// Where the row groups of a new data file are, with their checksums, so that mirrors of a bucket can fetch some of them.
import { open } from "node:fs/promises";
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import type { Clustering, RowGroup, RowGroups } from "../lake/manifest.js";
import { sha256OfRange } from "../lake/mirror/portions.js";

/** The row groups of a Parquet file of `bytes` bytes that DuckDB has written; null if no column orders its rows. */
export async function rowGroupsOf(
  writer: Writer,
  entity: Entity,
  clustering: Clustering,
  path: string,
  bytes: number,
): Promise<RowGroups | null> {
  const by = clustering === "byCode" ? entity.code : entity.mainDate;
  if (by === null) return null;
  // Chunks of columns follow one another, each with its dictionary first if it has one.
  const found = await writer.rows(
    `SELECT max(coalesce(dictionary_page_offset, data_page_offset) + total_compressed_size)::BIGINT AS "end",
            any_value(stats_min_value) FILTER (path_in_schema = $2) AS first,
            any_value(stats_max_value) FILTER (path_in_schema = $2) AS last
     FROM parquet_metadata($1) GROUP BY row_group_id ORDER BY row_group_id`,
    [path, by],
  );
  const bounds = found as unknown as readonly Pick<RowGroup, "end" | "first" | "last">[];
  const inList = (value: string | null): string | null =>
    clustering === "byDate" ? (value?.replaceAll("-", "") ?? null) : value;
  const handle = await open(path);
  try {
    const groups: RowGroup[] = [];
    let begin = 0;
    for (const { end, first, last } of bounds) {
      const sha256 = await sha256OfRange(handle, [begin, end]);
      groups.push({ end, sha256, first: inList(first), last: inList(last) });
      begin = end;
    }
    return { by, groups, footer: await sha256OfRange(handle, [begin, bytes]) };
  } finally {
    await handle.close();
  }
}
