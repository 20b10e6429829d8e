// Verifies that every file of every kept version matches its list and has valid content.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { entityNamed } from "../catalog/index.js";
import { openWriter, type Writer } from "../engine/writer.js";
import { UnreadableError } from "../files.js";
import { createIntegrity, DamagedFileError } from "../lake/integrity.js";
import { layoutOf, type Layout } from "../lake/layout.js";
import type { Version } from "../lake/manifest.js";
import { findOverlaps, findWrongRows, isSameInBoth } from "./contents.js";
import { findStateFaults } from "./state-files.js";
import { takeInventory, versionsNaming, type Fault, type Inventory, type KeptFile } from "./inventory.js";

export interface VerifyOptions {
  /** Check the rows of all versions, not only of the served one, and compare the code copies with the date files. */
  readonly deep: boolean;
}

export interface VerifyReport {
  readonly versions: number;
  readonly files: number;
  readonly bytes: number;
  readonly faults: readonly Fault[];
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
    const faults = await findFaults(writer, layout, inventory, options, onFile);
    return summarise(inventory, await withoutRemoved(layout, inventory.versions, faults));
  } finally {
    writer.close();
    await rm(spill, { recursive: true, force: true });
  }
}

export function summarise({ versions, files }: Inventory, faults: readonly Fault[]): VerifyReport {
  const bytes = [...files.values()].reduce((sum, { file }) => sum + file.bytes, 0);
  return { versions: versions.length, files: files.size, bytes, faults };
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
  const integrity = createIntegrity(layout.lake);
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
      const problem = checksRows ? await wrongRows(writer, layout, kept) : null;
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
