// tapehouse compact | vacuum
import { Command, Option } from "commander";
import { compact, type CompactReport } from "../store/compact.js";
import { dataOption, jsonOption, memoryOption, requireLake } from "./options.js";
import { note, printJson, say } from "./out.js";
import { createProgress } from "./progress.js";
import { parseSpan } from "../dates.js";
import { OperatorError } from "../errors.js";
import { vacuum, type VacuumReport } from "../store/vacuum.js";
import { plural, size } from "../words.js";

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
        const report = await compact(options.data, { memory: options.memory, log: note }, (entity, done, total) =>
          progress.show({ what: `compacting ${entity}`, done, total, unit: "rows" }),
        );
        progress.done();
        if (options.json) printJson(report);
        else say(describeCompaction(report));
      } finally {
        progress.done();
      }
    });
}

function describeCompaction({ entities, version }: CompactReport): readonly string[] {
  if (!version) return ["nothing to compact"];
  const lines = entities.map(({ entity, filesBefore, filesAfter, codeCopy }) => {
    const copy = codeCopy === "built" ? ", code copy built" : "";
    return `${entity}: ${filesBefore} date files, now ${filesAfter}${copy}`;
  });
  return [...lines, `published as data_version ${version.data_version}`];
}

interface VacuumOptions {
  readonly data: string;
  readonly olderThan: number;
  readonly keep: number;
  readonly trustClock?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function vacuumCommand(): Command {
  return new Command("vacuum")
    .description(
      "Remove versions that were replaced long ago, files that only they need, and leftovers of crashes. " +
        "Reads of a removed version fail, even those in progress: the default of 7 days leaves time for running reads to finish.",
    )
    .addOption(
      new Option("--older-than <span>", "time since a version was replaced, e.g. 30d or 12h")
        .argParser(span)
        .default(parseSpan("7d"), "7d"),
    )
    .option("--keep <n>", "number of newest versions to keep in any case, including the served one", atLeastOne, 1)
    .option("--trust-clock", "trust the clock although there has been no new version for a long time")
    .option("--dry-run", "print what would be removed without removing anything")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse vacuum --older-than 30d --keep 10")
    .action(async (options: VacuumOptions) => {
      await requireLake(options.data);
      const report = await vacuum(options.data, { ...options, now: new Date() });
      if (options.json) printJson(report);
      else say(describeVacuum(report, options.dryRun ?? false));
    });
}

function describeVacuum({ removed, kept, files, bytes }: VacuumReport, dryRun: boolean): readonly string[] {
  const range = removed.length === 0 ? "" : ` (${removed[0]} to ${removed.at(-1)})`;
  return [
    `${dryRun ? "would remove" : "removed"} ${plural(removed.length, "version")}${range}`,
    `${dryRun ? "would free" : "freed"} ${size(bytes)} in ${plural(files, "file")}; ${plural(kept, "version")} left`,
  ];
}

function span(text: string): number {
  const value = parseSpan(text);
  if (value === undefined) throw new OperatorError(`"${text}" is not a duration; write 30d or 12h`, 2);
  return value;
}

function atLeastOne(text: string): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 1) throw new OperatorError(`"${text}" is not a number of versions; at least 1 is kept`, 2);
  return value;
}
