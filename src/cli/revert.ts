// tapehouse revert
import { Command } from "commander";
import { OperatorError } from "../errors.js";
import { revert, type RevertedEntity, type RevertOptions, type RevertReport } from "../store/revert.js";
import { revertDrops } from "../store/revert-drop.js";
import { count, plural, shown, some } from "../words.js";
import { confirm } from "./confirm.js";
import { requireEntity } from "./import.js";
import { dataOption, jsonOption, memoryOption, requireLake } from "./options.js";
import { note, printJson, say } from "./out.js";

interface Options {
  readonly data: string;
  readonly memory: string;
  readonly entity?: string;
  readonly drop?: readonly string[];
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function revertCommand(): Command {
  return new Command("revert")
    .description(
      "Take data back: serve the rows of an earlier version again, as a new version, or take back a single drop. " +
        "Drops that are taken back are withdrawn: they stay in the inbox, and are imported again only if they are dropped again.",
    )
    .argument("[version]", "the number or the data_version of an earlier version; see: tapehouse versions")
    .option(
      "--drop <file|id>",
      "take back this drop: its path in the inbox, or its ID from `tapehouse status`; may be repeated for drops of one version",
      (name: string, before: readonly string[] | undefined) => [...(before ?? []), name],
    )
    .option("--entity <entity>", "revert only this entity")
    .option("--dry-run", "show what would change without changing it")
    .option("--yes", "do not ask")
    .addOption(memoryOption())
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nExamples:\n  $ tapehouse revert 41 --dry-run" +
        "\n  $ tapehouse revert --drop daily/daily_20251218.csv" +
        "\n  $ tapehouse revert 2025-01-31T16:00:00.000+08:00 --entity daily --yes",
    )
    .action(async (name: string | undefined, options: Options) => {
      const { memory, data, json = false, drop = [] } = options;
      const entity = options.entity === undefined ? {} : { entity: requireEntity(options.entity) };
      const run = runOf(name, drop, data);
      await requireLake(data);
      await carryOut(options, json, (how) => run({ memory, log: note, ...entity, ...how }));
    });
}

/** What to do: go back to a version, or take back drops. */
function runOf(
  version: string | undefined,
  drops: readonly string[],
  data: string,
): (options: RevertOptions) => Promise<RevertReport> {
  if (version !== undefined && drops.length > 0) {
    throw new OperatorError("give a version or --drop, not both: a version takes back all later drops", 2);
  }
  if (drops.length > 0) return (options) => revertDrops(data, drops, options);
  if (version !== undefined) return (options) => revert(data, version, options);
  throw new OperatorError("which version? Name its number; see: tapehouse versions. Or name a drop with --drop", 2);
}

/** Shows what changes, asks, and does it. */
async function carryOut(
  { dryRun = false, yes = false, drop = [] }: Options,
  json: boolean,
  run: (how: Pick<RevertOptions, "dryRun" | "asIn">) => Promise<RevertReport>,
): Promise<void> {
  const show = json ? note : say;
  if (dryRun || yes) {
    const report = await run({ dryRun });
    if (!json) say(describe(report));
    end(report, dryRun, json, drop);
    return;
  }
  const plan = await run({ dryRun: true });
  show(describe(plan));
  if (plan.entities.length > 0) {
    await confirm(plan.to ? `Serve the rows of version ${plan.to.sequence} again?` : "Take these rows back?");
  }
  end(plan.entities.length > 0 ? await run({ asIn: plan }) : plan, false, json, drop);
}

function end(report: RevertReport, dryRun: boolean, json: boolean, drops: readonly string[]): void {
  const { version, entities } = report;
  if (json) printJson(report);
  else if (entities.length === 0)
    say(
      report.to
        ? "the same rows are served already: no new version"
        : `${some(drops.map(shown))} changed no rows: nothing to take back`,
    );
  else
    say(version ? `published as data_version ${version.data_version}` : dryRun ? "dry run: nothing was changed" : []);
}

function describe({ entities, withdrawn }: RevertReport): readonly string[] {
  const drops = `withdraws ${plural(withdrawn.length, "drop")}: ${some(withdrawn.map((path) => `inbox/${path}`))}`;
  return [...entities.map(describeEntity), ...(withdrawn.length > 0 ? [drops] : [])];
}

function describeEntity({ entity, before, after, difference }: RevertedEntity): string {
  const extent = ({ rows, first, last }: RevertedEntity["before"]): string =>
    first === null ? plural(rows, "row") : `${plural(rows, "row")} from ${first} to ${last}`;
  const change = `${entity}: ${extent(before)} → ${extent(after)}`;
  if (!difference) return `${change}; a file of the current rows is damaged, so they cannot be compared`;
  const { gone, back, days, first, last } = difference;
  const range = first === last ? `on ${first}` : `on ${plural(days, "day")} from ${first} to ${last}`;
  return `${change}; ${count(gone)} go, ${count(back)} come back${days === 0 ? "" : `, ${range}`}`;
}
