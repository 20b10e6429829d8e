// tapehouse gaps add | excuse | list | resolve
import { Command } from "commander";
import { ENTITIES } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import { createCalendars } from "../engine/calendars.js";
import { createGapFinder, type GapFinder } from "../engine/gaps.js";
import { OperatorError } from "../errors.js";
import { isExcuse, readRecordedGaps, type Excuse, type RecordedGap } from "../lake/gaps.js";
import { openLake, type Lake } from "../lake/lake.js";
import { addGap, excuseGaps, resolveGap } from "../store/gaps.js";
import { plural, some } from "../words.js";
import { requireEntity } from "./import.js";
import { dataOption, jsonOption, requireLake } from "./options.js";
import { note, printJson, say, printTable } from "./out.js";
import { withReader } from "./reading.js";

interface AddOptions {
  readonly data: string;
  readonly start: string;
  readonly end: string;
  readonly code?: string;
  readonly kind: string;
  readonly json?: boolean;
}

type ExcuseOptions = Omit<AddOptions, "kind"> & { readonly reason: string };

export function gapsCommand(): Command {
  const command = new Command("gaps").description("Record gaps in the data, excuse them, list them, and resolve them.");
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
    .command("excuse <entity>")
    .description("Excuse missing rows, giving a reason that stays on record; they are then no longer served as gaps.")
    .requiredOption("--start <date>", "first day that is excused, YYYYMMDD")
    .requiredOption("--end <date>", "last day that is excused, YYYYMMDD")
    .requiredOption("--reason <text>", "why rows are missing, for those who read the data")
    .option("--code <code>", "the code that is excused; every gap of these days by default")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      '\nExample:\n  $ tapehouse gaps excuse stk_limit --start 20060104 --end 20060106 --reason "share reform, no limits"\n' +
        "\nTo withdraw an excuse: tapehouse gaps resolve <id>",
    )
    .action(async (name: string, options: ExcuseOptions) => {
      const { start, end, code = null, reason } = options;
      const entity = requireEntity(name);
      await requireLake(options.data);
      const excuse = await excuseGaps(options.data, entity, { start, end, code, reason }, new Date());
      const { gaps, days } = await excusedBy(options.data, entity, excuse);
      if (options.json) printJson({ ...excuse, excused_gaps: gaps });
      else say(`excuse ${excuse.id} is recorded: ${plural(gaps, "gap")} on ${days}`);
      if (gaps === 0) note(`warning: ${entity.name} has no gap on these days now; the excuse holds for later ones`);
    });
  command
    .command("list")
    .description("List the recorded gaps, open, closed because data has arrived, or resolved; and the excuses.")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse gaps list --json")
    .action(async (options: { data: string; json?: boolean }) => {
      await requireLake(options.data);
      const states = await statesOfGaps(options.data);
      const rows = states.map(([{ id, entity, ts_code, gap_start, gap_end, kind, recorded, reason = null }, state]) => {
        return { id, state, entity, ts_code, gap_start, gap_end, kind, recorded, reason };
      });
      const shortenable = ["recorded", "kind", "reason"];
      printTable(rows, { json: options.json, none: "no gaps or excuses are recorded", shortenable });
    });
  command
    .command("resolve <id>")
    .description("Resolve a recorded gap, which is then no longer served, or withdraw an excuse.")
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

type State = "open" | "closed" | "excused" | "resolved";

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

/** How many gaps of the served version an excuse excuses, and its days in words. */
const excusedBy = (root: string, entity: Entity, excuse: Excuse): Promise<{ gaps: number; days: string }> =>
  withFinder(root, async (finder, lake, signal) => {
    const { gap_start: start, gap_end: end } = excuse;
    const recorded = (await readRecordedGaps(lake.layout.gaps)).filter(
      (gap) => gap.entity === entity.name && gap.resolved === null && !isExcuse(gap),
    );
    const bounds = { start, end, dataVersion: null };
    const { excused } = await finder.find(lake.current(), entity, [...recorded, excuse], bounds, signal);
    return { gaps: excused.length, days: start === end ? start : `${start} to ${end}` };
  });

/** Everything that is recorded, and its state in the served version. */
export const statesOfGaps = (root: string): Promise<readonly (readonly [RecordedGap, State])[]> =>
  withFinder(root, async (finder, lake, signal) => {
    const gaps = await readRecordedGaps(lake.layout.gaps);
    const open = new Set<RecordedGap>();
    for (const entity of ENTITIES) {
      const recorded = gaps.filter((gap) => gap.entity === entity.name && !isExcuse(gap));
      for (const gap of await finder.unfilled(lake.current(), entity, recorded, signal)) open.add(gap);
    }
    const stateOf = (gap: RecordedGap): State =>
      gap.resolved !== null ? "resolved" : isExcuse(gap) ? "excused" : open.has(gap) ? "open" : "closed";
    return gaps.map((gap) => [gap, stateOf(gap)]);
  });

async function withFinder<T>(
  root: string,
  work: (finder: GapFinder, lake: Lake, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lake = await openLake(root);
  return withReader(lake, (reader, signal) =>
    work(
      createGapFinder(reader, createCalendars(reader), () => new Date()),
      lake,
      signal,
    ),
  );
}
