// Ingests the inbox: imports drops as they become complete, those of one entity in order.
import { setTimeout as sleep } from "node:timers/promises";
import { ENTITY_NAMES } from "../catalog/index.js";
import { chinaTime } from "../dates.js";
import { size as sizeInWords } from "../words.js";
import { NO_MARK } from "../lake/continuity.js";
import type { DropState } from "../lake/drop-file.js";
import { isSameTime } from "../lake/inbox-files.js";
import { openLake } from "../lake/lake.js";
import { mirrorOf } from "../lake/mirror/mirror.js";
import { clipEntry } from "../lake/ledger.js";
import { layoutOf } from "../lake/layout.js";
import { isShort, freeSpace } from "../lake/status.js";
import { describe, precheck, checkDrop, judgeContent, refusalOf, type Entry, type CheckedDrop } from "./judge.js";
import { createBucketInbox } from "./bucket-inbox.js";
import { maintain, type MaintenanceOptions } from "./maintenance.js";
import { QUIET, watchInbox, type InboxFile } from "./watch.js";
import { openLedger } from "./ledger.js";
import { isSmall, shareOf, type Lot, type LotSize, type FileHistory, type PendingDrop } from "./lots.js";
import { createRunningLots, labelOf } from "./running.js";
import type { DropLimits } from "../intake/limits.js";
import type { KnownFolders } from "../intake/table-folders.js";
import { RETRY_AFTER, watchDataDirectory } from "./data-directory.js";
import { retentionClock } from "../store/vacuum.js";
import { settleLeftover } from "../store/journal.js";
import { clearDrops } from "../store/staging.js";
import { keepTables } from "../store/tables.js";
import { takeFiles } from "./take-files.js";
import { SlowBatch } from "./stopping.js";
import { takeBatch } from "./take.js";
import { contentKey, createUnfinished, SECOND_TRY } from "./unfinished.js";
import { createRetries, excessReason, openCrashes } from "./failures.js";

export interface IngestOptions extends MaintenanceOptions {
  /** Bytes; a larger file is refused. */
  readonly maxDrop: number;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  /** Milliseconds, for measuring what a scan costs. */
  readonly timer?: () => number;
  /** By default there are none. */
  readonly limits?: DropLimits;
  /** Refuse files with rows that cannot be true. */
  readonly strict?: boolean;
}

interface Ingester {
  /**
   * Scans the inbox once, and starts to import complete drops and to run maintenance if it is due. Resolves to the
   * milliseconds until the next scan.
   */
  step(): Promise<number>;
  /** Waits for the given number of milliseconds, or until a lot is done, since others may then start. */
  rest(milliseconds: number): Promise<void>;
  /** Resolves when no drop is being imported, to whether one was. */
  taken(): Promise<boolean>;
  /** Resolves when no maintenance is running. */
  maintained(): Promise<void>;
}

/** If nothing was dropped for this many milliseconds, there is time for long maintenance. */
const IDLE_AFTER = 10_000;
const MAINTENANCE_EVERY = 5_000;
/** The pause after each piece of a large file while other lots run, in milliseconds. */
const PAUSE = 5;
const noPause = (): Promise<void> => Promise.resolve();

export async function openIngester(root: string, options: IngestOptions): Promise<Ingester> {
  const layout = layoutOf(root);
  const { after = NO_MARK, clock, log, signal } = options;
  const lake = await openLake(root, { after });
  const isAvailable = watchDataDirectory(lake, log);
  await clearDrops(layout);
  await settleLeftover(layout);
  await keepTables(layout, ENTITY_NAMES, log);
  await lake.refresh();
  const retentionTime = retentionClock(options.now, clock);
  const ledger = await openLedger(
    layout,
    lake.current().version.data_version,
    () => lake.versions(),
    (withdrawn) => withdrawn.forEach((entry) => log(describe(entry))),
  );
  await ledger.withdraw(await lake.versions().catch(() => []));
  const inbox = watchInbox(layout.inbox, clock, options.timer);
  const isKnown = ({ path, size, mtime }: DropState): boolean => {
    const last = ledger.last(path);
    return last !== undefined && last.size === size && isSameTime(last.mtime, mtime);
  };
  const mirror = await mirrorOf(layout);
  const bucket = mirror && createBucketInbox(mirror, layout, { isKnown, clock, log, signal });
  const crashes = await openCrashes(layout);
  const unfinished = createUnfinished(clock, options.now);
  /** Files that took longer or held more than a small one may. */
  const slow = new Set<string>();
  /** How often a file needed more memory or disk than there is. */
  const excesses = new Map<string, number>();
  const retries = createRetries(clock, log);
  let lastDrop = clock();
  const maintenanceLake = await openLake(root, { after });
  let nextMaintenance = clock() + MAINTENANCE_EVERY;
  let maintenance: Promise<void> | null = null;
  let wake = (): void => undefined;
  signal.addEventListener("abort", () => wake(), { once: true });
  let waitsForSpace = false;

  const record = async (found: readonly Entry[]): Promise<void> => {
    const entries = found.map(clipEntry);
    const time = chinaTime(options.now());
    await ledger.append(entries.map((entry) => ({ ...entry, time })));
    for (const entry of entries) {
      inbox.settle(entry);
      unfinished.forget(entry);
      excesses.delete(contentKey(entry));
      slow.delete(contentKey(entry));
      log(describe(entry));
    }
    await crashes.forget(entries.map(({ path }) => path));
  };

  /** The ledger has this state of the file already. */
  const skip = async (file: InboxFile): Promise<void> => {
    inbox.settle(file);
    await crashes.forget([file.path]);
  };

  /** Records what became of files that were read. One that is refused for the first time gets a second try instead. */
  const recordRead = async (entries: readonly Entry[]): Promise<void> => {
    const early = entries.filter((entry) => entry.outcome === "refused" && !unfinished.hadTime(entry));
    for (const entry of early) {
      unfinished.giveTime(entry);
      inbox.defer(entry.path, SECOND_TRY);
    }
    await record(entries.filter((entry) => !early.includes(entry)));
  };

  const past: FileHistory = {
    failures: (file) => Math.max(crashes.of(file.path), excesses.get(contentKey(file)) ?? 0),
    isSuspect: (file) => crashes.isLastTry(file.path),
    isSlow: (file) => slow.has(contentKey(file)),
  };

  /** Imports a batch. Refuses a file that by itself repeatedly needs more memory or disk than there is. */
  const take = async (batch: readonly CheckedDrop[], size: LotSize, stop: AbortSignal): Promise<void> => {
    const paths = batch.map(({ file }) => file.path);
    try {
      const { entries, changed } = await crashes.during(paths, () =>
        takeBatch(layout, batch, ledger, {
          ...{ ...options, ...shareOf(size, options) },
          ...{ after: lake.mark(), stop: size === "small" ? stop : null },
        }),
      );
      for (const { path } of changed) inbox.defer(path, QUIET);
      await recordRead(entries);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof SlowBatch) throw error;
      const reason = excessReason(error);
      if (reason === null || isShort(await freeSpace(layout))) throw error;
      for (const { file } of batch) excesses.set(contentKey(file), (excesses.get(contentKey(file)) ?? 0) + 1);
      const [{ file, entity, sha256 }] = batch as [CheckedDrop];
      if (batch.length > 1 || excesses.get(contentKey(file))! < MOST_EXCESSES) throw error;
      await record([refusalOf(file, entity.name, sha256, reason)]);
    }
  };

  /** All lots share one thread for checksums, so that of a large file leaves time for the others. */
  const pause = async (): Promise<void> => {
    if (running.size > 1) await sleep(PAUSE);
  };

  const takeLot = (lot: Lot, stop: AbortSignal): Promise<void> => {
    const folders: KnownFolders = new Map();
    return takeFiles(lot.files, {
      signal,
      stop,
      check: (one) => checkDrop(layout, one, folders, signal, isSmall(one.file) ? noPause : pause),
      async judge(checked) {
        if (checked.verdict !== "checked") return checked;
        await ledger.follow();
        return judgeContent(ledger, checked.drop);
      },
      take: (batch) => take(batch, lot.size, stop),
      record: recordRead,
      skip,
      defer: ({ path }) => inbox.defer(path, QUIET),
      mayBeCutShort: unfinished.mayBeCutShort,
      hold: unfinished.hold,
      onSlow(left) {
        if (!stop.aborted)
          log(`${labelOf(lot)} holds more than a small file may: it is retried when no other slow file is read`);
        for (const { file } of left) slow.add(contentKey(file));
      },
    });
  };

  const running = createRunningLots({
    ...options,
    past,
    async take(lot, stop) {
      await retries.guard(lot.entity.name, `cannot import ${labelOf(lot)}`, () => takeLot(lot, stop));
      lastDrop = clock();
    },
    unsettled: (entity) => inbox.complete(entity),
    onEnd: () => wake(),
  });

  /** Records complete files whose outcome is known without reading, and starts to import the others. */
  const handle = async (complete: readonly InboxFile[]): Promise<void> => {
    const entries: Entry[] = [];
    const waiting: PendingDrop[] = [];
    for (const file of complete) {
      const prechecked = precheck(ledger, file, options.maxDrop);
      const deadly = crashes.refusal(file.path);
      if (prechecked.verdict === "known") await skip(file);
      else if (prechecked.verdict === "record") entries.push(prechecked.entry);
      else if (deadly === null) waiting.push(prechecked);
      else entries.push(refusalOf(file, prechecked.entity.name, null, deadly));
    }
    await record(entries);
    if (!signal.aborted) running.turn(waiting);
  };

  /** Whether drops must wait for disk space. Logs each change. */
  const mustWaitForSpace = async (): Promise<boolean> => {
    const space = await freeSpace(layout);
    if (isShort(space) === waitsForSpace) return waitsForSpace;
    waitsForSpace = !waitsForSpace;
    const { free, reserve } = space;
    const state = `${sizeInWords(free)} free, ${sizeInWords(reserve)} must stay free`;
    log(waitsForSpace ? `drops wait for disk space: ${state}` : `there is disk space again: ${state}`);
    return waitsForSpace;
  };

  const runMaintenance = async (): Promise<void> => {
    const isIdle = running.size === 0 && clock() - lastDrop > IDLE_AFTER;
    const didWork = await retries.guard(MAINTENANCE, "maintenance failed", async () => {
      try {
        return await maintain(maintenanceLake, isIdle, retentionTime(), options);
      } catch (error) {
        if (signal.aborted) return false;
        throw error;
      }
    });
    nextMaintenance = clock() + (didWork === true ? 0 : MAINTENANCE_EVERY);
  };

  return {
    async step() {
      if (!(await isAvailable())) return RETRY_AFTER;
      bucket?.look();
      await ledger.follow().catch(() => undefined);
      const complete = inbox.scan(
        (entity) => running.has(entity) || retries.isWaiting(entity) || unfinished.isHeld(entity),
      );
      if (complete.length > 0) {
        lastDrop = clock();
        const mayWrite = !retries.isWaiting(LEDGER_WRITES) && !(await mustWaitForSpace());
        if (mayWrite) await retries.guard(LEDGER_WRITES, "cannot write the ledger", () => handle(complete));
      } else running.turn([]);
      await running.writeReport(layout.intake, inbox.crowded());
      const isDue = maintenance === null && clock() >= nextMaintenance && !retries.isWaiting(MAINTENANCE);
      if (isDue && !signal.aborted) maintenance = runMaintenance().finally(() => (maintenance = null));
      return inbox.untilNextScan();
    },
    async rest(milliseconds) {
      const waking = new AbortController();
      wake = () => waking.abort();
      if (!signal.aborted) await sleep(milliseconds, undefined, { signal: waking.signal }).catch(() => undefined);
    },
    async taken() {
      const wasTaking = running.size > 0;
      await bucket?.ended();
      await running.ended();
      await running.writeReport(layout.intake, inbox.crowded());
      return wasTaking;
    },
    async maintained() {
      await maintenance;
    },
  };
}

/** Names for retries of work that belongs to no entity. */
const MAINTENANCE = "/maintenance";
const LEDGER_WRITES = "/";

/** A file is refused after it has needed more memory or disk than there is this many times by itself. */
const MOST_EXCESSES = 3;

/** Ingests until the signal fires. */
export async function ingest(root: string, options: IngestOptions): Promise<void> {
  const { signal } = options;
  const ingester = await openIngester(root, options);
  while (!signal.aborted) {
    await ingester.rest(await ingester.step());
  }
  await ingester.taken();
  await ingester.maintained();
}
