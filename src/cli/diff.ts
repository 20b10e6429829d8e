// tapehouse diff FROM [TO]
import { Command } from "commander";
import { ENTITIES } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import { ENCODERS } from "../encode/index.js";
import { changesRead, countChanges, type ChangeCounts } from "../engine/changes.js";
import { openLake, type Lake, type Snapshot } from "../lake/lake.js";
import { requireEntity } from "./import.js";
import { dataOption, jsonOption, requireLake } from "./options.js";
import { printJson, printTable, writeBytes } from "./out.js";
import { snapshotOf, withReader } from "./reading.js";

interface DiffOptions {
  readonly data: string;
  readonly entity?: string;
  readonly summary?: boolean;
  readonly json?: boolean;
}

export function diffCommand(): Command {
  return new Command("diff")
    .description(
      "Show what changed between two kept versions: for each entity how many rows were added, removed and changed, or " +
        "with --entity these rows as CSV.",
    )
    .argument("<from>", "a version: its sequence or its data_version, as `tapehouse versions` lists them")
    .argument("[to]", "another version; by default the one that is served")
    .option("--entity <name>", "print the changed rows of this entity")
    .option("--summary", "print only counts, even with --entity")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse diff 41 42\n  $ tapehouse diff 41 --entity daily")
    .action(async (from: string, to: string | undefined, options: DiffOptions) => {
      await requireLake(options.data);
      const entity = options.entity === undefined ? null : requireEntity(options.entity);
      const lake = await openLake(options.data);
      const both = [await snapshotOf(lake, from), await snapshotOf(lake, to)] as const;
      if (entity !== null && !options.summary) await printRows(lake, entity, both, options.json ?? false);
      else await printCounts(lake, entity === null ? ENTITIES : [entity], both, options.json ?? false);
    });
}

async function printCounts(
  lake: Lake,
  entities: readonly Entity[],
  both: readonly [Snapshot, Snapshot],
  json: boolean,
): Promise<void> {
  const [older, newer] = both.map(({ version }) => version);
  const differ = entities.filter(({ name }) => older!.lists[name] !== newer!.lists[name]);
  const counts: ({ readonly entity: string } & ChangeCounts)[] = [];
  await withReader(lake, async (reader, signal) => {
    for (const entity of differ) {
      const found = await countChanges(reader, entity, both, signal);
      if (found.added + found.removed + found.changed > 0) counts.push({ entity: entity.name, ...found });
    }
  });
  if (json) printJson({ from: older!.data_version, to: newer!.data_version, entities: counts }, 2);
  else
    printTable(
      counts.map((one) => ({ ...one })),
      { none: "no rows differ", shortenable: [] },
    );
}

/** The body that the server returns for the same changes. */
async function printRows(
  lake: Lake,
  entity: Entity,
  both: readonly [Snapshot, Snapshot],
  json: boolean,
): Promise<void> {
  const read = changesRead(entity, both);
  const head = { entity: entity.name, dataVersion: both[1].version.data_version, columns: read.columns };
  const encoder = ENCODERS[json ? "json" : "csv"](head);
  await withReader(lake, async (reader, signal) => {
    await writeBytes(encoder.begin());
    const segment = encoder.segment();
    let count = 0;
    for await (const batch of reader.read(read, signal)) {
      count += batch.numRows;
      for (const bytes of segment.batch(batch)) await writeBytes(bytes);
    }
    for (const bytes of segment.end()) await writeBytes(bytes);
    await writeBytes(encoder.end({ count, truncated: false, nextCursor: null }));
    if (json) await writeBytes(Buffer.from("\n"));
  });
}
