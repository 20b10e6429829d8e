// A DuckDB and a folder for tests that stage files.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { entityNamed } from "../../src/catalog/index.js";
import { openWriter, type Writer } from "../../src/engine/writer.js";
import type { Scalar } from "../../src/engine/statements.js";
import { stage, type ImportOptions, type Staged } from "../../src/intake/normalise.js";

export interface Staging {
  readonly writer: Writer;
  readonly folder: string;
  /** Writes a file and gives its path. */
  put(name: string, content: string | Uint8Array): string;
  /** Writes the rows of a query as Parquet and gives the path. */
  parquet(name: string, query: string): Promise<string>;
  /** Stages a file; messages call it by its name within the folder. */
  stage(entity: string, file: string, options?: Partial<ImportOptions>): Promise<Staged>;
  /** The staged rows by `__row`; only the columns named, all of the entity's by default. */
  rows(staged: Staged, ...columns: string[]): Promise<Scalar[][]>;
  /** The message with which staging a file is refused. */
  refusal(entity: string, file: string, options?: Partial<ImportOptions>): Promise<string>;
  /** What staging has left behind: files in its scratch folder, temp tables. */
  leftovers(): Promise<readonly string[]>;
  close(): void;
}

export async function openStaging(): Promise<Staging> {
  const folder = mkdtempSync(join(tmpdir(), "staging-"));
  const scratch = join(folder, ".scratch");
  mkdirSync(scratch);
  const writer = await openWriter({ memory: "1GB", tempDirectory: join(folder, ".spill"), threads: 2 });
  const stageFile: Staging["stage"] = (entity, file, options = {}) =>
    stage(writer, entityNamed(entity)!, file, { map: {}, set: {}, label: nameOf(file), ...options }, scratch);
  const nameOf = (file: string): string => (file.startsWith(folder) ? file.slice(folder.length + 1) : file);
  const path = (name: string): string => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    return join(folder, name);
  };
  return {
    writer,
    folder,
    put(name, content) {
      writeFileSync(path(name), content);
      return path(name);
    },
    async parquet(name, query) {
      await writer.run(`COPY (${query}) TO '${path(name)}' (FORMAT parquet)`);
      return path(name);
    },
    stage: stageFile,
    async rows(staged, ...columns) {
      const wanted = columns.length > 0 ? columns.map((name) => `"${name}"`).join(", ") : "* EXCLUDE (__row, __file)";
      const rows = await writer.rows(`SELECT ${wanted} FROM ${staged.table} ORDER BY __row`);
      return rows.map((row) => Object.values(row));
    },
    async refusal(entity, file, options) {
      const outcome = await stageFile(entity, file, options).catch((error: unknown) => error);
      if (!(outcome instanceof Error)) throw new Error(`${file} was staged`);
      if (outcome.name !== "OperatorError") throw outcome;
      return outcome.message;
    },
    async leftovers() {
      const temp = await writer.rows("SELECT table_name FROM duckdb_tables() WHERE temporary");
      return [...readdirSync(scratch), ...temp.map((row) => String(row["table_name"]))];
    },
    close() {
      writer.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
