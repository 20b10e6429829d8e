// Rows of one identity within one file: equal ones collapse, of differing ones the last stays and it is told.
import type { Entity } from "../../catalog/types.js";
import type { Writer } from "../../engine/writer.js";
import { quoteName } from "./datafile.js";

export interface Collapsed {
  /** Rows removed because an equal one stays. */
  readonly duplicates: number;
  /** Rows removed because a later one of the same identity says something else. */
  readonly conflicts: number;
  /** A few identities with differing rows. */
  readonly samples: readonly string[];
}

const NONE: Collapsed = { duplicates: 0, conflicts: 0, samples: [] };
const SAMPLES = 5;

/** Leaves one row for each identity in the staged table: the last. Does nothing where an identity may hold many rows. */
export async function collapse(writer: Writer, entity: Entity, table: string): Promise<Collapsed> {
  if (entity.identityIs === "group") return NONE;
  const identity = entity.identity.map(quoteName).join(", ");
  const [some] = await writer.rows(`SELECT 1 FROM ${table} GROUP BY hash(${identity}) HAVING count(*) > 1 LIMIT 1`);
  if (!some) return NONE;
  const twice = `${table}_twice`;
  try {
    const all = entity.columns.map(({ name }) => quoteName(name)).join(", ");
    await writer.run(
      `CREATE TEMP TABLE ${twice} AS SELECT ${identity}, count(*) AS rows, max(__row) AS last, ` +
        `count(DISTINCT row(${all})) AS variants FROM ${table} GROUP BY ${identity} HAVING rows > 1`,
    );
    const same = entity.identity.map((name) => `t.${quoteName(name)} IS NOT DISTINCT FROM d.${quoteName(name)}`);
    await writer.run(`DELETE FROM ${table} t USING ${twice} d WHERE ${same.join(" AND ")} AND t.__row <> d.last`);
    const [sums] = await writer.rows(
      `SELECT coalesce(sum(rows - variants), 0)::BIGINT AS duplicates, ` +
        `coalesce(sum(variants - 1), 0)::BIGINT AS conflicts FROM ${twice}`,
    );
    const samples = await writer.rows(
      `SELECT concat_ws(' ', ${entity.identity.map((name) => `${quoteName(name)}::VARCHAR`).join(", ")}) AS sample ` +
        `FROM ${twice} WHERE variants > 1 ORDER BY last LIMIT ${SAMPLES}`,
    );
    return {
      duplicates: Number(sums!["duplicates"]),
      conflicts: Number(sums!["conflicts"]),
      samples: samples.map(({ sample }) => String(sample)),
    };
  } finally {
    await writer.run(`DROP TABLE IF EXISTS ${twice}`);
  }
}
