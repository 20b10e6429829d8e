// tapehouse status | versions
import { Command } from "commander";
import { readRecordedGaps, type RecordedGap } from "../lake/gaps.js";
import { openLake, type Lake, type Snapshot } from "../lake/lake.js";
import { layoutOf } from "../lake/layout.js";
import { readStatus, type Status, describeCrowded, isShort } from "../lake/status.js";
import { summariseFindings } from "../lake/findings.js";
import { lookAtLock } from "../lock.js";
import { dataOption, jsonOption, requireLake } from "./options.js";
import { printJson, say, printTable } from "./out.js";
import { count, plural, size } from "../words.js";

/** Maximum number of drops shown per kind; --json has all. */
const SHOWN = 20;

/** Imported drops shown; --json has more. */
const LATEST = 5;

export function statusCommand(): Command {
  return new Command("status")
    .description("Show the served data, imported and refused drops, gaps, versions, and disk usage.")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse status")
    .action(async (options: { data: string; json?: boolean }) => {
      await requireLake(options.data);
      const status = await withoutLeftovers(await readStatus(await openLake(options.data)), options.data);
      const gaps = await openGaps(options.data);
      if (options.json) printJson({ ...status, gaps }, 2);
      else show(status, gaps.length);
    });
}

/** Loads DuckDB, which takes most of the time of this command, only if gaps are recorded. */
async function openGaps(root: string): Promise<readonly RecordedGap[]> {
  if ((await readRecordedGaps(layoutOf(root).gaps)).length === 0) return [];
  const { statesOfGaps } = await import("./gaps.js");
  return (await statesOfGaps(root)).filter(([, state]) => state === "open").map(([gap]) => gap);
}

/** A process that was killed leaves its list of drops in progress behind. */
async function withoutLeftovers(status: Status, root: string): Promise<Status> {
  const lock = await lookAtLock(layoutOf(root).ingestLock);
  return lock?.isDead === false
    ? status
    : { ...status, drops: { ...status.drops, reading: [], waiting: [], crowded: [] } };
}

function show({ data_version, versions, entities, drops, disk, delta }: Status, gaps: number): void {
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
  const { imported, same, refused, withdrawn, warned, damagedLines, isLedgerLost, latest, reading, waiting, crowded } =
    drops;
  say([
    "",
    `drops: ${imported} imported, ${same} with known content, ${refused.length} refused, ${withdrawn.length} withdrawn`,
  ]);
  for (const { id, path, rows, time } of latest.slice(0, LATEST)) {
    say(`  imported ${id} inbox/${path}: ${plural(rows, "row")}, ${time}`);
  }
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
  for (const { path, reason } of withdrawn.slice(0, SHOWN)) say(`  withdrawn inbox/${path}: ${reason}`);
  if (withdrawn.length > SHOWN) say(`  and ${withdrawn.length - SHOWN} more withdrawn: see --json`);
  for (const { path, warnings } of warned.slice(0, SHOWN)) say(`  warning inbox/${path}: ${warnings.join("; ")}`);
  if (warned.length > SHOWN) say(`  and ${warned.length - SHOWN} more warnings: see --json`);
  for (const { entity, findings } of entities) {
    if (findings.length > 0) say(`checks of ${entity}: ${summariseFindings(findings)}`);
  }
  say(`open recorded gaps: ${gaps}`);
  if (delta)
    say(
      delta.last ? `Delta tables are behind since ${delta.last.time}: ${delta.last.reason}` : "Delta tables are kept",
    );
  const { inbox, lake, state, free, reserve } = disk;
  say(`disk: lake ${size(lake)}, inbox ${size(inbox)}, state ${size(state)}, free ${size(free)}`);
  if (isShort(disk)) say(`drops are waiting for disk space: ${size(reserve)} must stay free`);
}

const moreThan = (files: number): string => (files > 1 ? ` and ${count(files - 1)} more` : "");

interface VersionsOptions {
  readonly data: string;
  readonly changes?: boolean;
  readonly json?: boolean;
}

export function versionsCommand(): Command {
  return new Command("versions")
    .description("List the kept versions of the lake, oldest first. The last one is served.")
    .option("--changes", "also list the entities that each version changed, and by how many rows they grew")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse versions --changes")
    .action(async (options: VersionsOptions) => {
      await requireLake(options.data);
      const lake = await openLake(options.data);
      const versions = (await lake.versions()).map(({ sequence, data_version, reason }) => ({
        ...{ sequence, data_version, reason },
      }));
      const grown = options.changes ? await growthOf(lake, versions) : null;
      if (options.json) printJson(grown ? versions.map((one, i) => ({ ...one, grown: grown[i]! })) : versions, 2);
      else {
        printTable(grown ? versions.map((one, i) => ({ ...one, grown: describeGrowth(grown[i]!) })) : versions, {
          none: "no versions yet: nothing has been imported",
          shortenable: ["reason", "grown"],
        });
      }
    });
}

/** By entity, how many rows more a version has than the one before it; null if that one is no longer kept. */
type Growth = Readonly<Record<string, number>> | null;

/** Reads only the manifest: rows that were replaced are in none of the numbers. */
async function growthOf(
  lake: Lake,
  versions: readonly { sequence: number; data_version: string }[],
): Promise<Growth[]> {
  const growth: Growth[] = [];
  let before: Snapshot | null = null;
  for (const { sequence, data_version } of versions) {
    const found = await lake.at(data_version);
    const snapshot: Snapshot | null = typeof found === "string" ? null : found;
    growth.push(snapshot && (before ?? sequence === 1) ? grownSince(before, snapshot) : null);
    before = snapshot;
  }
  return growth;
}

function grownSince(before: Snapshot | null, after: Snapshot): Growth {
  const [older, newer] = [before?.version.lists ?? {}, after.version.lists];
  const names = Object.keys({ ...older, ...newer }).filter((name) => older[name] !== newer[name]);
  const rows = (snapshot: Snapshot | null, name: string): number => snapshot?.files(name).rows ?? 0;
  return Object.fromEntries(names.map((name) => [name, rows(after, name) - rows(before, name)]));
}

const describeGrowth = (growth: Growth): string | null =>
  growth &&
  Object.entries(growth)
    .map(([entity, rows]) => `${entity} ${rows < 0 ? "" : "+"}${count(rows)}`)
    .join(", ");
