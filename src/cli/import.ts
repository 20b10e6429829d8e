// tapehouse import ENTITY FILE...
import { Command, Option } from "commander";
import { REPLACE_MODES, type ReplaceMode } from "../catalog/replace.js";
import { entityNamed, ENTITY_NAMES } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import { OperatorError, nearest } from "../errors.js";
import { importFiles, type ImportReport } from "../store/import.js";
import { conflictNote, fateOfMissing, notesOn } from "../store/notes.js";
import { dataOption, jsonOption, limitOption, memoryOption } from "./options.js";
import { note, printJson, say } from "./out.js";
import { createProgress } from "./progress.js";
import { count, plural, shown } from "../words.js";

interface Options {
  readonly data: string;
  readonly memory: string;
  readonly maxFileRows: number;
  readonly maxUnpacked: number;
  readonly map?: Readonly<Record<string, string>>;
  readonly set?: Readonly<Record<string, string>>;
  readonly replace?: ReplaceMode;
  readonly completeCodes?: boolean;
  readonly allowContradictions?: boolean;
  readonly strict?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function importCommand(): Command {
  return new Command("import")
    .description("Check, normalize and merge files into the lake: .parquet .csv .csv.gz .json .ndjson")
    .argument("<entity>", "the entity of the files, e.g. daily")
    .argument("<file...>", "one or more files; either all are imported or none")
    .option("--map <from=to,...>", "rename columns: file column=entity column; NAME= leaves a column out", parsePairs)
    .option("--set <column=value,...>", "columns that the file lacks, with a value for every row", parsePairs)
    .addOption(
      new Option(
        "--replace <mode>",
        "the files are complete for their days, snapshots or codes: stored rows of these that are not in the files are removed",
      ).choices(REPLACE_MODES),
    )
    .option("--complete-codes", "add the exchange to codes of stocks that are only a number")
    .option("--allow-contradictions", "import a calendar that contradicts many days of the lake")
    .option("--strict", "refuse files with rows that cannot be true; see tapehouse check")
    .option("--dry-run", "show the result without importing anything")
    .addOption(memoryOption())
    .addOption(limitOption("maxFileRows"))
    .addOption(limitOption("maxUnpacked"))
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nExamples:\n  $ tapehouse import daily daily_20251218.csv" +
        "\n  $ tapehouse import adj_factor factors.parquet --map asset=ts_code,date=trade_date,adjust=adj_factor" +
        "\n  $ tapehouse import stock_list stock_basic.csv --set snapshot_date=20251218" +
        "\n  $ tapehouse import daily final_20251218.csv --replace day",
    )
    .action(async (entityName: string, files: string[], options: Options) => {
      const entity = requireEntity(entityName);
      const { map = {}, set = {} } = options;
      const limits = { rows: options.maxFileRows, unpacked: options.maxUnpacked };
      const progress = createProgress(process.stderr);
      try {
        const report = await importFiles(
          options.data,
          entity,
          files,
          { ...options, map, set, limits, log: note },
          (phase, detail, done, total) => {
            progress.show({ what: `${phase} ${detail}`, done, total, unit: phase === "reading" ? "bytes" : "rows" });
          },
        );
        progress.done();
        if (options.json) printJson(withoutTables(report));
        else say(describe(entity, report, options));
      } finally {
        progress.done();
      }
    });
}

/** The entity of this name; throws an OperatorError that names the nearest one. */
export function requireEntity(name: string): Entity {
  const entity = entityNamed(name);
  if (entity) return entity;
  const near = nearest(name, ENTITY_NAMES);
  const hint = near ? `did you mean ${near}?` : `known: ${ENTITY_NAMES.join(", ")}`;
  throw new OperatorError(`there is no entity "${name}"; ${hint}`, 2);
}

function parsePairs(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const pairs = text.split(",").map((pair): [string, string] => {
    const at = pair.indexOf("=");
    if (at < 1) throw new OperatorError(`"${pair}" does not have the form name=value`, 2);
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
  });
  return { ...before, ...Object.fromEntries(pairs) };
}

/** The report without the names of temporary tables. */
function withoutTables(report: ImportReport): unknown {
  return { ...report, files: report.files.map((file) => ({ ...file, table: undefined, sorted: undefined })) };
}

function describe(
  entity: Entity,
  report: ImportReport,
  { replace, dryRun }: Pick<Options, "replace" | "dryRun">,
): readonly string[] {
  const lines: string[] = [];
  for (const file of report.files) {
    lines.push(`${file.file}: ${plural(file.rows, "row")} (${file.format})`);
    if (file.ignored.length > 0) lines.push(`  columns not used: ${file.ignored.map(shown).join(", ")}`);
    if (file.missing.length > 0)
      lines.push(`  columns not in the file: ${file.missing.join(", ")} (${fateOfMissing(entity)})`);
    if (file.duplicates > 0) lines.push(`  ${plural(file.duplicates, "row")} removed as exact duplicates`);
    const conflicts = conflictNote(file);
    if (conflicts !== null) lines.push(`  ${conflicts}`);
    for (const warning of file.warnings) lines.push(`  warning: ${warning}`);
  }
  const range = report.first === null ? "" : ` from ${report.first} to ${report.last}`;
  const change = report.added < 0 ? `${count(-report.added)} fewer than before` : `${count(report.added)} new`;
  lines.push(`${report.entity}: ${plural(report.rows, "row")}${range}: ${change}, ${count(report.replaced)} replaced`);
  for (const note of notesOn(report, (mode) => `tapehouse import --replace ${mode}`)) lines.push(`  ${note}`);
  if (report.superseded > 0)
    lines.push(`  ${plural(report.superseded, "row")} replaced by a later file of this import`);
  const isWhole =
    replace !== undefined || (report.superseded === 0 && (report.replaced === 0 || report.replaced === report.rows));
  if (entity.identityIs !== "row" && !isWhole)
    lines.push(`  a file replaces all rows of the same ${entity.identity.join(", ")}: put them into one file`);
  if (dryRun) lines.push("dry run: nothing was changed");
  else if (report.version === null) lines.push("the lake already has exactly these rows: no new version");
  else lines.push(`published as data_version ${report.version.data_version}`);
  return lines;
}
