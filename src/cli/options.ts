// Options that several commands share.
import { Option } from "commander";
import { bytesOf, dataDirectory, fileRows, memorySize, SETTINGS } from "../config.js";
import { OperatorError } from "../errors.js";
import { layoutOf } from "../lake/layout.js";
import { exists } from "../store/durable.js";
import { printJson, say } from "./out.js";
import { tableLines, type Row } from "./table.js";

/** `--data DIR`, or TAPEHOUSE_DATA, or ./parquet. */
export const dataOption = (): Option =>
  new Option("--data <dir>", SETTINGS.data.meaning)
    .env(SETTINGS.data.env)
    .default(SETTINGS.data.fallback)
    .argParser(dataDirectory);

/** Refuses a folder in which no lake was ever begun: a name that was mistyped. */
export async function requireLake(data: string): Promise<void> {
  const { state, inbox } = layoutOf(data);
  if ((await exists(state)) || (await exists(inbox))) return;
  throw new OperatorError(`there is no lake in ${data} (make one with: tapehouse import, or tapehouse demo)`);
}

export const jsonOption = (): Option => new Option("--json", "print JSON for machines");

export const memoryOption = (): Option =>
  new Option("--memory <size>", "memory that DuckDB may use; more spills to the disk")
    .default("4GB")
    .argParser((text) => memorySize("--memory", text));

export const maxFileRowsOption = (): Option =>
  new Option("--max-file-rows <n>", SETTINGS.maxFileRows.meaning)
    .env(SETTINGS.maxFileRows.env)
    .default(Number(SETTINGS.maxFileRows.fallback), SETTINGS.maxFileRows.fallback)
    .argParser(fileRows);

export const maxUnpackedOption = (): Option =>
  new Option("--max-unpacked <size>", SETTINGS.maxUnpacked.meaning)
    .env(SETTINGS.maxUnpacked.env)
    .default(bytesOf(SETTINGS.maxUnpacked.fallback), SETTINGS.maxUnpacked.fallback)
    .argParser((text) => bytesOf(memorySize("--max-unpacked", text)));

/** Prints rows as a table as wide as the terminal at most, or as JSON. */
export function printTable(rows: readonly Row[], options: TableOptions): void {
  const { json = false, none, yielding } = options;
  const width = process.stdout.columns || Infinity;
  if (json) printJson(rows, 2);
  else if (rows.length === 0) say(none);
  else say(tableLines(rows, width, yielding));
}

interface TableOptions {
  readonly json?: boolean | undefined;
  /** What is printed where there are no rows. */
  readonly none: string;
  /** The columns that give way where there is no room. */
  readonly yielding: readonly string[];
}
