// Leaves one row for each identity of a file: removes duplicates and, of rows that differ, all but the last.
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { quoteName } from "../sql-text.js";

interface Collapsed {
  /** Rows removed because a remaining one is equal, or equal except for values that they lack. */
  readonly duplicates: number;
  /** Rows removed because a later one of the same identity has other values. */
  readonly conflicts: number;
  /** A few identities with differing rows. */
  readonly samples: readonly string[];
  /** Whether the rows are known to be in the entity's order. */
  readonly sorted: boolean;
}

const NONE: Collapsed = { duplicates: 0, conflicts: 0, samples: [], sorted: false };
const SAMPLES = 5;

/** Identities with more rows than this are not searched for more complete rows, which compares each row with each. */
const MOST_COMPARED = 16;

/**
 * Leaves one row for each identity in the staged table: the last one, except for rows that another one completes. Does
 * nothing for entities with many rows for each identity.
 */
export async function collapse(writer: Writer, entity: Entity, table: string): Promise<Collapsed> {
  if (entity.identityIs === "group") return NONE;
  if (await isAscending(writer, entity, table)) return { ...NONE, sorted: true };
  const identity = entity.identity.map(quoteName).join(", ");
  const [some] = await writer.rows(`SELECT 1 FROM ${table} GROUP BY hash(${identity}) HAVING count(*) > 1 LIMIT 1`);
  if (!some) return NONE;
  const twice = `${table}_twice`;
  try {
    const incomplete = await removeIncomplete(writer, entity, table);
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
      duplicates: incomplete + Number(sums!["duplicates"]),
      conflicts: Number(sums!["conflicts"]),
      samples: samples.map(({ sample }) => String(sample)),
      sorted: false,
    };
  } finally {
    await writer.run(`DROP TABLE IF EXISTS ${twice}`);
  }
}

/**
 * Whether each row is greater than the one before it. Then there are no duplicates and no sort is needed. Takes a third of
 * the time of a search for duplicates.
 */
async function isAscending(writer: Writer, entity: Entity, table: string): Promise<boolean> {
  const names = entity.order.filter((name) => entity.identity.includes(name)).map(quoteName);
  const pairs = names.map((name, i) => `${name} AS k${i}, lag(${name}) OVER () AS p${i}`);
  const later = names.map((_, i) => [...names.slice(0, i).map((_same, j) => `k${j} = p${j}`), `k${i} > p${i}`]);
  const [row] = await writer.rows(
    `SELECT count(*) AS rows FROM (SELECT ${pairs.join(", ")} FROM ${table}) ` +
      `WHERE (${later.map((all) => `(${all.join(" AND ")})`).join(" OR ")}) IS NOT TRUE`,
  );
  return Number(row!["rows"]) <= 1;
}

/** Removes rows that another row of the same identity completes: it has values that they lack, and no other differences. */
async function removeIncomplete(writer: Writer, entity: Entity, table: string): Promise<number> {
  const identity = entity.identity.map(quoteName);
  const others = entity.columns.map(({ name }) => quoteName(name)).filter((name) => !identity.includes(name));
  const same = identity.map((name) => `t.${name} IS NOT DISTINCT FROM f.${name}`);
  const completed = others.map((name) => `(t.${name} IS NULL OR t.${name} = f.${name})`);
  const lacking = others.map((name) => `(t.${name} IS NULL AND f.${name} IS NOT NULL)`);
  const few = `SELECT * FROM ${table} QUALIFY count(*) OVER (PARTITION BY ${identity.join(", ")}) BETWEEN 2 AND ${MOST_COMPARED}`;
  return writer.run(
    `DELETE FROM ${table} WHERE __row IN (SELECT t.__row FROM (${few}) t JOIN (${few}) f ` +
      `ON ${same.join(" AND ")} AND ${completed.join(" AND ")} AND (${lacking.join(" OR ")}))`,
  );
}
