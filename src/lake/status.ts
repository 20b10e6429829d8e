// The state of a data directory: what is served, what was dropped, and the disk space that it uses.
import { readdir, stat, statfs } from "node:fs/promises";
import { ENTITIES } from "../catalog/index.js";
import { openInbox } from "./inbox-files.js";
import { type DeltaState, readDeltaState } from "./delta-state.js";
import type { Finding } from "./findings.js";
import { idOf } from "./found-drops.js";
import { inspectLedger, isLost, latestEntries, type LedgerEntry, type Outcome } from "./ledger.js";
import type { Lake } from "./lake.js";
import { isCovered, type FileList } from "./manifest.js";
import { readOrNone } from "../files.js";
import { count } from "../words.js";
import type { Layout } from "./layout.js";

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
  /** What the checks found in its rows. */
  readonly findings: readonly Finding[];
}

interface DropsStatus extends Intake {
  /** Files of the inbox by the last outcome of each. */
  readonly imported: number;
  readonly same: number;
  /** Refused files that are still in the inbox, the latest first. */
  readonly refused: readonly Pick<LedgerEntry, "path" | "entity" | "reason" | "time">[];
  /** Files whose rows were taken back and that are still in the inbox, the latest first. */
  readonly withdrawn: readonly Pick<LedgerEntry, "path" | "entity" | "reason" | "time">[];
  /** Imported files with warnings that are still in the inbox, the latest first. */
  readonly warned: readonly Pick<LedgerEntry, "path" | "warnings" | "time">[];
  /** Damaged lines of the ledger. If there are any, no drop is imported until they are repaired. */
  readonly damagedLines: number;
  /** The ledger is empty or missing although drops were imported. No drop is imported until it is repaired. */
  readonly isLedgerLost: boolean;
  /** The latest drops that were imported, the latest first, each with the ID that `tapehouse revert --drop` takes. */
  readonly latest: readonly ({ readonly id: string } & Pick<LedgerEntry, "path" | "rows" | "data_version" | "time">)[];
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
  /** Null if the lake has no Delta tables. */
  readonly delta: DeltaState | null;
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
    delta: await readDeltaState(layout),
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
    findings: list.findings ?? [],
  };
}

/** How many imported drops are listed. */
const LATEST = 20;

/** What became of the drops, from the ledger. */
export async function readDrops(lake: Lake): Promise<DropsStatus> {
  const { layout } = lake;
  const content = await inspectLedger(layout.ledger);
  const { entries: all, damaged } = content;
  const entries = latestEntries(all);
  const warned: LedgerEntry[] = [];
  const [refused, withdrawn]: readonly [LedgerEntry[], LedgerEntry[]] = [[], []];
  const lists: Readonly<Record<Outcome, LedgerEntry[]>> = {
    ...{ taken: warned, same: warned, refused, withdrawn, command: [] },
  };
  const isInInbox = await openInbox(layout);
  for (const entry of entries) {
    const isListed = entry.outcome === "refused" || entry.outcome === "withdrawn" || entry.warnings.length > 0;
    if (isListed && (await isInInbox(entry))) lists[entry.outcome].unshift(entry);
  }
  const withReason = (of: "refused" | "withdrawn"): DropsStatus["refused"] =>
    lists[of].map(({ path, entity, reason, time }) => ({ path, entity, reason, time }));
  const taken = entries.filter(({ outcome }) => outcome === "taken");
  return {
    ...(await readIntake(layout.intake)),
    imported: taken.length,
    same: entries.filter(({ outcome }) => outcome === "same").length,
    refused: withReason("refused"),
    withdrawn: withReason("withdrawn"),
    damagedLines: damaged.length,
    isLedgerLost: await isLost(content, () => lake.versions()),
    warned: warned.map(({ path, warnings, time }) => ({ path, warnings, time })),
    latest: taken
      .slice(-LATEST)
      .reverse()
      .map(({ sha256, path, rows, data_version, time }) => ({ id: idOf({ sha256 }), path, rows, data_version, time })),
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

// Drops in progress: those that take long to import or to find, as reported by the process that imports them.

/** Files of one entity that are read together. Paths are relative to the inbox. */
export interface IntakeLot {
  readonly entity: string;
  /** The first file. */
  readonly path: string;
  readonly files: number;
  /** `small`, `slow`, `large`, or `alone` if nothing else may run at the same time. */
  readonly size: string;
}

/** A folder that is scanned rarely, since it holds so much. */
export interface CrowdedFolder {
  /** Relative to the inbox; empty for all folders that belong to no entity. */
  readonly path: string;
  /** How many files and folders it holds. */
  readonly names: number;
  /** How long it may take until a change in it is noticed. */
  readonly seconds: number;
  /** It holds more than are watched. */
  readonly isFull: boolean;
}

export interface Intake {
  /** `since`: ISO 8601; `queued`: the number of later files of the same entity. */
  readonly reading: readonly (IntakeLot & { readonly since: string; readonly queued: number })[];
  /** `behind`: the first files of the lots that hold the slots. */
  readonly waiting: readonly (IntakeLot & { readonly behind: readonly string[] })[];
  readonly crowded: readonly CrowdedFolder[];
}

export function describeCrowded({ path, names, seconds, isFull }: CrowdedFolder): string {
  const held = `inbox/${path} holds ${count(names)} files and folders`;
  if (isFull) return `${held}, and more that are ignored until some of them are removed`;
  return `${held}: changes in it are noticed after up to ${count(seconds)} s; remove files that were imported`;
}

const IDLE: Intake = { reading: [], waiting: [], crowded: [] };

/** Reads the report. A missing or malformed file counts as an empty report. */
export async function readIntake(path: string): Promise<Intake> {
  try {
    return { ...IDLE, ...(JSON.parse((await readOrNone(path)) ?? "{}") as Partial<Intake>) };
  } catch {
    return IDLE;
  }
}

// Disk space: what is free, and the reserve that drops must leave, since tokens, gaps and the ledger need space too.

interface DiskSpace {
  /** Free bytes of the file system. */
  readonly free: number;
  /** Drops wait while fewer bytes than this are free. */
  readonly reserve: number;
}

const LARGEST_RESERVE = 1e9;
const RESERVED_PART = 0.05;

/** The free space of the file system of `state/` or of `lake/`, whichever is closer to its reserve. */
export async function freeSpace({ root, lake }: Layout): Promise<DiskSpace> {
  const [ofRoot, ofLake] = await Promise.all([root, lake].map(freeSpaceAt));
  const room = ofRoot ?? NOTHING_KNOWN;
  return ofLake && ofLake.free - ofLake.reserve < room.free - room.reserve ? ofLake : room;
}

export const isShort = ({ free, reserve }: DiskSpace): boolean => free < reserve;

const NOTHING_KNOWN: DiskSpace = { free: 0, reserve: 0 };

/** Undefined if the path does not exist. */
export async function freeSpaceAt(path: string): Promise<DiskSpace | undefined> {
  const found = await statfs(path).catch(() => undefined);
  if (!found) return undefined;
  const reserve = Math.min(LARGEST_RESERVE, found.blocks * found.bsize * RESERVED_PART);
  return { free: found.bavail * found.bsize, reserve };
}
