// tapehouse verify
import { Command } from "commander";
import { CommandError } from "../errors.js";
import type { Fault } from "../lake/write/inventory.js";
import { repair, type Lost, type RepairReport } from "../lake/write/repair.js";
import { verify, type OnFile, type VerifyReport } from "../lake/write/verify.js";
import { dataOption, jsonOption, memoryOption, requireLake } from "./options.js";
import { createProgress } from "./progress.js";

interface Options {
  readonly data: string;
  readonly memory: string;
  readonly deep: boolean;
  readonly repair?: boolean;
  readonly giveUp: boolean;
  readonly json?: boolean;
}

export function verifyCommand(): Command {
  return new Command("verify")
    .description("Check every file of every kept version, and what is in the files of the served one.")
    .option("--deep", "look into the files of all versions, and compare the code copies with the date files", false)
    .option("--repair", "write damaged files of the served version again from the other copy, where there is one")
    .option("--give-up", "with --repair: take damaged files that stay so out of the served version", false)
    .addOption(memoryOption())
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  $ tapehouse verify --deep\n  $ tapehouse verify --repair")
    .action(async (options: Options) => {
      if (options.giveUp && !options.repair) throw new CommandError("--give-up goes with --repair", 2);
      await requireLake(options.data);
      const progress = createProgress(process.stderr);
      try {
        const onFile: OnFile = (path, bytes) => progress.show(`${megabytes(bytes)} checked, now ${path}`, 0);
        const report = options.repair
          ? await repair(options.data, options, onFile)
          : await verify(options.data, options, onFile);
        progress.done();
        process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : describe(report, options));
        if (report.faults.length > 0) throw new CommandError(`${plural(report.faults.length, "fault")} found`);
      } finally {
        progress.done();
      }
    });
}

function describe(report: VerifyReport | RepairReport, { giveUp }: Options): string {
  const lines = report.faults.map(describeFault);
  if ("repaired" in report) {
    lines.push(...report.repaired.map((path) => `${path}: written again from the other copy`));
    lines.push(...report.lost.map((lost) => describeLost(lost, giveUp)));
    if (report.version) lines.push(`published as data_version ${report.version.data_version}`);
  }
  const { versions, files, bytes, faults } = report;
  const checked = `${plural(versions, "version")}, ${plural(files, "data file")}, ${megabytes(bytes)}`;
  lines.push(`${checked}: ${faults.length === 0 ? "all is well" : plural(faults.length, "fault")}`);
  return `${lines.join("\n")}\n`;
}

function describeFault({ path, entity, problem, versions }: Fault): string {
  const needed =
    versions.length > 2 ? `${versions.length} versions, the last ${versions.at(-1)}` : versions.join(" and ");
  return `${path}: ${problem}\n  needed by ${needed || "every version"}${entity === null ? "" : ` for ${entity}`}`;
}

function describeLost({ entity, first, last, rows }: Lost, givenUp: boolean): string {
  const what = first === null ? `the rows without a date` : `${first} to ${last}`;
  const state = givenUp
    ? "taken out of the served version: import them again"
    : "no second copy holds them. Take them out with --repair --give-up, then import them again";
  return `${entity} ${what}, ${rows.toLocaleString("en-US")} rows: ${state}`;
}

const plural = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

const megabytes = (bytes: number): string =>
  `${(bytes / 1e6).toLocaleString("en-US", { maximumFractionDigits: 1 })} MB`;
