// Options that several commands share.
import { Option } from "commander";
import { dataDirectory, memorySize, SETTINGS } from "../config.js";
import { CommandError } from "../errors.js";
import { layoutOf } from "../lake/layout.js";
import { exists } from "../lake/write/durable.js";

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
  throw new CommandError(`there is no lake in ${data} (make one with: tapehouse import, or tapehouse demo)`);
}

export const jsonOption = (): Option => new Option("--json", "print JSON for machines");

export const memoryOption = (): Option =>
  new Option("--memory <size>", "memory that DuckDB may use; more spills to the disk")
    .default("4GB")
    .argParser((text) => memorySize("--memory", text));

/** Prints rows as aligned columns, or as JSON. */
export function printTable(rows: readonly Record<string, string | number | null>[], json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return;
  }
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? "")))];
  const widths = names.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)));
  for (const line of lines) {
    process.stdout.write(
      `${line
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join("  ")
        .trimEnd()}\n`,
    );
  }
}
