// Imports drops again that were taken before and are still in the inbox, into one table.
import { SQL_TYPES, type Entity } from "../catalog/types.js";
import { OperatorError, EngineError } from "../errors.js";
import { quoteName } from "../sql-text.js";
import { openDrop } from "../lake/drop-file.js";
import type { FoundDrop } from "../lake/ledger.js";
import { linkOpenFile } from "../inbox/take.js";
import { stage } from "../intake/normalise.js";
import { columnList } from "../store/datafile.js";
import type { WriteSession } from "../store/session.js";

interface Reimported {
  /** A temp table with the entity's columns. */
  readonly table: string;
  readonly rows: number;
  /** The number of files that were imported again. */
  readonly files: number;
  /** The other drops: the path of each, and why it could not be imported again. */
  readonly missing: readonly string[];
}

let tables = 0;

/**
 * Reads the rows of the drops that match `where` (SQL). Of rows with the same identity, those of the last drop stay, as
 * when the drops were imported one after another.
 */
export async function reimport(
  { writer, scratch, layout }: WriteSession,
  entity: Entity,
  drops: readonly FoundDrop[],
  where: string,
): Promise<Reimported> {
  const table = `reimported_${++tables}`;
  const all = `${table}_all`;
  const missing: string[] = [];
  const typed = entity.columns.map(({ name, type }) => `${quoteName(name)} ${SQL_TYPES[type]}`);
  await writer.run(`CREATE TEMP TABLE ${all} (${typed.join(", ")}, __drop INTEGER)`);
  for (const [i, { entry, path }] of drops.entries()) {
    const label = `inbox/${entry.path}`;
    const drop = path === null ? undefined : await openDrop(layout, path).catch(() => undefined);
    if (path === null || !drop) {
      missing.push(`${label} is gone or has changed`);
      continue;
    }
    try {
      const source = await linkOpenFile(drop, path, scratch);
      const staged = await stage(writer, entity, source, { map: {}, set: {}, label, below: path }, scratch);
      await writer.run(`INSERT INTO ${all} SELECT ${columnList(entity)}, ${i} FROM ${staged.table} WHERE ${where}`);
      await writer.run(`DROP TABLE ${staged.table}`);
    } catch (error) {
      if (!(error instanceof OperatorError) || error instanceof EngineError) throw error;
      missing.push(error.message);
    } finally {
      await drop.handle.close();
    }
  }
  const identity = entity.identity.map(quoteName).join(", ");
  await writer.run(
    `CREATE TEMP TABLE ${table} AS SELECT ${columnList(entity)} FROM ${all}
     QUALIFY __drop = max(__drop) OVER (PARTITION BY ${identity})`,
  );
  await writer.run(`DROP TABLE ${all}`);
  const [counted] = await writer.rows(`SELECT count(*) AS rows FROM ${table}`);
  return { table, rows: Number(counted!["rows"]), files: drops.length - missing.length, missing };
}
