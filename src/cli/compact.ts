// tapehouse compact
import { Command } from "commander";
import { compact, type CompactReport } from "../store/compact.js";
import { dataOption, jsonOption, memoryOption, requireLake } from "./options.js";
import { printJson, say } from "./out.js";
import { createProgress } from "./progress.js";

export function compactCommand(): Command {
  return new Command("compact")
    .description("Join small date files into large ones and build the code copies. Rows do not change.")
    .addOption(memoryOption())
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse compact")
    .action(async (options: { data: string; memory: string; json?: boolean }) => {
      await requireLake(options.data);
      const progress = createProgress(process.stderr);
      try {
        const report = await compact(options.data, { memory: options.memory }, (entity, done, total) =>
          progress.show({ what: `compacting ${entity}`, done, total, unit: "rows" }),
        );
        progress.done();
        if (options.json) printJson(report);
        else say(describe(report));
      } finally {
        progress.done();
      }
    });
}

function describe({ entities, version }: CompactReport): readonly string[] {
  if (!version) return ["nothing to compact"];
  const lines = entities.map(({ entity, filesBefore, filesAfter, codeCopy }) => {
    const copy = codeCopy === "built" ? ", code copy built" : "";
    return `${entity}: ${filesBefore} date files, now ${filesAfter}${copy}`;
  });
  return [...lines, `published as data_version ${version.data_version}`];
}
