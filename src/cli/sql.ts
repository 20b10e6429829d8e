// tapehouse sql: a statement over a version of the lake, without a server; without a statement, a prompt.
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { FORMAT_NAMES, FORMATS, type Format } from "../catalog/formats.js";
import { type GivenSettings, readConfig } from "../config.js";
import { OperatorError, Problem } from "../errors.js";
import { createIntegrity } from "../lake/integrity.js";
import { openLake, type Snapshot } from "../lake/lake.js";
import { ENGINES, parseSqlValues, type SqlRequest } from "../query/sql-request.js";
import { SETTINGS } from "../settings.js";
import { createClusterUse } from "../sql/cluster-use.js";
import { openSqlPool } from "../sql/pool.js";
import { type SqlService, withStatement } from "../sql/statement.js";
import { plural } from "../words.js";
import { addSettings, dataOption, memoryOption, requireLake } from "./options.js";
import { note, printTable, writeBytes } from "./out.js";
import { snapshotOf } from "./reading.js";
import { startPrompt } from "./sql-prompt.js";

type Parameters = SqlRequest["parameters"];

interface Options extends GivenSettings {
  readonly data: string;
  readonly memory: string;
  readonly format: Format | "table";
  readonly param: Parameters;
  readonly limit?: number;
  readonly at?: string;
  readonly engine: SqlRequest["engine"];
}

/** Rows of a table for people. */
const ROWS_OF_TABLE = 1_000;

export function sqlCommand(): Command {
  const command = new Command("sql")
    .description("Run a SELECT over the entities of a version; without a statement, read them from a prompt.")
    .argument("[statement]", "one SELECT in the SQL of DuckDB")
    .addOption(
      new Option("--format <name>", "how to print the rows").choices(["table", ...FORMAT_NAMES]).default("table"),
    )
    .option(
      "--param <name=value>",
      "the value of a parameter such as $from, or a list as JSON; repeat it for others",
      parameter,
      {},
    )
    .option("--limit <rows>", "print at most this many rows", rows)
    .option("--at <version>", "a kept version: its sequence or its data_version; by default the served one")
    .addOption(
      new Option("--engine <name>", "where to run it: local, cluster, or auto (by the size of the data files)")
        .choices(ENGINES)
        .default("auto"),
    );
  return addSettings(command, "sql")
    .addOption(memoryOption())
    .addOption(dataOption())
    .addHelpText(
      "after",
      '\nExamples:\n  $ tapehouse sql "SELECT count(*) FROM daily"' +
        "\n  $ tapehouse sql --param day=20240105 'FROM daily WHERE trade_date = $day' --format csv",
    )
    .action(async (statement: string | undefined, options: Options) => {
      await requireLake(options.data);
      const lake = await openLake(options.data);
      const snapshot = await snapshotOf(lake, options.at);
      const tempDirectory = await mkdtemp(join(tmpdir(), "tapehouse-sql-"));
      const { memory } = options;
      const limits = { memory, spill: SETTINGS.sqlSpill.fallback, threads: availableParallelism(), tempDirectory };
      const config = readConfig(options, process.env);
      const pool = openSqlPool({ ...limits, processes: 1, queue: 1, cluster: config.cluster });
      const cluster = createClusterUse(config, () => new Date(), note);
      const service = { pool, lake, integrity: createIntegrity(lake.layout), cluster };
      const run = (sql: string, signal: AbortSignal): Promise<void> =>
        runStatement(service, sql, { ...options, snapshot }, signal);
      try {
        if (statement === undefined) await startPrompt(snapshot.version.data_version, run);
        else await run(statement, new AbortController().signal);
      } finally {
        await pool.close();
        await rm(tempDirectory, { recursive: true, force: true });
      }
    });
}

interface Running extends Options {
  readonly snapshot: Snapshot;
}

async function runStatement(service: SqlService, sql: string, running: Running, signal: AbortSignal): Promise<void> {
  const { snapshot, param, engine, format: asked } = running;
  const isTable = asked === "table";
  const format = isTable ? "json" : asked;
  const limit = running.limit ?? (isTable ? ROWS_OF_TABLE : null);
  const answering = {
    ...{ dataVersion: snapshot.version.data_version, format, limit, encoding: "identity" as const },
    ...{ dates: null, compression: null, bom: null, mostRows: Infinity, deadline: Infinity },
    endFirst: !FORMATS[format].hasSummary,
  };
  const nothing = (): void => undefined;
  const statement = { asked: { sql, parameters: param }, engine, snapshot, answering, allow: nothing, onRows: nothing };
  try {
    await withStatement(service, statement, signal, async ({ truncated, pieces }) => {
      if (isTable) await printRows(pieces, limit!);
      else for await (const piece of pieces) await writeBytes(piece);
      if (truncated === true) note(`there are more than ${plural(limit!, "row")}`);
    });
  } catch (error) {
    throw error instanceof Problem ? new OperatorError(describe(error)) : error;
  }
}

interface Envelope {
  readonly columns: readonly { readonly name: string }[];
  readonly rows: readonly (readonly (string | number | null)[])[];
  readonly truncated: boolean;
}

async function printRows(pieces: AsyncIterable<Uint8Array>, limit: number): Promise<void> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(Buffer.from(piece));
  const { columns, rows, truncated } = JSON.parse(Buffer.concat(parts).toString("utf8")) as Envelope;
  const names = columns.map(({ name }) => name);
  const records = rows.map((row) => Object.fromEntries(names.map((name, i) => [name, shown(row[i])])));
  printTable(records, { none: "no rows", shortenable: names });
  if (truncated) note(`there are more than ${plural(limit, "row")}: choose another --limit, or --format csv for all`);
}

/** Numbers without separators: they may be years. */
const shown = (value: string | number | null | undefined): string | null =>
  typeof value === "number" ? String(value) : (value ?? null);

const describe = ({ detail, extras: { hint } }: Problem): string =>
  hint === undefined ? detail : `${detail} (${hint})`;

/** A value is text, or a list of texts or numbers as JSON. */
function parameter(text: string, known: Parameters): Parameters {
  const [, name, value] = /^\$?(\w+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError("It must be a name and a value such as from=20240101.");
  try {
    return { ...known, ...(value!.startsWith("[") ? parseSqlValues(`{"${name}":${value}}`) : { [name]: value! }) };
  } catch {
    throw new InvalidArgumentError('A list must be JSON, such as codes=["600519.SH","000001.SZ"].');
  }
}

function rows(text: string): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (value < 1) throw new InvalidArgumentError("It must be a whole number of rows.");
  return value;
}
