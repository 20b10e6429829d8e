// Imports drops of one entity: reads and merges them without blocking other writers, which wait only for the publication.
import { wholeOf } from "../catalog/replace.js";
import type { Entity } from "../catalog/types.js";
import { OperatorError, fileFault, reasonOf } from "../errors.js";
import { UnreadableDrop } from "../lake/drop-file.js";
import { replaceFolder, replaceModeOf } from "../lake/replace-folders.js";
import type { Layout } from "../lake/layout.js";
import {
  clipEntry,
  doOverlap,
  entriesOf,
  reasonOfDrops,
  spanOf,
  type LedgerEntry,
  type VersionEntry,
} from "../lake/ledger.js";
import { ChangedDrop, refusalOf, type Entry, type CheckedDrop } from "./judge.js";
import { createCheck, SlowBatch, StoppedError, unless } from "./stopping.js";
import { stageDrops, type BatchContext } from "./stage-drops.js";
import { joinDrop } from "../store/drop.js";
import { checkChange } from "../store/checks.js";
import { reportOf, type ImportReport, type StagedFile } from "../store/import.js";
import type { InboxFile } from "./watch.js";
import type { Ledger } from "./ledger.js";
import { merge, type Merged } from "../store/merge.js";
import { conflictNote, fateOfMissing, notesOn, partOfFile } from "../store/notes.js";
import type { Staged } from "../intake/normalise.js";
import { openComplete, withWriteSession, type WriteOptions } from "../store/session.js";
import { NO_LIMITS, TooMuchError, type DropLimits } from "../intake/limits.js";
import { moveIn, withDropStaging } from "../store/staging.js";
import { plural, some } from "../words.js";

interface TakenBatch {
  readonly entries: readonly Entry[];
  /** Files that changed while they were read; they are to be judged again. */
  readonly changed: readonly InboxFile[];
}

interface TakeOptions extends WriteOptions {
  readonly signal: AbortSignal;
  /** For a small batch: if it fires, or if a file holds more than a small one may, SlowBatch is thrown. */
  readonly stop: AbortSignal | null;
  readonly limits?: DropLimits;
  /** Refuse files with rows that cannot be true. */
  readonly strict?: boolean;
}

/**
 * Imports the files of a batch as one drop, without those that are refused. Throws if the fault is not in the files: no
 * disk space, a damaged lake, another writer that does not finish.
 */
export async function takeBatch(
  layout: Layout,
  batch: readonly CheckedDrop[],
  ledger: Ledger,
  options: TakeOptions,
): Promise<TakenBatch> {
  const { entity } = batch[0]!;
  const refused = new Map<CheckedDrop, string>();
  const changed = new Set<CheckedDrop>();
  const { limits = NO_LIMITS, stop } = options;
  const bounded = limits.spill === undefined ? options : { ...options, spill: limits.spill };
  const taken = await withDropStaging(layout, bounded, async (writer, staging) => {
    const files: StagedFile[] = [];
    const base = (await openComplete(layout.root, options.after)).current();
    const context = {
      ...{ writer, staging, layout, entity, base, limits },
      ...{ check: createCheck(layout, options), strict: options.strict ?? false },
    };
    for await (const [one, outcome] of stageDrops(context, batch)) {
      const { path } = one.file;
      if (!(outcome instanceof Error)) files.push({ ...outcome, file: path });
      else if (stop && outcome instanceof TooMuchError) throw new SlowBatch();
      else if (outcome instanceof ChangedDrop) changed.add(one);
      else refused.set(one, refusalReason(outcome, `inbox/${path}`));
    }
    if (files.length === 0) return [];
    const entriesFor: EntriesFor = (report, hasChanged) => {
      const staged = new Map(report.files.map((file) => [file.file, file]));
      const entries = batch.flatMap((one): readonly VersionEntry[] => {
        const file = staged.get(one.file.path);
        return file === undefined ? [] : [takenEntry(one, report, file, hasChanged)];
      });
      const paths = new Set(entries.map(({ path }) => path));
      const neighbour: Neighbour = (range) => ledger.neighbour(entity.name, range, paths);
      return entries.map((entry, i) => clipEntry(withLosses(entry, entity, entries.slice(0, i), neighbour)));
    };
    return publishDrop(context, files, entriesFor, ledger, options);
  });
  const byPath = new Map(taken.map((entry) => [entry.path, entry]));
  const entries = batch.flatMap((one): readonly Entry[] => {
    const { file, sha256 } = one;
    const reason = refused.get(one);
    if (reason !== undefined) return [refusalOf(file, entity.name, sha256, reason)];
    return [byPath.get(file.path) ?? []].flat();
  });
  return { entries, changed: [...changed].map(({ file }) => file) };
}

/** The entries of the files that were merged. Without a new version, their rows replaced equal ones. */
type EntriesFor = (report: Omit<ImportReport, "version">, hasChanged: boolean) => readonly VersionEntry[];

/** Why a file is refused. Rethrows errors that are not the file's fault; all others count as its fault. */
function refusalReason(error: unknown, label: string): string {
  if (error instanceof UnreadableDrop) return error.message;
  if (error instanceof StoppedError) throw error;
  fileFault(error);
  return error instanceof OperatorError ? withoutLabel(error.message, label) : `it cannot be read: ${reasonOf(error)}`;
}

/** The path is shown next to the reason, so the reason need not repeat it. */
const withoutLabel = (message: string, label: string): string =>
  message.startsWith(label) ? message.slice(label.length).replace(/^:? */, "") : message;

/**
 * Merges a drop without the write lock, and publishes and records it. If another writer changed the entity meanwhile,
 * merges again.
 */
async function publishDrop(
  { writer, staging, layout, entity, check }: BatchContext,
  files: readonly StagedFile[],
  entriesFor: EntriesFor,
  ledger: Ledger,
  options: WriteOptions,
): Promise<readonly LedgerEntry[]> {
  const { name } = entity;
  const last = files.reduce((most, { number }) => Math.max(most, number), 0);
  const mode = replaceModeOf(files[0]!.file);
  const whole = mode === null ? undefined : (wholeOf(entity, mode) ?? undefined);
  const base = (await openComplete(layout.root, options.after)).current();
  const { drop, prepared, judged } = await unless(writer, check, async () => {
    const joined = await joinDrop(writer, entity, files, { whole, each: true });
    const writing = { writer, layout, target: staging };
    const merged = await merge(writing, entity, base.files(name), joined.change);
    const found = await checkChange(writing, entity, base, joined.change, merged, last);
    return { drop: joined, prepared: merged, judged: found };
  });
  return withWriteSession(layout.root, { ...options, writer }, async (session) => {
    const before = session.base.files(name);
    const isBase = session.base.version.lists[name] === base.version.lists[name];
    if (isBase) await moveIn(layout, staging, prepared.written);
    const merged = isBase ? prepared : await merge(session, entity, before, drop.change);
    const recheck = () => checkChange(session, entity, session.base, drop.change, merged, last);
    const checked = isBase ? judged : await recheck();
    const report = reportOf(entity, files, drop, before, merged, checked);
    const entries = entriesFor(report, true);
    const version = await session.publish([checked.list], reasonOfDrops(name), { entries });
    if (version) return entriesOf(version);
    const same = entriesOf({ ...session.base.version, entries: entriesFor(report, false) });
    // Before the next version is published: entries are in the order of what they describe.
    await ledger.append(same);
    return same;
  });
}

function takenEntry(
  { file, entity, sha256 }: CheckedDrop,
  report: Omit<ImportReport, "version">,
  staged: StagedFile,
  hasChanged: boolean,
): VersionEntry {
  const { rows, duplicates, ignored, span } = staged;
  const { added, superseded, first, last } = report;
  const replaced = hasChanged ? report.replaced : 0;
  const warnings = [...warningsOfFile(entity, staged), ...(rows > 0 ? warningsOfDrop(entity, report, staged) : [])];
  const counts = { rows, duplicates, ignored, added, replaced, superseded };
  const sums = { ...counts, first, last, span, warnings };
  const { path, size, mtime } = file;
  return { ...sums, path, size, mtime, sha256, entity: entity.name, outcome: "taken", reason: null };
}

// Warnings about drops that were taken: missing columns, and rows that were replaced.

/** Warnings about a file by itself. */
const warningsOfFile = (entity: Entity, file: Staged): readonly string[] => [
  ...lacks(entity, file),
  ...[conflictNote(file) ?? []].flat(),
  ...file.warnings,
];

/** Warnings about what a file did to stored rows, among those that were imported together. */
const warningsOfDrop = (
  { name }: Entity,
  merged: Pick<Merged, "effects" | "removed">,
  { number }: Staged,
): readonly string[] =>
  notesOn(partOfFile(merged, number), (mode) => `drop the file into inbox/${name}/${replaceFolder(mode)}/`);

type Neighbour = (range: readonly [string, string] | null) => ReturnType<Ledger["neighbour"]>;

/**
 * If an identity has many rows, a file with only some of them replaces all. Warns of this, and names the other file.
 * `before` are the files of the batch that come before it; `neighbour` finds files that are not in the batch.
 */
function withLosses(
  entry: VersionEntry,
  entity: Entity,
  before: readonly VersionEntry[],
  neighbour: Neighbour,
): VersionEntry {
  if (entry.rows === 0 || entity.identityIs === "row" || replaceModeOf(entry.path) !== null) return entry;
  const { added, replaced, warnings } = entry;
  const { first, last } = spanOf(entry);
  const isLater = (): boolean => before.some((one) => one.rows > 0 && doOverlap(spanOf(one), spanOf(entry)));
  const superseded = entry.superseded > 0 && isLater() ? entry.superseded : 0;
  const range = first === null || last === null ? null : ([first, last] as const);
  const other = replaced > 0 ? neighbour(range) : undefined;
  const of = other ? ` of inbox/${other.path} or earlier files` : "";
  const cause = `a file replaces all rows of the same ${entity.identity.join(", ")}, so put these into one file`;
  return {
    ...entry,
    warnings: [
      ...warnings,
      ...(superseded > 0 ? [`${plural(superseded, "row")} of files imported together with it replaced: ${cause}`] : []),
      ...(replaced > 0 && (other || added < 0) ? [`${plural(replaced, "row")}${of} replaced: ${cause}`] : []),
    ],
  };
}

/** Missing columns may be present under other names. */
function lacks(entity: Entity, { missing, ignored }: Staged): readonly string[] {
  if (missing.length === 0) return [];
  const unused = ignored.length === 0 ? "" : `; not used: ${some(ignored)}`;
  return [`without ${some(missing)}: ${fateOfMissing(entity)}${unused}`];
}
