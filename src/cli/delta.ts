// tapehouse delta | delta on | delta off | delta versions
import { Command } from "commander";
import type { DeltaVersion } from "../delta/history.js";
import { OperatorError } from "../errors.js";
import { layoutOf } from "../lake/layout.js";
import { beginTables, endTables, followTables, listTables } from "../store/tables.js";
import { plural } from "../words.js";
import { requireEntity } from "./import.js";
import { dataOption, jsonOption, requireLake } from "./options.js";
import { note, printJson, printTable, say } from "./out.js";

interface Options {
  readonly data: string;
  readonly json?: boolean;
}

export function deltaCommand(): Command {
  const command = new Command("delta")
    .description("Bring the Delta tables up to the served version, and list them. Engines read them in place.")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse delta on && tapehouse delta versions daily")
    .action(async (options: Options) => {
      await requireLake(options.data);
      const commits = await followTables(layoutOf(options.data));
      if (commits === null)
        throw new OperatorError("this lake has no Delta tables (begin them with: tapehouse delta on)");
      await list(options, commits);
    });
  command
    .command("on")
    .description("Begin Delta tables. From now on, whatever publishes a version also commits to them.")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse delta on")
    .action(async (_: Options, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      await requireLake(options.data);
      await list(options, await beginTables(options.data));
    });
  command
    .command("off")
    .description("End the Delta tables, and remove their logs. The rows stay in the lake.")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse delta off")
    .action(async (_: Options, command: Command) => {
      const { data, json } = command.optsWithGlobals<Options>();
      await requireLake(data);
      const ended = await endTables(data);
      if (json) printJson({ ended });
      else say(`${plural(ended, "Delta table")} ended`);
    });
  command
    .command("versions <entity>")
    .description("List the versions of a Delta table beside those of the lake, oldest first.")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse delta versions daily")
    .action(async (name: string, _: Options, command: Command) => {
      const { data, json } = command.optsWithGlobals<Options>();
      const entity = requireEntity(name);
      await requireLake(data);
      const versions = await listTables(data, entity);
      printTable(versions.map(rowOf), { json, none: `${name} has no Delta table`, shortenable: ["reason"] });
    });
  return command;
}

/** Lists the newest version of each table. */
async function list({ data, json }: Options, commits: number): Promise<void> {
  if (commits > 0) note(`${plural(commits, "commit")} written`);
  const rows = (await listTables(data)).map((version) => ({ entity: version.entity, ...rowOf(version) }));
  printTable(rows, { json, none: "no tables yet: nothing has been imported", shortenable: ["reason"] });
}

const rowOf = ({ version, data_version, rows, time, reason, isKept }: DeltaVersion) => ({
  ...{ version, data_version, rows, time, reason },
  kept: isKept ? "yes" : "no",
});
