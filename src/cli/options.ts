// Options that several commands share.
import { Option, type Command } from "commander";
import { envOf, flagOf, SETTINGS, settingsOf } from "../settings.js";
import { OperatorError } from "../errors.js";
import { layoutOf } from "../lake/layout.js";
import { exists } from "../store/durable.js";
import { size } from "../setting-values.js";
import { printJson, say } from "./out.js";
import { tableLines, type Row } from "./table.js";

/** `--data DIR`, or TAPEHOUSE_DATA, or ./parquet. */
export const dataOption = (): Option =>
  new Option("--data <dir>", SETTINGS.data.meaning)
    .env(envOf("data"))
    .default(SETTINGS.data.fallback)
    .argParser((text) => SETTINGS.data.parse(text, "--data"));

/** Gives a command an option for each of its settings, as text for `readConfig`. */
export function addSettings(command: Command, of: Parameters<typeof settingsOf>[0]): Command {
  for (const name of settingsOf(of)) {
    const { fallback, meaning } = SETTINGS[name];
    command.option(`${flagOf(name)} <value>`, `${meaning} (env ${envOf(name)}, default ${fallback})`);
  }
  return command;
}

/** Refuses a folder without a lake, such as a mistyped name. */
export async function requireLake(data: string): Promise<void> {
  const { state, inbox } = layoutOf(data);
  if ((await exists(state)) || (await exists(inbox))) return;
  throw new OperatorError(`there is no lake in ${data} (create one with: tapehouse import, or tapehouse demo)`);
}

export const jsonOption = (): Option => new Option("--json", "print JSON for programs");

export const memoryOption = (): Option =>
  new Option("--memory <size>", "memory that DuckDB may use; anything above spills to disk")
    .default("4GB")
    .argParser((text) => size(text, "--memory"));

/** A limit on imported files, as a command without `readConfig` takes it. */
export function limitOption(name: "maxFileRows" | "maxUnpacked"): Option {
  const { fallback, meaning, parse } = SETTINGS[name];
  const flag = flagOf(name);
  return new Option(`${flag} <value>`, meaning)
    .env(envOf(name))
    .default(parse(fallback, flag), fallback)
    .argParser((text) => parse(text, flag));
}

/** Prints rows as a table no wider than the terminal, or as JSON. */
export function printTable(rows: readonly Row[], options: TableOptions): void {
  const { json = false, none, shortenable } = options;
  const width = process.stdout.columns || Infinity;
  if (json) printJson(rows, 2);
  else if (rows.length === 0) say(none);
  else say(tableLines(rows, width, shortenable));
}

interface TableOptions {
  readonly json?: boolean | undefined;
  /** Printed if there are no rows. */
  readonly none: string;
  /** Columns that are shortened if the table is too wide. */
  readonly shortenable: readonly string[];
}
