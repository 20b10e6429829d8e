// Imports drops of one entity: reads and merges them without blocking other writers, which wait only for the publication.
import { randomUUID } from "node:crypto";
import { symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { OperatorError, fileFault, NoSpaceError, reasonOf } from "../errors.js";
import { isUnchanged, openDrop, UnreadableDrop, type OpenDrop } from "../lake/drop-file.js";
import { stampOf } from "../files.js";
import type { Layout } from "../lake/layout.js";
import { reasonOfDrops } from "../lake/ledger.js";
import { isShort, freeSpace } from "../lake/disk-space.js";
import { warningsOfFile, withLosses } from "./warnings.js";
import { ChangedDrop, refusalOf, type Entry, type CheckedDrop } from "./judge.js";
import { exists } from "../store/durable.js";
import { joinDrop, reportOf, type ImportReport, type StagedFile } from "../store/import.js";
import type { InboxFile } from "./watch.js";
import type { Ledger } from "./ledger.js";
import { merge } from "../store/merge.js";
import { stage, type Staged } from "../intake/normalise.js";
import { formatOf } from "../intake/source.js";
import { openComplete, withWriteSession, type WriteOptions } from "../store/session.js";
import { NO_LIMITS, TooMuchError, type DropLimits, type FileLimits } from "../intake/limits.js";
import { moveIn, withDropStaging, type Staging } from "../store/staging.js";

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
}

/**
 * Imports the files of a batch as one drop, without those that are refused. Throws if the fault is not in the files: no
 * disk space, a damaged lake, another writer that does not finish.
 */
export async function takeBatch(
  layout: Layout,
  batch: readonly CheckedDrop[],
  ledger: Ledger,
  currentVersion: () => Promise<string>,
  options: TakeOptions,
): Promise<TakenBatch> {
  const { entity } = batch[0]!;
  const refused = new Map<CheckedDrop, string>();
  const changed: InboxFile[] = [];
  const { limits = NO_LIMITS, stop } = options;
  const bounded = limits.spill === undefined ? options : { ...options, spill: limits.spill };
  const report = await withDropStaging(layout, bounded, async (writer, staging) => {
    const files: StagedFile[] = [];
    const context = { writer, staging, layout, check: createCheck(layout, options) };
    for (const one of batch) {
      try {
        files.push({ ...(await stageDrop(context, one, limits)), file: one.file.path });
      } catch (error) {
        if (stop && error instanceof TooMuchError) throw new SlowBatch();
        if (error instanceof ChangedDrop) changed.push(one.file);
        else refused.set(one, refusalReason(error, `inbox/${one.file.path}`));
      }
    }
    return files.length === 0 ? null : publishDrop(context, entity, files, options);
  });
  const version = report?.version?.data_version ?? (await currentVersion());
  const entries = batch.flatMap((one): readonly Entry[] => {
    const reason = refused.get(one);
    if (reason !== undefined) return [refusalOf(one.file, entity.name, one.sha256, reason)];
    return changed.includes(one.file) ? [] : [takenEntry(one, report!, version)];
  });
  const last = entries.findLastIndex(({ outcome }) => outcome === "taken");
  return {
    entries: entries.map((entry, i) => (i === last ? withLosses(entry, entity, entries, ledger) : entry)),
    changed,
  };
}

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

/** What the steps of one batch share. */
interface BatchContext {
  readonly writer: Writer;
  readonly staging: Staging;
  readonly layout: Layout;
  readonly check: Check;
}

async function stageDrop(
  { writer, staging, layout, check }: BatchContext,
  { file, entity, identity }: CheckedDrop,
  limits: FileLimits,
): Promise<Staged> {
  const { scratch } = staging;
  const checkFile = async (): Promise<Error | undefined> =>
    (await isUnchanged(layout, file)) ? check() : new ChangedDrop(file.path);
  const drop = await openDrop(layout, file.path);
  try {
    if (!drop || stampOf(drop.stats) !== identity) throw new ChangedDrop(file.path);
    const source = await linkOpenFile(drop, file.path, scratch);
    const options = { map: {}, set: {}, label: `inbox/${file.path}`, below: file.path, limits };
    const staged = await unless(writer, checkFile, () => stage(writer, entity, source, options, scratch));
    // A file that was removed meanwhile was complete until then.
    const isReplaced = !(await isUnchanged(layout, file)) && (await exists(join(layout.inbox, file.path)));
    if (isReplaced) throw new ChangedDrop(file.path);
    return staged;
  } catch (error) {
    throw (await isUnchanged(layout, file)) ? error : new ChangedDrop(file.path);
  } finally {
    await drop?.handle.close();
  }
}

/**
 * Makes a short path that leads to an open file of the inbox and ends as the name of the file does. It leads to that file
 * even if a link has replaced the file in the inbox.
 */
export async function linkOpenFile({ source }: OpenDrop, path: string, scratch: string): Promise<string> {
  const link = join(scratch, randomUUID() + formatOf(path, path).end);
  await symlink(resolve(source), link);
  return link;
}

/** Merges a drop without the write lock and publishes it. If another writer changed the entity meanwhile, merges again. */
async function publishDrop(
  { writer, staging, layout, check }: BatchContext,
  entity: Entity,
  files: readonly StagedFile[],
  options: WriteOptions,
): Promise<ImportReport> {
  const { name } = entity;
  const base = (await openComplete(layout.root, options.after)).current();
  const { drop, prepared } = await unless(writer, check, async () => {
    const joined = await joinDrop(writer, entity, files);
    const merged = await merge({ writer, layout, target: staging }, entity, base.files(name), joined.staged);
    return { drop: joined, prepared: merged };
  });
  return withWriteSession(layout.root, { ...options, writer }, async (session) => {
    const before = session.base.files(name);
    const isBase = session.base.version.lists[name] === base.version.lists[name];
    if (isBase) await moveIn(layout, staging, prepared.written);
    const merged = isBase ? prepared : await merge(session, entity, before, drop.staged);
    const version = await session.publish([merged.list], reasonOfDrops(name));
    return { ...reportOf(entity, files, drop, before, merged), version };
  });
}

class StoppedError extends Error {}

/** A small batch turned out to be large or slow, and must be imported as such. */
export class SlowBatch extends StoppedError {}

/** Resolves to the reason why the import must end now; undefined if it may continue. */
type Check = () => Promise<Error | undefined>;

/** When the process must stop, a running import may continue for this many milliseconds. */
const FINISH_WITHIN = 4_000;

function createCheck(layout: Layout, { signal, stop }: Pick<TakeOptions, "signal" | "stop">): Check {
  let end = Infinity;
  return async () => {
    if (stop?.aborted) return new SlowBatch();
    if (signal.aborted) end = Math.min(end, performance.now() + FINISH_WITHIN);
    if (performance.now() > end) return new StoppedError("the process is stopping");
    return isShort(await freeSpace(layout)) ? new NoSpaceError("only reserved disk space is left") : undefined;
  };
}

const CHECK_EVERY = 250;

/** Runs `work` while the check gives no reason to end. When it gives one, interrupts the writer and throws the reason. */
async function unless<T>(writer: Writer, check: Check, work: () => Promise<T>): Promise<T> {
  let reason = await check();
  if (reason) throw reason;
  let isOver = false;
  let timer: NodeJS.Timeout;
  const look = async (): Promise<void> => {
    reason ??= await check();
    if (isOver) return;
    if (reason) writer.interrupt();
    wait();
  };
  const wait = (): void => void (timer = setTimeout(() => void look(), CHECK_EVERY));
  wait();
  try {
    return await work();
  } catch (error) {
    throw reason ?? error;
  } finally {
    isOver = true;
    clearTimeout(timer!);
  }
}

function takenEntry({ file, entity, sha256 }: CheckedDrop, report: ImportReport, version: string): Entry {
  const staged = report.files.find((one) => one.file === file.path)!;
  const { rows, duplicates, ignored } = staged;
  const { added, replaced, superseded, first, last } = report;
  const warnings = warningsOfFile(staged);
  const sums = { rows, duplicates, ignored, added, replaced, superseded, first, last, warnings, data_version: version };
  const { path, size, mtime } = file;
  return { ...sums, path, size, mtime, sha256, entity: entity.name, outcome: "taken", reason: null };
}
