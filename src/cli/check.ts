// tapehouse check: the checks of the catalog over what is stored.
import { Command, InvalidArgumentError } from "commander";
import { ENTITIES } from "../catalog/index.js";
import { parseDate } from "../dates.js";
import { OperatorError } from "../errors.js";
import { describeFinding, isSevere, namedFindings } from "../lake/findings.js";
import { checkLake, type EntityFindings, type LakeFindings } from "../store/check-lake.js";
import { plural } from "../words.js";
import { requireEntity } from "./import.js";
import { dataOption, jsonOption, memoryOption, requireLake } from "./options.js";
import { printJson, say } from "./out.js";
import { createProgress } from "./progress.js";

interface Options {
  readonly data: string;
  readonly memory: string;
  readonly from?: string;
  readonly to?: string;
  readonly severe?: boolean;
  readonly json?: boolean;
}

export function checkCommand(): Command {
  return new Command("check")
    .description("Check what is stored: prices, changes, units, days and codes. Nothing is changed.")
    .argument("[entity...]", "only these entities")
    .option("--from <date>", "first day to check", day)
    .option("--to <date>", "last day to check", day)
    .option("--severe", "only what cannot be true, without what is merely suspicious")
    .addOption(memoryOption())
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  $ tapehouse check\n  $ tapehouse check daily --from 20250101 --severe")
    .action(async (names: string[], options: Options) => {
      await requireLake(options.data);
      const { memory, from = null, to = null, severe = false } = options;
      if (from !== null && to !== null && from > to) throw new OperatorError(`--from ${from} is after --to ${to}`, 2);
      const entities = names.length === 0 ? ENTITIES : names.map(requireEntity);
      const progress = createProgress(process.stderr);
      try {
        const report = await checkLake(
          options.data,
          entities,
          { memory, from, to, severity: severe ? "severe" : null },
          (entity, done, total) => progress.show({ what: `checking ${entity}`, done, total, unit: "rows" }),
        );
        progress.done();
        if (options.json) printJson(withMeaning(report), 2);
        else say(describe(report));
        const wrong = report.entities.flatMap(({ findings }) => namedFindings(findings).filter(isSevere));
        if (wrong.length > 0) throw new OperatorError(`${plural(wrong.length, "check")} found what cannot be true`);
      } finally {
        progress.done();
      }
    });
}

function day(text: string): string {
  const date = parseDate(text);
  if (date === undefined) throw new InvalidArgumentError("It must be a day such as 20250102.");
  return date;
}

/** Findings with the severity and the sentence of their checks. */
const withMeaning = ({ data_version, entities }: LakeFindings): unknown => ({
  data_version,
  entities: entities.map(({ entity, rows, findings }) => ({
    entity,
    rows,
    findings: namedFindings(findings).map(({ about: { severity, says }, ...finding }) => ({
      ...{ check: finding.check, severity, says, count: finding.count },
      ...{ days: finding.days, examples: finding.examples },
    })),
  })),
});

const describe = ({ entities }: LakeFindings): readonly string[] =>
  entities.length === 0 ? ["there is nothing to check"] : entities.flatMap(describeEntity);

function describeEntity({ entity, rows, findings }: EntityFindings): readonly string[] {
  const named = namedFindings(findings);
  if (named.length === 0) return [`${entity}: ${plural(rows, "row")}, nothing found`];
  const lines = named.map((finding) => `  ${finding.about.severity}: ${describeFinding(finding)}`);
  return [`${entity}: ${plural(rows, "row")}`, ...lines.sort()];
}
