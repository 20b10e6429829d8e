// Leaves one row for each identity of a file: removes duplicates and, of rows that differ, all but the fullest.
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { quoteName } from "../sql-text.js";

interface Collapsed {
  /** Rows removed because a remaining one is equal, or equal except for values that they lack. */
  readonly duplicates: number;
  /** Rows removed because another one of the same identity has more values, or as many and is later. */
  readonly conflicts: number;
  /** The columns in which those rows had values that the remaining ones lack or contradict. */
  readonly lost: readonly LostValues[];
  /** A few identities with differing rows. */
  readonly samples: readonly string[];
}

export interface LostValues {
  readonly column: string;
  readonly values: number;
}

const NONE = { duplicates: 0, conflicts: 0, lost: [], samples: [] };
const SAMPLES = 5;

/** Identities with more rows than this are not searched for more complete rows, which compares each row with each. */
const MOST_COMPARED = 16;

/** The files of a staged table by the order of their rows. */
export interface Order {
  /** Whether the rows of a file are known to be in the entity's order. */
  isSorted(file: number): boolean;
  /** Files with rows of the same identity or, where an identity may hold several rows, with equal rows. */
  readonly repeating: ReadonlySet<number>;
}

/** If rows are in order, none repeats another, which takes a third of the time of a search for repeated ones. */
export async function orderOfRows(writer: Writer, entity: Entity, table: string): Promise<Order> {
  if (entity.identityIs === "ticks") return { isSorted: () => false, repeating: new Set() };
  const isRow = entity.identityIs === "row";
  const unsorted = isRow ? await unsortedFiles(writer, entity, table) : [];
  const among = isRow ? `WHERE __file IN (${unsorted.join(", ")})` : "";
  const key = (isRow ? entity.identity : entity.columns.map(({ name }) => name)).map(quoteName).join(", ");
  const repeating =
    isRow && unsorted.length === 0
      ? []
      : await writer.rows(
          `SELECT DISTINCT __file AS file FROM ` +
            `(SELECT __file FROM ${table} ${among} GROUP BY __file, hash(${key}) HAVING count(*) > 1)`,
        );
  return {
    isSorted: (file) => isRow && !unsorted.includes(file),
    repeating: new Set(repeating.map(({ file }) => Number(file))),
  };
}

/** The files in which some row is not greater than the one before it. */
async function unsortedFiles(writer: Writer, entity: Entity, table: string): Promise<readonly number[]> {
  const names = entity.order.filter((name) => entity.identity.includes(name)).map(quoteName);
  const pairs = names.map((name, i) => `${name} AS k${i}, lag(${name}) OVER () AS p${i}`);
  const later = names.map((_, i) => [...names.slice(0, i).map((_same, j) => `k${j} = p${j}`), `k${i} > p${i}`]);
  const rows = await writer.rows(
    `SELECT DISTINCT file FROM (SELECT __file AS file, lag(__file) OVER () AS before, ${pairs.join(", ")} FROM ${table}) ` +
      `WHERE file = before AND (${later.map((all) => `(${all.join(" AND ")})`).join(" OR ")}) IS NOT TRUE`,
  );
  return rows.map(({ file }) => Number(file));
}

/**
 * Leaves one row for each identity in the table of a file with repeating rows: the one with the most values, and of several
 * such rows the last. Where an identity may hold several rows, only equal ones are removed; ticks stay as they are.
 */
export async function collapse(
  writer: Writer,
  entity: Entity,
  table: string,
  isRepeating: boolean,
): Promise<Collapsed> {
  if (!isRepeating) return NONE;
  if (entity.identityIs === "group") return { ...NONE, duplicates: await removeEqual(writer, entity, table) };
  const identity = entity.identity.map(quoteName).join(", ");
  const twice = `${table}_twice`;
  try {
    const incomplete = await removeIncomplete(writer, entity, table);
    const all = entity.columns.map(({ name }) => quoteName(name)).join(", ");
    const fullness = entity.columns.map(({ name }) => `(${quoteName(name)} IS NOT NULL)::INTEGER`).join(" + ");
    await writer.run(
      `CREATE TEMP TABLE ${twice} AS SELECT ${identity}, count(*) AS rows, ` +
        `arg_max(__row, row(${fullness}, __row)) AS best, max(__row) AS last, ` +
        `count(DISTINCT row(${all})) AS variants FROM ${table} GROUP BY ${identity} HAVING rows > 1`,
    );
    const same = entity.identity.map((name) => `t.${quoteName(name)} IS NOT DISTINCT FROM d.${quoteName(name)}`);
    const removed = `${same.join(" AND ")} AND t.__row <> d.best`;
    const [sums] = await writer.rows(
      `SELECT coalesce(sum(rows - variants), 0)::BIGINT AS duplicates, ` +
        `coalesce(sum(variants - 1), 0)::BIGINT AS conflicts FROM ${twice}`,
    );
    const lost = Number(sums!["conflicts"]) === 0 ? [] : await lostValues(writer, entity, table, twice, removed);
    await writer.run(`DELETE FROM ${table} t USING ${twice} d WHERE ${removed}`);
    const samples = await writer.rows(
      `SELECT concat_ws(' ', ${entity.identity.map((name) => `${quoteName(name)}::VARCHAR`).join(", ")}) AS sample ` +
        `FROM ${twice} WHERE variants > 1 ORDER BY last LIMIT ${SAMPLES}`,
    );
    return {
      duplicates: incomplete + Number(sums!["duplicates"]),
      conflicts: Number(sums!["conflicts"]),
      lost,
      samples: samples.map(({ sample }) => String(sample)),
    };
  } finally {
    await writer.run(`DROP TABLE IF EXISTS ${twice}`);
  }
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

/** Counts the values of removed rows `t` that their best row does not have. */
async function lostValues(
  writer: Writer,
  entity: Entity,
  table: string,
  twice: string,
  removed: string,
): Promise<readonly LostValues[]> {
  const columns = entity.columns.map(({ name }) => name).filter((name) => !entity.identity.includes(name));
  const counts = columns.map((name, i) => {
    const column = quoteName(name);
    return `count(*) FILTER (t.${column} IS NOT NULL AND t.${column} IS DISTINCT FROM b.${column}) AS n${i}`;
  });
  const [found] = await writer.rows(
    `SELECT ${counts.join(", ")} FROM ${twice} d JOIN ${table} b ON b.__row = d.best JOIN ${table} t ON ${removed}`,
  );
  return columns.map((column, i) => ({ column, values: Number(found![`n${i}`]) })).filter(({ values }) => values > 0);
}

/** Removes all but one of rows that are equal in every column. Resolves to the number of removed rows. */
async function removeEqual(writer: Writer, entity: Entity, table: string): Promise<number> {
  const all = entity.columns.map(({ name }) => quoteName(name)).join(", ");
  return writer.run(
    `DELETE FROM ${table} WHERE __row IN ` +
      `(SELECT __row FROM ${table} QUALIFY row_number() OVER (PARTITION BY ${all} ORDER BY __row) > 1)`,
  );
}
