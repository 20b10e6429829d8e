// tapehouse delete ENTITY
import { Command } from "commander";
import { OperatorError } from "../errors.js";
import type { Selection } from "../lake/ledger.js";
import { deleteRows, type Deleted } from "../store/delete.js";
import { plural, some } from "../words.js";
import { confirm } from "./confirm.js";
import { requireEntity } from "./import.js";
import { dataOption, jsonOption, memoryOption, requireLake } from "./options.js";
import { note, printJson, say } from "./out.js";

interface Options {
  readonly data: string;
  readonly memory: string;
  readonly where?: Selection["where"];
  readonly from?: string;
  readonly to?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function deleteCommand(): Command {
  return new Command("delete")
    .description("Delete rows from the served version. Older versions keep them.")
    .argument("<entity>", "the entity of the rows, e.g. daily")
    .option(
      "--where <column=value,...>",
      "rows with one of these values, as in a request; may be repeated for other columns",
      addCondition,
    )
    .option("--from <day>", "rows from this day on, YYYYMMDD")
    .option("--to <day>", "rows up to this day, YYYYMMDD")
    .option("--all", "all rows of the entity")
    .option("--dry-run", "show which rows would be deleted")
    .option("--yes", "do not ask for confirmation")
    .addOption(memoryOption())
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nExamples:\n  $ tapehouse delete daily --where trade_date=20251218" +
        "\n  $ tapehouse delete daily --where ts_code=600519.SH,000001.SZ --from 20251201 --to 20251231" +
        "\n  $ tapehouse delete income --where period=20250930 --where report_type=2 --dry-run",
    )
    .action(async (name: string, { data, memory, ...options }: Options) => {
      const entity = requireEntity(name);
      await requireLake(data);
      const { where = [], from = null, to = null, all = false } = options;
      const selection: Selection = { where, from, to, all };
      const found = await deleteRows(data, entity, selection, { memory, dryRun: true });
      const isFinal = options.dryRun || found.rows === 0;
      if (!isFinal && !options.yes) {
        note(`${summary(found)} would be deleted`);
        await confirm("Delete them?");
      }
      const deleted = isFinal ? found : await deleteRows(data, entity, selection, { memory, log: note });
      if (options.json) printJson(deleted);
      else say(describe(deleted, options.dryRun ?? false));
    });
}

function addCondition(text: string, before: Selection["where"] = []): Selection["where"] {
  const at = text.indexOf("=");
  if (at < 1) throw new OperatorError(`--where "${text}" does not have the form column=value`, 2);
  return [...before, [text.slice(0, at).trim(), text.slice(at + 1).trim()]];
}

function describe(deleted: Deleted, dryRun: boolean): readonly string[] {
  const { entity, rows, version } = deleted;
  if (rows === 0) return [`no rows of ${entity} match: nothing was changed`];
  if (dryRun) return [`${summary(deleted)} would be deleted`, "dry run: nothing was changed"];
  return [
    `${summary(deleted)} deleted; older versions still have them`,
    `published as data_version ${version!.data_version}`,
  ];
}

/** E.g. `daily: 12 rows of 2 days (20250106 5, 20250107 7)`. */
function summary({ entity, rows, days }: Deleted): string {
  const dated = days.filter(({ date }) => date !== null);
  const without = days.find(({ date }) => date === null);
  const each = dated.map(({ date, rows: count }) => `${date} ${count}`);
  const undated = without && dated.length > 0 ? [`no date ${without.rows}`] : [];
  const on = each.length === 0 ? "" : ` of ${plural(each.length, "day")} (${some([...each, ...undated])})`;
  return `${entity}: ${plural(rows, "row")}${on}`;
}
