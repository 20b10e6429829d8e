// Options that several commands share.
import { join } from "node:path";
import { Option, type Command } from "commander";
import { MANIFEST } from "../backup/format.js";
import { commandMemory } from "../config.js";
import { envOf, flagOf, SETTINGS, settingsOf } from "../settings.js";
import { OperatorError } from "../errors.js";
import { layoutOf } from "../lake/layout.js";
import { exists } from "../durable.js";
import { parsers } from "../setting-values.js";
import { settingOption } from "./mirror-options.js";

/** `--data DIR`, or TAPEHOUSE_DATA, or ./parquet. */
export const dataOption = (): Option =>
  new Option("--data <dir>", SETTINGS.data.meaning)
    .env(envOf("data"))
    .default(SETTINGS.data.fallback)
    .argParser((text) => SETTINGS.data.parse(text, "--data"));

/** Gives a command an option for each of its settings, as text for `readConfig`. */
export function addSettings(command: Command, of: Parameters<typeof settingsOf>[0]): Command {
  for (const name of settingsOf(of)) command.addOption(settingOption(name));
  return command;
}

/** Refuses a folder without a lake, such as a mistyped name. */
export async function requireLake(data: string): Promise<void> {
  const { state, inbox } = layoutOf(data);
  if ((await exists(state)) || (await exists(inbox))) return;
  if (await exists(join(data, MANIFEST)))
    throw new OperatorError(`${data} is a backup: restore it into a data directory with tapehouse restore`);
  throw new OperatorError(`there is no lake in ${data} (create one with: tapehouse import, or tapehouse demo)`);
}

export const jsonOption = (): Option => new Option("--json", "print JSON for programs");

export const memoryOption = (): Option =>
  new Option("--memory <size>", "memory that DuckDB may use; anything above spills to disk")
    .default(commandMemory(), "4GB, or less if less memory is available")
    .argParser((text) => parsers.size(text, "--memory"));

/** A limit on imported files, as a command without `readConfig` takes it. */
export function limitOption(name: "maxFileRows" | "maxUnpacked"): Option {
  const { fallback, meaning, parse } = SETTINGS[name];
  const flag = flagOf(name);
  return new Option(`${flag} <value>`, meaning)
    .env(envOf(name))
    .default(parse(fallback, flag), fallback)
    .argParser((text) => parse(text, flag));
}
