// The state of a data directory: what is served, what was dropped, and the disk space that it uses.
import { readdir, stat } from "node:fs/promises";
import { ENTITIES } from "../catalog/index.js";
import { isUnchanged } from "./drop-file.js";
import { readIntake, type Intake } from "./intake.js";
import { inspectLedger, isLost, latestEntries, type LedgerEntry } from "./ledger.js";
import type { Lake } from "./lake.js";
import { isCovered, type FileList } from "./manifest.js";
import { freeSpace, type DiskSpace } from "./disk-space.js";

interface EntityStatus {
  readonly entity: string;
  readonly rows: number;
  /** Date files, and files of the code copy. */
  readonly files: number;
  readonly codeFiles: number;
  readonly bytes: number;
  /** First and last main date, `YYYYMMDD`. */
  readonly first: string | null;
  readonly last: string | null;
  /** The share of rows that the code copy covers, 0 to 1; null if the entity has no code copy. */
  readonly codeCopy: number | null;
}

export interface DropsStatus extends Intake {
  /** Files of the inbox by the last outcome of each. */
  readonly taken: number;
  readonly same: number;
  /** Refused files that are still in the inbox, the latest first. */
  readonly refused: readonly Pick<LedgerEntry, "path" | "entity" | "reason" | "time">[];
  /** Taken files with warnings that are still in the inbox, the latest first. */
  readonly warned: readonly Pick<LedgerEntry, "path" | "warnings" | "time">[];
  /** Damaged lines of the ledger. If there are any, no drop is taken until they are repaired. */
  readonly damagedLines: number;
  /** The ledger is empty or missing although drops were taken. No drop is taken until it is repaired. */
  readonly isLedgerLost: boolean;
  /** The latest drop that was taken. */
  readonly latest: Pick<LedgerEntry, "path" | "rows" | "data_version" | "time"> | null;
}

interface DiskStatus extends DiskSpace {
  /** Bytes of files in each folder. */
  readonly inbox: number;
  readonly lake: number;
  readonly state: number;
}

export interface Status {
  readonly data_version: string | null;
  readonly versions: { readonly kept: number; readonly oldest: string | null };
  /** Entities with data. */
  readonly entities: readonly EntityStatus[];
  readonly drops: DropsStatus;
  readonly disk: DiskStatus;
}

/** Reads the manifest, the ledger and file sizes; opens no data file. */
export async function readStatus(lake: Lake): Promise<Status> {
  const { layout } = lake;
  const versions = await lake.versions();
  const { version, files } = lake.current();
  const [inbox, lakeBytes, state] = await Promise.all([layout.inbox, layout.lake, layout.state].map(bytesBelow));
  return {
    data_version: version.sequence === 0 ? null : version.data_version,
    versions: { kept: versions.length, oldest: versions[0]?.data_version ?? null },
    entities: ENTITIES.filter(({ name }) => version.lists[name]).map((entity) =>
      statusOf(files(entity.name), entity.codeCopy),
    ),
    drops: await readDrops(lake),
    disk: { inbox: inbox!, lake: lakeBytes!, state: state!, ...(await freeSpace(layout)) },
  };
}

function statusOf(list: FileList, hasCodeCopy: boolean): EntityStatus {
  const { entity, rows, first, last, byDate, byCode } = list;
  const covered = byDate.filter((file) => isCovered(list, file)).reduce((sum, file) => sum + file.rows, 0);
  return {
    entity,
    rows,
    files: byDate.length,
    codeFiles: byCode.length,
    bytes: [...byDate, ...byCode].reduce((sum, file) => sum + file.bytes, 0),
    first,
    last,
    codeCopy: hasCodeCopy ? covered / Math.max(1, rows) : null,
  };
}

/** What became of the drops, from the ledger. */
export async function readDrops(lake: Lake): Promise<DropsStatus> {
  const { layout } = lake;
  const content = await inspectLedger(layout.ledger);
  const { entries: all, damaged } = content;
  const entries = latestEntries(all);
  const refused: LedgerEntry[] = [];
  const warned: LedgerEntry[] = [];
  for (const entry of entries) {
    const isListed = entry.outcome === "refused" || entry.warnings.length > 0;
    if (isListed && (await isUnchanged(layout, entry))) (entry.outcome === "refused" ? refused : warned).unshift(entry);
  }
  const taken = entries.filter(({ outcome }) => outcome === "taken");
  const latest = taken.at(-1);
  return {
    ...(await readIntake(layout.intake)),
    taken: taken.length,
    same: entries.filter(({ outcome }) => outcome === "same").length,
    refused: refused.map(({ path, entity, reason, time }) => ({ path, entity, reason, time })),
    damagedLines: damaged.length,
    isLedgerLost: await isLost(content, () => lake.versions()),
    warned: warned.map(({ path, warnings, time }) => ({ path, warnings, time })),
    latest: latest
      ? { path: latest.path, rows: latest.rows, data_version: latest.data_version, time: latest.time }
      : null,
  };
}

/** Ignores files that appear or vanish meanwhile. Names are bytes, since not all of them are UTF-8. */
async function bytesBelow(folder: string | Buffer): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, encoding: "buffer" }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    const path = Buffer.concat([Buffer.from(folder), Buffer.from("/"), entry.name]);
    if (entry.isDirectory()) bytes += await bytesBelow(path);
    else if (entry.isFile()) bytes += (await stat(path).catch(() => ({ size: 0 }))).size;
  }
  return bytes;
}
