// Settings as options, and those of mirrors, which every command with `--data` has. It is loaded at each start.
import { Option, type Command } from "commander";
import { isBucketAddress } from "../objects/address.js";
import { envOf, flagOf, settingNamed, SETTINGS, type SettingName } from "../settings.js";

export function settingOption(name: SettingName): Option {
  const { fallback, meaning, bare } = settingNamed(name);
  const text = `${meaning} (env ${envOf(name)}, default ${fallback})`;
  const option = new Option(`${flagOf(name)} ${bare === undefined ? "<value>" : "[value]"}`, text);
  return bare === undefined ? option : option.preset(bare);
}

const hasData = (command: Command): boolean => command.options.some(({ long }) => long === "--data");

/** Options for the mirror of a bucket, which every command with `--data` has. */
export function addMirrorOptions(command: Command): void {
  if (!hasData(command)) return;
  for (const name of ["mirror", "mirrorSize"] as const) command.addOption(settingOption(name));
}

/** What a command was given for a setting, as text. */
export const givenFor = (command: Command, name: SettingName): string =>
  (command.getOptionValue(name) as string | undefined) ?? process.env[envOf(name)] ?? SETTINGS[name].fallback;

/** The bucket that a command was given as its data directory; null if it is a folder. */
export function bucketGiven(command: Command): string | null {
  if (!hasData(command)) return null;
  const data = givenFor(command, "data");
  return isBucketAddress(data) ? data : null;
}
