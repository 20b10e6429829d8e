// Lakes for tests: rows given as SQL, written and published the way an import does.
import { entityNamed } from "../../src/catalog/index.js";
import { SQL_TYPES } from "../../src/catalog/types.js";
import type { Version } from "../../src/lake/manifest.js";
import { buildCodeCopy } from "../../src/store/compact.js";
import { merge } from "../../src/store/merge.js";
import { withWriteSession } from "../../src/store/session.js";

/** Merges `SELECT`s, by entity, into a lake as one version. Columns that a SELECT lacks are null. */
export async function publishRows(
  root: string,
  selects: Readonly<Record<string, string>>,
  options: { readonly codeCopy?: boolean } = {},
): Promise<Version | null> {
  return withWriteSession(root, { memory: "1GB" }, async ({ writer, layout, base, publish }) => {
    const lists = [];
    for (const [name, sql] of Object.entries(selects)) {
      const entity = entityNamed(name)!;
      await writer.run(`CREATE TEMP TABLE given_${name} AS ${sql}`);
      const given = (await writer.rows(`DESCRIBE given_${name}`)).map((row) => row["column_name"]);
      const columns = entity.columns.map((column) => {
        const value = given.includes(column.name) ? `"${column.name}"` : "NULL";
        return `${value}::${SQL_TYPES[column.type]} AS "${column.name}"`;
      });
      const relation = `(SELECT ${columns.join(", ")} FROM given_${name})`;
      const { list } = await merge({ writer, layout }, entity, base.files(name), { fresh: { relation } });
      lists.push(options.codeCopy ? await buildCodeCopy({ writer, layout }, entity, list) : list);
    }
    return publish(lists, "test");
  });
}

/** Rows of `adj_factor`, 5,000 codes a day: with the default two files, so two statements of a wide read. */
export const factors = (rows = 1_500_000): string =>
  `SELECT printf('%06d.SZ', i % 5000) AS ts_code, DATE '2023-01-01' + (i // 5000)::INT AS trade_date, 1.5 AS adj_factor
   FROM range(${rows}) t(i)`;
