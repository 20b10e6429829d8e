// tapehouse status
import { Command } from "commander";
import { openLake } from "../lake/lake.js";
import { describeCrowded } from "../lake/intake.js";
import { layoutOf } from "../lake/layout.js";
import { isShort } from "../lake/disk-space.js";
import { readStatus, type Status } from "../lake/status.js";
import { lookAtLock } from "../store/lock.js";
import { statesOfGaps } from "./gaps.js";
import { dataOption, jsonOption, printTable, requireLake } from "./options.js";
import { printJson, say } from "./out.js";
import { count, plural, size } from "../words.js";

/** Maximum number of drops shown per kind; --json has all. */
const SHOWN = 20;

export function statusCommand(): Command {
  return new Command("status")
    .description("Show what is served, imported and refused drops, gaps, versions, and disk usage.")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse status")
    .action(async (options: { data: string; json?: boolean }) => {
      await requireLake(options.data);
      const status = await withoutLeftovers(await readStatus(await openLake(options.data)), options.data);
      const gaps = (await statesOfGaps(options.data)).filter(([, state]) => state === "open").map(([gap]) => gap);
      if (options.json) printJson({ ...status, gaps }, 2);
      else show(status, gaps.length);
    });
}

/** A process that was killed leaves its list of drops in progress behind. */
async function withoutLeftovers(status: Status, root: string): Promise<Status> {
  const lock = await lookAtLock(layoutOf(root).ingestLock);
  return lock?.isDead === false
    ? status
    : { ...status, drops: { ...status.drops, reading: [], waiting: [], crowded: [] } };
}

function show({ data_version, versions, entities, drops, disk }: Status, gaps: number): void {
  say(data_version === null ? "nothing is served yet" : `serving data_version ${data_version}`);
  if (versions.oldest !== null) say(`${plural(versions.kept, "version")} kept, the oldest ${versions.oldest}`);
  if (entities.length > 0) {
    say("");
    printTable(
      entities.map(({ entity, rows, first, last, files, codeFiles, bytes, codeCopy }) => ({
        entity,
        rows,
        first,
        last,
        files: files + codeFiles,
        size: size(bytes),
        "by code": codeCopy === null ? null : `${Math.round(codeCopy * 100)} %`,
      })),
      { none: "", shortenable: [] },
    );
  }
  const { taken, same, refused, warned, damagedLines, isLedgerLost, latest, reading, waiting, crowded } = drops;
  say(["", `drops: ${taken} imported, ${same} with known content, ${refused.length} refused`]);
  if (latest) say(`  latest ${latest.time} inbox/${latest.path}: ${plural(latest.rows, "row")}`);
  for (const { path, files, size, since, queued } of reading) {
    const after = queued > 0 ? `; ${count(queued)} more of its entity waiting` : "";
    say(`  reading inbox/${path}${moreThan(files)} (${size}) since ${since}${after}`);
  }
  for (const { path, files, size, behind } of waiting) {
    const before = behind.map((one) => `inbox/${one}`).join(", ");
    say(`  waiting inbox/${path}${moreThan(files)} (${size}) behind ${before}`);
  }
  for (const folder of crowded) say(`  ${describeCrowded(folder)}`);
  if (damagedLines > 0) say("  the ledger is damaged, so no drop is imported: run tapehouse verify --repair");
  if (isLedgerLost) say("  the ledger is empty or missing, so no drop is imported: run tapehouse verify --repair");
  for (const { path, reason } of refused.slice(0, SHOWN)) say(`  refused inbox/${path}: ${reason}`);
  if (refused.length > SHOWN) say(`  and ${refused.length - SHOWN} more refused: see --json`);
  for (const { path, warnings } of warned.slice(0, SHOWN)) say(`  warning inbox/${path}: ${warnings.join("; ")}`);
  if (warned.length > SHOWN) say(`  and ${warned.length - SHOWN} more warnings: see --json`);
  say(`open recorded gaps: ${gaps}`);
  const { inbox, lake, state, free, reserve } = disk;
  say(`disk: lake ${size(lake)}, inbox ${size(inbox)}, state ${size(state)}, free ${size(free)}`);
  if (isShort(disk)) say(`drops are waiting for disk space: ${size(reserve)} must stay free`);
}

const moreThan = (files: number): string => (files > 1 ? ` and ${count(files - 1)} more` : "");
