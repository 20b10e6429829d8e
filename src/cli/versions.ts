// tapehouse versions
import { Command } from "commander";
import { openLake } from "../lake/lake.js";
import { dataOption, jsonOption, printTable, requireLake } from "./options.js";

export function versionsCommand(): Command {
  return new Command("versions")
    .description("List the kept versions of the lake, oldest first. The last one is served.")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse versions")
    .action(async (options: { data: string; json?: boolean }) => {
      await requireLake(options.data);
      const versions = await (await openLake(options.data)).versions();
      const rows = versions.map(({ sequence, data_version, reason }) => ({ sequence, data_version, reason }));
      printTable(rows, {
        json: options.json,
        none: "no versions yet: nothing has been imported",
        shortenable: ["reason"],
      });
    });
}
