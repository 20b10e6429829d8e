// tapehouse copies
import { Command } from "commander";
import { readConfig } from "../config.js";
import { type CopyCount, makeCopies } from "../copier/copier.js";
import { OperatorError } from "../errors.js";
import { openCopiesFolder } from "../lake/copies-folder.js";
import type { SettingName } from "../settings.js";
import { plural, size } from "../words.js";
import { addSettings, jsonOption, requireLake } from "./options.js";
import { note, printJson, say } from "./out.js";
import { untilSignal } from "./signals.js";

type Options = Partial<Record<SettingName, string>> & { readonly json?: boolean };

export function copiesCommand(): Command {
  return addSettings(
    new Command("copies").description(
      "Make the serving copies that are missing. serve does this by itself, but not with --no-watch.",
    ),
    "copies",
  )
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse copies")
    .action(async ({ json, ...options }: Options) => {
      const config = readConfig(options, process.env);
      await requireLake(config.data);
      const folder = await openCopiesFolder(config);
      if (folder === null) throw new OperatorError("--copies 0 and --copies none mean no serving copies", 2);
      const count = await untilSignal((signal) =>
        makeCopies(config.data, { folder, size: config.copies, log: note, signal }),
      );
      if (json) printJson(count);
      else say(describe(count));
      if (count.failed > 0) throw new OperatorError(`${plural(count.failed, "file")} could not be copied`);
    });
}

const describe = ({ made, removed, missing, failed, bytes }: CopyCount): readonly string[] => [
  `serving copies: ${made} made, ${removed} removed, ${size(bytes)} in all`,
  ...(missing > 0
    ? [`${plural(missing, "data file")} without a copy${failed < missing ? ": too little space" : ""}`]
    : []),
];
