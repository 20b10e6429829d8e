// Statements of users: parsed without being run, and run in a locked instance that can open only the files they read.
import type { DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import type { RecordBatch } from "apache-arrow";
import type { Column } from "../catalog/types.js";
import { batchReader } from "./arrow.js";
import { type Ahead, byMarker, fetchChunks } from "./chunks.js";
import { batchesOf, runningChunks } from "./execute.js";
import { type LockedOptions, openLocked } from "./locked.js";
import type { SqlParameter } from "../query/sql-request.js";
import { bindingsOf, columnsOf, datesAmong, isTyped } from "./results.js";
import { type BoundStatement, withPrepared } from "./statements.js";

/** A statement whose text was checked, over tables that are defined for it alone. */
interface DefinedStatement {
  /** Definitions of views and macros. */
  readonly definitions: readonly string[];
  readonly sql: string;
  /** By name, without the dollar sign. */
  readonly parameters: Readonly<Record<string, SqlParameter>>;
}

interface SandboxStatement extends DefinedStatement {
  /** The only files that it may read. */
  readonly paths: readonly string[];
  /** One row more than this is computed at most; null: all. */
  readonly limit: number | null;
}

export interface SandboxResult {
  readonly columns: readonly Column[];
  /**
   * The rows in order, in batches that are valid until the next one is requested. Throws what DuckDB reports, and
   * IncompleteStreamError if the result did not reach its end.
   */
  readonly batches: () => AsyncGenerator<RecordBatch, void, undefined>;
  /** Ends the statement if it still runs. */
  close(): Promise<void>;
}

/** What DuckDB makes of a statement, without its rows. */
interface Description {
  readonly columns: readonly Column[];
  /** The values, as `YYYY-MM-DD`, of parameters that it takes for dates. */
  readonly dates: Readonly<Record<string, string>>;
}

export interface Sandbox {
  /** The parse tree of a text as DuckDB writes it, or what is wrong with the text. Nothing is run. */
  parse(sql: string): Promise<unknown>;
  /**
   * The value of an expression without tables, a part of a parse tree, as text; null for NULL. Throws what DuckDB reports.
   */
  compute(expression: object, parameters: SandboxStatement["parameters"]): Promise<string | null>;
  /** The names of all functions of DuckDB, each with whether its result depends on its arguments alone. */
  functions(): Promise<ReadonlyMap<string, boolean>>;
  /** Of a statement over tables without files. Throws what DuckDB reports. */
  describe(statement: DefinedStatement): Promise<Description>;
  /** Throws what DuckDB reports, among it errors of the statement; and the signal's reason when it is aborted. */
  run(statement: SandboxStatement, signal: AbortSignal): Promise<SandboxResult>;
  close(): void;
}

/** Chunks of 2,048 rows that are fetched ahead. */
const MOST_AHEAD = 16;

/** Instances that are kept for further statements. Without work, each takes about 3 MB. */
const MOST_OPEN = 4;

export async function openSandbox(options: Omit<LockedOptions, "readable">): Promise<Sandbox> {
  const language = await openLocked({ ...options, readable: { paths: [] } });
  const parser = await language.connect();
  let known: Promise<ReadonlyMap<string, boolean>> | undefined;
  /** By the files that they may read, the one used last at the end. */
  const open = new Map<string, DuckDBInstance>();

  /** The instance of an earlier statement is used again for one that reads the same files: it knows their footers. */
  const instanceFor = async (paths: readonly string[]): Promise<DuckDBInstance> => {
    const key = JSON.stringify(paths);
    const instance = open.get(key) ?? (await openLocked({ ...options, readable: { paths } }));
    open.delete(key);
    open.set(key, instance);
    for (const [other, oldest] of [...open].slice(0, -MOST_OPEN)) {
      oldest.closeSync();
      open.delete(other);
    }
    return instance;
  };

  const parse = async (text: string): Promise<unknown> => {
    const prepared = await parser.prepare("SELECT json_serialize_sql($1::VARCHAR)::VARCHAR");
    try {
      prepared.bind([text]);
      const tree = String((await prepared.runAndReadAll()).getRows()[0]![0]);
      // A number such as 1e400 is written as Infinity, which is not JSON.
      return JSON.parse(tree.replaceAll(/:(-?)(Infinity|NaN|inf|nan)(?=[,}])/g, ":null")) as unknown;
    } finally {
      prepared.destroySync();
    }
  };

  /** The text of a statement that DuckDB has parsed. */
  const write = async (tree: unknown): Promise<string> => {
    // Where a place is not known, it is a number that JSON.parse has rounded.
    const json = JSON.stringify(tree, (name, value: unknown) => (name === "query_location" ? 0 : value));
    const prepared = await parser.prepare("SELECT json_deserialize_sql($1::JSON)");
    try {
      prepared.bind([json]);
      return String((await prepared.runAndReadAll()).getRows()[0]![0]);
    } finally {
      prepared.destroySync();
    }
  };

  return {
    parse,
    async compute(expression, parameters) {
      const { statements } = (await parse("SELECT 1")) as { readonly statements: readonly [{ readonly node: object }] };
      const node = { ...statements[0].node, select_list: [expression] };
      const sql = `SELECT one::VARCHAR FROM (${await write({ error: false, statements: [{ node }] })}) found(one)`;
      const prepared = await parser.prepare(sql);
      try {
        const { values, types } = bindingsOf(prepared, parameters);
        prepared.bind(values, types);
        const [[value] = [null]] = (await prepared.runAndReadAll()).getRows();
        return value === null ? null : String(value);
      } finally {
        prepared.destroySync();
      }
    },
    functions: () => (known ??= listFunctions(parser)),
    async describe(wanted) {
      const connection = await language.connect();
      try {
        for (const definition of wanted.definitions) await connection.run(definition);
        const { columns, dates } = await prepare(connection, { ...wanted, limit: null });
        return { columns, dates };
      } finally {
        connection.disconnectSync();
      }
    },
    async run(wanted, signal) {
      const connection = await (await instanceFor(wanted.paths)).connect();
      const interrupt = (): void => connection.interrupt();
      signal.addEventListener("abort", interrupt);
      const leave = (): void => {
        signal.removeEventListener("abort", interrupt);
        connection.disconnectSync();
      };
      try {
        for (const definition of wanted.definitions) await connection.run(definition);
        const { columns, statement } = await prepare(connection, wanted);
        signal.throwIfAborted();
        const ahead: Ahead = { held: 0, most: MOST_AHEAD };
        const chunks = fetchChunks(statement, byMarker(columns.length), {
          ...{ connection, ahead, whenAdmitted: (job) => job() },
        });
        return {
          columns,
          async *batches() {
            try {
              yield* batchesOf(runningChunks(chunks, batchReader(columns), async () => undefined));
            } catch (error) {
              signal.throwIfAborted();
              throw error;
            }
          },
          async close() {
            await chunks.close();
            leave();
          },
        };
      } catch (error) {
        leave();
        signal.throwIfAborted();
        throw error;
      }
    },
    close() {
      for (const instance of open.values()) instance.closeSync();
      parser.disconnectSync();
      language.closeSync();
    },
  };
}

async function listFunctions(connection: DuckDBConnection): Promise<ReadonlyMap<string, boolean>> {
  const found = await connection.runAndReadAll(
    "SELECT function_name, bool_and(coalesce(stability, 'CONSISTENT') = 'CONSISTENT') FROM duckdb_functions() " +
      "WHERE function_type IN ('scalar', 'aggregate', 'macro') GROUP BY ALL",
  );
  return new Map(found.getRows().map(([name, isPure]) => [String(name), isPure === true]));
}

/**
 * The statement in the types of the API, with a marker after its last row. The name of the result keeps users' text apart
 * from ours; a comment at its end ends with the line.
 */
function framed(sql: string, columns: readonly string[], limit: number | null): string {
  const shown = `SELECT ${columns.join(", ")} FROM (${sql}\n)${limit === null ? "" : ` LIMIT ${limit + 1}`}`;
  return `SELECT *, false FROM (${shown}) UNION ALL SELECT ${columns.map(() => "NULL").join(", ")}, true`;
}

async function prepare(
  connection: DuckDBConnection,
  { sql, parameters, limit }: Omit<SandboxStatement, "paths">,
): Promise<Description & { readonly statement: BoundStatement }> {
  const prepared = await connection.prepare(sql);
  try {
    const bindings = bindingsOf(prepared, parameters);
    const typed = isTyped(prepared)
      ? prepared
      : await withPrepared(connection, { sql: `FROM (${sql}\n) LIMIT 0`, ...bindings }, (bound) => bound.run());
    const columns = columnsOf(typed);
    const shown = framed(
      sql,
      columns.map((one) => one.sql),
      limit,
    );
    const dates = datesAmong(prepared, bindings);
    return { columns: columns.map(({ column }) => column), dates, statement: { sql: shown, ...bindings } };
  } finally {
    prepared.destroySync();
  }
}
