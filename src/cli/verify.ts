// tapehouse verify
import { Command } from "commander";
import { OperatorError } from "../errors.js";
import type { Fault } from "../repair/inventory.js";
import { repair, type RepairReport } from "../repair/repair.js";
import type { WentBack } from "../repair/last-whole.js";
import { verify, type OnFile, type VerifyReport } from "../repair/verify.js";
import { isOfDrops } from "../lake/ledger.js";
import { dataOption, jsonOption, memoryOption, requireLake } from "./options.js";
import { note, printJson, say } from "./out.js";
import { createProgress } from "./progress.js";
import { count, plural, size } from "../words.js";

interface Options {
  readonly data: string;
  readonly memory: string;
  readonly deep?: boolean;
  readonly repair?: boolean;
  readonly giveUp?: boolean;
  readonly backToLastWhole?: boolean;
  readonly json?: boolean;
}

export function verifyCommand(): Command {
  return new Command("verify")
    .description("Check all files of all kept versions, and the content of the files of the served version.")
    .option("--deep", "check the content of the files of all versions, and compare the code copies with the date files")
    .option(
      "--repair",
      "restore what is damaged: from the code copy or data files, from older versions, or from the inbox",
    )
    .option("--give-up", "with --repair: continue without rows that cannot be restored")
    .option(
      "--back-to-last-whole",
      "with --repair: serve the last version whose files are all intact, and name what to import again",
    )
    .addOption(memoryOption())
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  $ tapehouse verify --deep\n  $ tapehouse verify --repair")
    .action(async (options: Options) => {
      if (options.giveUp && !options.repair) throw new OperatorError("--give-up requires --repair", 2);
      if (options.backToLastWhole && !options.repair)
        throw new OperatorError("--back-to-last-whole requires --repair", 2);
      if (options.backToLastWhole && options.giveUp)
        throw new OperatorError("--back-to-last-whole keeps all rows of a version, --give-up does not: use one", 2);
      await requireLake(options.data);
      const progress = createProgress(process.stderr);
      try {
        const onFile: OnFile = (what, done, total) => progress.show({ what, done, total, unit: "bytes" });
        const { deep = false, giveUp = false } = options;
        const report = options.repair
          ? await repair(options.data, { ...options, deep, giveUp, log: note }, onFile)
          : await verify(options.data, { ...options, deep }, onFile);
        progress.done();
        if (options.json) printJson(report);
        else say(describe(report, options));
        if (report.faults.length > 0) throw new OperatorError(`${plural(report.faults.length, "fault")} found`);
      } finally {
        progress.done();
      }
    });
}

function describe(report: VerifyReport | RepairReport, { giveUp }: Options): readonly string[] {
  const lines = report.faults.flatMap(describeFault);
  if ("repaired" in report) {
    lines.push(...report.manifest);
    lines.push(...report.takenAgain.flatMap(describeReimport));
    lines.push(...report.repaired.map(describeRepaired));
    lines.push(...report.lost.flatMap((lost) => describeLost(lost, giveUp === true)));
    if (report.back) lines.push(...describeBack(report.back));
    if (report.version) lines.push(`published as data_version ${report.version.data_version}`);
  }
  const { versions, files, bytes, faults, lastWhole } = report;
  if (lastWhole) {
    lines.push(
      `version ${lastWhole.data_version} (${lastWhole.reason}) is whole: tapehouse verify --repair --back-to-last-whole ` +
        `serves it again and names what to import again${giveUp ? "; this is better than --give-up" : ""}`,
    );
  }
  const checked = `${plural(versions, "version")}, ${plural(files, "data file")}, ${size(bytes)}`;
  lines.push(`${checked}: ${faults.length === 0 ? "no faults" : plural(faults.length, "fault")}`);
  return lines;
}

/** The file through which every version is found. */
const POINTER = "state/current";

function describeFault({ path, entity, problem, versions }: Fault): string[] {
  if (versions.length === 0 && path !== POINTER) return [`${path}: ${problem}`];
  const needed =
    versions.length > 2 ? `${versions.length} versions, the last ${versions.at(-1)}` : versions.join(" and ");
  return [`${path}: ${problem}`, `  needed by ${needed || "every version"}${entity === null ? "" : ` for ${entity}`}`];
}

function describeRepaired({ path, rows, from, isSame }: RepairReport["repaired"][number]): string {
  if (from === "copy") return `${path}: restored from the code copy or the data files`;
  const state = isSame ? "identical" : "the same number as before; rows imported without the inbox may be missing";
  return `${path}: ${plural(rows, "row")} restored from the inbox, ${state}`;
}

function describeReimport({ entity, files, rows, missing }: RepairReport["takenAgain"][number]): string[] {
  const taken = `${entity}: ${plural(files, "drop")} imported again from the inbox, ${plural(rows, "row")}`;
  return [taken, ...describeMissing(missing)];
}

function describeLost(
  { entity, first, last, rows, inInbox, missing }: RepairReport["lost"][number],
  givenUp: boolean,
): string[] {
  const what = first === null ? "the rows without a date" : `${first} to ${last}`;
  const held = `${entity} ${what}: ${count(inInbox)} of ${plural(rows, "row")} are in the inbox`;
  const state = givenUp
    ? "they are served; the others are lost: import them again"
    : "nothing was changed. --repair --give-up serves them without the others";
  return [`${held}; ${state}`, ...describeMissing(missing)];
}

/** Reasons of versions that changed no row. */
const CHANGES_NOTHING = /^(compact|repair|back to )/;

function describeBack({ to, undone, again, gone }: WentBack): string[] {
  const list = (what: string, items: readonly string[]): string[] =>
    items.length === 0 ? [] : [what, ...describeMissing(items)];
  const others = undone.filter(({ reason }) => !isOfDrops(reason) && !CHANGES_NOTHING.test(reason));
  return [
    `version ${to} is served again; ${plural(undone.length, "later version")} undone`,
    ...list("these drops are in the inbox and will be imported again:", again),
    ...list("these drops are no longer in the inbox, drop them again:", gone),
    ...list(
      "these were not made by drops, repeat what made them:",
      others.map(({ data_version, reason }) => `${data_version}: ${reason}`),
    ),
  ];
}

/** Maximum number of reasons shown; --json has all. */
const SHOWN = 5;

function describeMissing(reasons: readonly string[]): string[] {
  const more = reasons.length > SHOWN ? [`  and ${reasons.length - SHOWN} more: see --json`] : [];
  return [...reasons.slice(0, SHOWN).map((reason) => `  ${reason}`), ...more];
}
