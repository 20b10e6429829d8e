// Verifies that every file of every kept version matches its list and has valid content.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { entityNamed } from "../catalog/index.js";
import { openWriter } from "../engine/loading.js";
import type { Writer } from "../engine/writer.js";
import { UnreadableError } from "../files.js";
import { DamagedFileError } from "../lake/damaged-file.js";
import { createIntegrity, wrongStretch } from "../lake/integrity.js";
import { layoutOf, type Layout } from "../lake/layout.js";
import {
  type Version,
  isCovered,
  type Clustering,
  type DataFile,
  type DateRange,
  type FileList,
} from "../lake/manifest.js";
import { mirrorOf } from "../lake/mirror/mirror.js";
import { stretchesOf } from "../lake/mirror/portions.js";
import { findBucketFaults } from "./bucket.js";
import { lastWhole } from "./last-whole.js";
import { findStateFaults } from "./state-files.js";
import { takeInventory, versionsNaming, type Fault, type Inventory, type KeptFile } from "./inventory.js";
import type { Entity } from "../catalog/types.js";
import { quoteName } from "../sql-text.js";
import { columnList, inDates, orderOf, scan, wrongBounds } from "../store/datafile.js";

export interface VerifyOptions {
  /** Check the rows of all versions, not only of the served one, and compare the code copies with the date files. */
  readonly deep: boolean;
}

export interface VerifyReport {
  readonly versions: number;
  readonly files: number;
  readonly bytes: number;
  readonly faults: readonly Fault[];
  /** The version to which `--back-to-last-whole` goes back; null if there is no reason to, or no such version. */
  readonly lastWhole: Pick<Version, "data_version" | "reason"> | null;
}

/** Gets the current step, the bytes checked so far, and the total. */
export type OnFile = (what: string, bytes: number, total: number) => void;

/** Checks the lake while others read and write it. Damage is reported, not thrown. */
export async function verify(
  root: string,
  options: VerifyOptions & { readonly memory: string },
  onFile: OnFile = () => undefined,
): Promise<VerifyReport> {
  const layout = layoutOf(root);
  const spill = await mkdtemp(join(tmpdir(), "tapehouse-verify-"));
  const writer = await openWriter({ memory: options.memory, tempDirectory: spill });
  try {
    const inventory = await takeInventory(layout);
    const mirror = await mirrorOf(layout);
    const inBucket = mirror === null ? [] : await findBucketFaults(mirror, layout, inventory, onFile);
    const known = new Set(inBucket.map(({ path }) => path));
    const here = await findFaults(writer, layout, inventory, options, onFile);
    const faults = [...inBucket, ...here.filter(({ path }) => !known.has(path))];
    return summarise(inventory, await withoutRemoved(layout, inventory.versions, faults));
  } finally {
    writer.close();
    await rm(spill, { recursive: true, force: true });
  }
}

export function summarise(inventory: Inventory, faults: readonly Fault[]): VerifyReport {
  const { versions, files } = inventory;
  const whole = lastWhole(inventory, faults);
  return {
    versions: versions.length,
    files: files.size,
    bytes: [...files.values()].reduce((sum, { file }) => sum + file.bytes, 0),
    faults,
    lastWhole: whole && { data_version: whole.data_version, reason: whole.reason },
  };
}

/** All faults of the files of an inventory. Each file is read once. */
export async function findFaults(
  writer: Writer,
  layout: Layout,
  inventory: Inventory,
  { deep }: VerifyOptions,
  onFile: OnFile,
): Promise<readonly Fault[]> {
  const { versions, current, lists } = inventory;
  const faults: Fault[] = [...inventory.faults, ...(await findStateFaults(layout))];
  const integrity = createIntegrity(layout);
  const served = new Set(Object.values(current?.lists ?? {}));
  const bad = new Set<string>();
  const report = (
    path: string,
    entity: string,
    kind: Fault["kind"],
    problem: string,
    named: ReadonlySet<string>,
  ): void => {
    faults.push({ path: `lake/${path}`, entity, kind, problem, versions: versionsNaming(versions, named) });
    bad.add(path);
  };

  const total = summarise(inventory, faults).bytes;
  let bytes = 0;
  for (const kept of inventory.files.values()) {
    const { path } = kept.file;
    onFile(`checking ${path}`, bytes, total);
    const checksRows = deep || [...kept.lists].some((sha) => served.has(sha));
    try {
      await integrity.check([kept.file]);
      const problem =
        (await wrongRowGroup(layout, kept.file)) ?? (checksRows ? await wrongRows(writer, layout, kept) : null);
      if (problem !== null) report(path, kept.entity, "wrong", problem, kept.lists);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!(error instanceof DamagedFileError) && code === undefined) throw error;
      const hasReason = error instanceof DamagedFileError || error instanceof UnreadableError;
      const reason = hasReason ? error.reason : `the file cannot be read (${code})`;
      report(path, kept.entity, "damaged", reason, kept.lists);
    }
    bytes += kept.file.bytes;
  }

  for (const [sha, list] of lists) {
    if (!deep && !served.has(sha)) continue;
    const naming = new Set([sha]);
    for (const { path, problem } of findOverlaps(list)) report(path, list.entity, "wrong", problem, naming);
    const readable = [...list.byDate, ...list.byCode].every((file) => !bad.has(file.path));
    if (!deep || !readable || list.byCode.length === 0) continue;
    onFile(`comparing the copies of ${list.entity}`, bytes, total);
    if (!(await isSameInBoth(writer, layout, entityNamed(list.entity)!, list))) {
      report(`${list.entity}/by_code`, list.entity, "wrong", "the code copy differs from the date files", naming);
    }
  }
  return faults;
}

/** How a file that is whole differs from the row groups in its list, in words; null if it does not. */
async function wrongRowGroup(layout: Layout, file: DataFile): Promise<string | null> {
  const wrong = await wrongStretch(join(layout.lake, file.path), stretchesOf(layout, file));
  return wrong ? `its list has another checksum of ${wrong.name}` : null;
}

async function wrongRows(writer: Writer, layout: Layout, kept: KeptFile): Promise<string | null> {
  const entity = entityNamed(kept.entity);
  if (!entity) return "there is no such entity";
  return findWrongRows(writer, layout, entity, kept.file, kept.clustering);
}

/** Leaves out versions that a vacuum removed meanwhile, and faults that concern only these. */
async function withoutRemoved(
  layout: Layout,
  before: readonly Version[],
  faults: readonly Fault[],
): Promise<readonly Fault[]> {
  if (faults.length === 0) return faults;
  const kept = new Set((await takeInventory(layout)).versions.map((version) => version.data_version));
  const gone = new Set(before.map((version) => version.data_version).filter((version) => !kept.has(version)));
  return faults
    .map((fault) => ({ ...fault, versions: fault.versions.filter((version) => !gone.has(version)) }))
    .filter((fault, i) => fault.versions.length > 0 || faults[i]!.versions.length === 0);
}

// The content of data files, compared with their lists: rows, bounds, order and identities, and the code copy with the
// date files.

/** What is wrong with the rows of a file, in words; null if nothing is. */
async function findWrongRows(
  writer: Writer,
  layout: Layout,
  entity: Entity,
  file: DataFile,
  clustering: Clustering,
): Promise<string | null> {
  const path = join(layout.lake, file.path);
  const wrong = await wrongBounds(writer, entity, path, file);
  if (wrong !== null) return wrong;
  const [misplaced] = await writer.rows(
    `SELECT count(*) AS rows FROM (SELECT file_row_number AS row, row_number() OVER (ORDER BY ${orderOf(entity, clustering)},
     file_row_number) - 1 AS position FROM read_parquet($1, file_row_number = true)) WHERE row <> position`,
    [path],
  );
  if (misplaced!["rows"] !== 0) return `${misplaced!["rows"]} rows are not in order`;
  if (entity.identityIs !== "row") return null;
  const identity = entity.identity.map(quoteName).join(", ");
  const [twice] = await writer.rows(
    `SELECT count(*) AS rows FROM (SELECT 1 FROM read_parquet($1) GROUP BY ${identity} HAVING count(*) > 1)`,
    [path],
  );
  return twice!["rows"] === 0 ? null : `${twice!["rows"]} identities have more than one row`;
}

/** Files of a list that overlap. */
export function findOverlaps(list: FileList): readonly { readonly path: string; readonly problem: string }[] {
  const found: { path: string; problem: string }[] = [];
  const look = (files: readonly DataFile[], first: (f: DataFile) => string | null, last: typeof first): void => {
    files.forEach((file, i) => {
      const before = files[i - 1];
      if (before && !(last(before)! < (first(file) ?? "~"))) {
        found.push({ path: file.path, problem: `it overlaps ${before.path}` });
      }
    });
  };
  look(
    list.byDate,
    (file) => file.first,
    (file) => file.last,
  );
  look(
    list.byCode,
    (file) => file.firstCode,
    (file) => file.lastCode,
  );
  return found;
}

/** Whether the code copy holds exactly the rows of the date files that it covers. */
export async function isSameInBoth(writer: Writer, layout: Layout, entity: Entity, list: FileList): Promise<boolean> {
  const covered = list.byDate.filter((file) => isCovered(list, file));
  const spans = spansOf(list).map(([first, last]) => inDates(entity, first, last));
  const byDate = await summary(writer, entity, scan(layout, covered));
  const byCode = await summary(writer, entity, `${scan(layout, list.byCode)} WHERE ${spans.join(" OR ")}`);
  return byDate === byCode;
}

/** The date spans that are read from the code copy. Neighbouring covered files form one span. */
function spansOf(list: FileList): readonly DateRange[] {
  const spans: [string, string][] = [];
  let open = false;
  for (const file of list.byDate) {
    if (!isCovered(list, file)) open = false;
    else if (open) spans.at(-1)![1] = file.last!;
    else open = spans.push([file.first!, file.last!]) > 0;
  }
  return spans;
}

/** The number of rows and the sum of their hashes. Equal for the same rows in any order. */
async function summary(writer: Writer, entity: Entity, relation: string): Promise<string> {
  const [row] = await writer.rows(
    `SELECT concat_ws(' ', count(*), sum(hash(${columnList(entity)})::HUGEINT)) AS summary FROM ${relation}`,
  );
  return String(row!["summary"]);
}
