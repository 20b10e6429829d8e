// tapehouse statistics ENTITY
import { Command } from "commander";
import { columnNamed } from "../catalog/index.js";
import type { Column, Entity } from "../catalog/types.js";
import { createStatistics } from "../engine/statistics.js";
import { nearest, OperatorError } from "../errors.js";
import { openLake } from "../lake/lake.js";
import { plural, shown } from "../words.js";
import { requireEntity } from "./import.js";
import { dataOption, jsonOption, requireLake } from "./options.js";
import { note, printJson, printTable } from "./out.js";
import { snapshotOf, withReader } from "./reading.js";

interface Options {
  readonly columns?: string;
  readonly at?: string;
  readonly data: string;
  readonly json?: boolean;
}

export function statisticsCommand(): Command {
  return new Command("statistics")
    .description(
      "Show what the columns of an entity hold: missing values, distinct values, the smallest and the largest value, and " +
        "the last day with a value. Every number is exact.",
    )
    .argument("<entity>", "the entity")
    .option("--columns <a,b>", "only these columns")
    .option("--at <version>", "a version: its sequence or its data_version; by default the one that is served")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nExamples:\n  $ tapehouse statistics daily\n  $ tapehouse statistics daily --columns close,vol",
    )
    .action(async (name: string, options: Options) => {
      const entity = requireEntity(name);
      const columns = options.columns === undefined ? entity.columns : requireColumns(entity, options.columns);
      await requireLake(options.data);
      const lake = await openLake(options.data);
      const snapshot = await snapshotOf(lake, options.at);
      const found = await withReader(lake, (reader, signal) =>
        createStatistics(reader).of(snapshot, entity, columns, signal),
      );
      if (options.json) {
        printJson(found, 2);
        return;
      }
      note(`${entity.name}: ${plural(found.rows, "row")} in version ${found.data_version}`);
      // Numbers keep all their digits.
      const rows = found.columns.map(({ name: column, min, max, ...counts }) => ({
        ...{ column, nulls: counts.nulls, distinct: counts.distinct },
        ...{ min: min === null ? null : String(min), max: max === null ? null : String(max), last: counts.last },
      }));
      printTable(rows, { none: "there are no columns", shortenable: ["min", "max"] });
    });
}

function requireColumns(entity: Entity, list: string): readonly Column[] {
  const names = [...new Set(list.split(",").map((name) => name.trim()))];
  return names.map((name) => {
    const column = columnNamed(entity, name);
    if (column) return column;
    const known = entity.columns.map((one) => one.name);
    const near = nearest(name, known);
    const hint = near ? `did you mean ${near}?` : `known: ${known.join(", ")}`;
    throw new OperatorError(`${entity.name} has no column ${shown(name)}; ${hint}`, 2);
  });
}
