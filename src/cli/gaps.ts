// tapehouse gaps add | list | resolve
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { ENTITIES } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import { SETTINGS } from "../settings.js";
import { createCalendars } from "../engine/calendars.js";
import { createGapFinder, type GapFinder } from "../engine/gaps.js";
import { openReader } from "../engine/reader.js";
import { OperatorError } from "../errors.js";
import { readRecordedGaps, type RecordedGap } from "../lake/gaps.js";
import { createIntegrity } from "../lake/integrity.js";
import { openLake, type Lake } from "../lake/lake.js";
import { addGap, resolveGap } from "../store/gaps.js";
import { plural, some } from "../words.js";
import { requireEntity } from "./import.js";
import { dataOption, jsonOption, printTable, requireLake } from "./options.js";
import { note, printJson, say } from "./out.js";

interface AddOptions {
  readonly data: string;
  readonly start: string;
  readonly end: string;
  readonly code?: string;
  readonly kind: string;
  readonly json?: boolean;
}

export function gapsCommand(): Command {
  const command = new Command("gaps").description("Record gaps in the data, list them, and resolve them.");
  command
    .command("add <entity>")
    .description("Record a gap. It is served until data for all its days has arrived, or until it is resolved.")
    .requiredOption("--start <date>", "first day of the gap, YYYYMMDD")
    .requiredOption("--end <date>", "last day of the gap, YYYYMMDD")
    .option("--code <code>", "the code that it concerns; all codes by default")
    .option("--kind <kind>", "the reason, in snake_case", "timeout")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse gaps add daily --start 20240102 --end 20240105 --code 600519.SH")
    .action(async (name: string, options: AddOptions) => {
      const { start, end, code = null, kind } = options;
      const entity = requireEntity(name);
      await requireLake(options.data);
      const gap = await addGap(options.data, entity, { start, end, code, kind }, new Date());
      if (!options.json) say(`gap ${gap.id} is recorded`);
      const { days, isOpen } = await presence(options.data, entity, gap);
      if (options.json) printJson({ ...gap, days_with_rows: days });
      if (days.length === 0) return;
      const of = code === null ? entity.name : `${entity.name} of ${code}`;
      const closed = isOpen ? "" : "; no day is missing, so it is not served";
      note(`warning: ${of} has rows on ${plural(days.length, "day")} of the gap: ${some(days)}${closed}`);
    });
  command
    .command("list")
    .description("List the recorded gaps: open, closed because data has arrived, or resolved.")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse gaps list --json")
    .action(async (options: { data: string; json?: boolean }) => {
      await requireLake(options.data);
      const states = await statesOfGaps(options.data);
      const rows = states.map(([{ id, entity, ts_code, gap_start, gap_end, kind, recorded }, state]) => {
        return { id, state, entity, ts_code, gap_start, gap_end, kind, recorded };
      });
      printTable(rows, { json: options.json, none: "no gaps are recorded", shortenable: ["recorded", "kind"] });
    });
  command
    .command("resolve <id>")
    .description("Resolve a recorded gap: it is no longer served.")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse gaps resolve 3")
    .action(async (id: string, options: { data: string; json?: boolean }) => {
      if (!/^\d{1,9}$/.test(id))
        throw new OperatorError(`"${id}" is not the number of a gap; see: tapehouse gaps list`, 2);
      await requireLake(options.data);
      await resolveGap(options.data, Number(id), new Date());
      if (options.json) printJson({ id: Number(id), state: "resolved" });
      else note(`gap ${id} is resolved`);
    });
  return command;
}

type State = "open" | "closed" | "resolved";

/** The days of a gap that have rows in the served version, and whether any are missing. */
const presence = (
  root: string,
  entity: Entity,
  gap: RecordedGap,
): Promise<{ days: readonly string[]; isOpen: boolean }> =>
  withFinder(root, async (finder, lake, signal) => ({
    days: await finder.held(lake.current(), entity, gap, signal),
    isOpen: (await finder.unfilled(lake.current(), entity, [gap], signal)).length > 0,
  }));

/** Every recorded gap and its state in the served version. */
export const statesOfGaps = (root: string): Promise<readonly (readonly [RecordedGap, State])[]> =>
  withFinder(root, async (finder, lake, signal) => {
    const gaps = await readRecordedGaps(lake.layout.gaps);
    const open = new Set<RecordedGap>();
    for (const entity of ENTITIES) {
      const recorded = gaps.filter((gap) => gap.entity === entity.name);
      for (const gap of await finder.unfilled(lake.current(), entity, recorded, signal)) open.add(gap);
    }
    return gaps.map((gap) => [gap, gap.resolved !== null ? "resolved" : open.has(gap) ? "open" : "closed"]);
  });

async function withFinder<T>(
  root: string,
  work: (finder: GapFinder, lake: Lake, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lake = await openLake(root);
  const tempDirectory = await mkdtemp(join(tmpdir(), "tapehouse-gaps-"));
  const reader = await openReader({
    lakeFolder: lake.layout.lake,
    memory: "1GB",
    spill: SETTINGS.spill.fallback,
    tempDirectory,
    threads: 1,
    concurrency: 1,
    streams: 1,
    queue: 0,
    integrity: createIntegrity(lake.layout.lake),
  });
  try {
    const finder = createGapFinder(reader, createCalendars(reader));
    return await work(finder, lake, new AbortController().signal);
  } finally {
    await reader.close();
    await rm(tempDirectory, { recursive: true, force: true });
  }
}
