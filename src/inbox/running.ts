// The lots that are being imported: starts and stops them as lots.ts decides, and reports those that take long.
import { rename, rm, writeFile } from "node:fs/promises";
import { chinaTime } from "../dates.js";
import { count } from "../words.js";
import { describeCrowded, type CrowdedFolder, type Intake, type IntakeLot } from "../lake/status.js";
import { temporaryOf } from "../durable.js";
import type { InboxFile } from "./watch.js";
import { nextStep, SMALL_TIME, type Lot, type LotSize, type FileHistory, type PendingDrop } from "./lots.js";

/** The shortest time between two reports while lots run, in milliseconds. */
const REPORT_EVERY = 500;

interface RunningOptions {
  readonly clock: () => number;
  readonly now: () => Date;
  readonly log: (line: string) => void;
  readonly past: FileHistory;
  /** Imports a lot; never rejects. It ends early if `stop` fires. */
  take(lot: Lot, stop: AbortSignal): Promise<void>;
  /** Files of an entity that are complete and not yet imported or refused. */
  unsettled(entity: string): readonly InboxFile[];
  /** Called when a lot has ended, so that others may start. */
  onEnd(): void;
}

interface RunningLots {
  readonly size: number;
  has(entity: string): boolean;
  /** Starts waiting files as slots allow, and moves or stops overdue lots. */
  turn(waiting: readonly PendingDrop[]): void;
  /**
   * Writes to the file `path` which lots take long, which wait for them, and which folders are crowded. Removes the file
   * if there is nothing to report. Logs once for each folder that it is crowded, and once that it is full.
   */
  writeReport(path: string, crowded: readonly CrowdedFolder[]): Promise<void>;
  /** Resolves when the lots that run now have ended. */
  ended(): Promise<void>;
}

interface Running {
  readonly lot: Lot;
  size: LotSize;
  readonly since: number;
  readonly began: string;
  readonly stop: AbortController;
  readonly done: Promise<void>;
  /** The paths of its files. */
  readonly paths: ReadonlySet<string>;
}

export function createRunningLots({ clock, now, log, past, take, unsettled, onEnd }: RunningOptions): RunningLots {
  const running = new Map<string, Running>();
  /** When each entity had its last turn. */
  const turns = new Map<string, number>();
  let held: readonly Lot[] = [];
  let nextReport = -Infinity;
  const logged = new Set<string>();
  let written = "";

  const begin = (lot: Lot): void => {
    const { name } = lot.entity;
    turns.set(name, Math.max(0, ...turns.values()) + 1);
    const stop = new AbortController();
    const done = take(lot, stop.signal).finally(() => {
      running.delete(name);
      onEnd();
    });
    const paths = new Set(lot.files.map(({ file }) => file.path));
    running.set(name, { lot, size: lot.size, since: clock(), began: chinaTime(now()), stop, done, paths });
  };

  const demote = (one: Running): void => {
    one.size = "slow";
    log(`${labelOf(one.lot)} takes long: it moves to the slot for slow files, so that others can start`);
  };

  const stop = (one: Running): void => {
    one.stop.abort();
    log(
      `${labelOf(one.lot)} takes long: it stops so that others can start, and is retried when no other slow file is read`,
    );
  };

  const snapshot = (): Omit<Intake, "crowded"> => {
    const all = [...running.values()];
    const long = all.filter(({ since }) => clock() - since >= SMALL_TIME);
    if (long.length === 0) return { reading: [], waiting: [] };
    const blocks = (one: Running, size: LotSize): boolean => [one.size, size].includes("alone") || one.size === size;
    const blocking = (size: LotSize): readonly string[] =>
      all.filter((one) => blocks(one, size)).map(({ lot }) => lot.files[0]!.file.path);
    return {
      reading: long.map((one) => ({
        ...summaryOf(one.lot),
        size: one.size,
        since: one.began,
        queued: queuedBehind(one),
      })),
      waiting: held.map((lot) => ({ ...summaryOf(lot), behind: blocking(lot.size) })),
    };
  };

  const queuedBehind = ({ lot, paths }: Running): number =>
    unsettled(lot.entity.name).filter(({ path }) => !paths.has(path)).length;

  return {
    get size() {
      return running.size;
    },
    has: (entity) => running.has(entity),
    turn(waiting) {
      const lots = new Map(
        [...running].map(([name, one]) => [
          name,
          { size: one.size, since: one.since, isStopping: one.stop.signal.aborted },
        ]),
      );
      const step = nextStep(waiting, lots, turns, past, clock());
      for (const name of step.demote) demote(running.get(name)!);
      for (const name of step.stop) stop(running.get(name)!);
      step.begin.forEach(begin);
      held = step.held;
    },
    async writeReport(path, crowded) {
      if (running.size > 0 && clock() < nextReport) return;
      nextReport = clock() + REPORT_EVERY;
      for (const folder of crowded) {
        const key = `${folder.path} ${folder.isFull}`;
        if (!logged.has(key)) log(describeCrowded(folder));
        logged.add(key);
      }
      const { reading, waiting } = snapshot();
      const text = JSON.stringify({ reading, waiting, crowded });
      if (text === written) return;
      try {
        if (reading.length === 0 && crowded.length === 0) await rm(path, { force: true });
        else {
          await writeFile(temporaryOf(path), text);
          await rename(temporaryOf(path), path);
        }
        written = text;
      } catch {
        // The folder is gone or full, which is reported elsewhere. This report matters only at the moment.
      }
    },
    async ended() {
      await Promise.all([...running.values()].map(({ done }) => done));
    },
  };
}

const summaryOf = ({ entity, files, size }: Lot): IntakeLot => ({
  entity: entity.name,
  path: files[0]!.file.path,
  files: files.length,
  size,
});

/** The first file of a lot, and how many more there are. */
export function labelOf({ files }: Lot): string {
  const more = files.length > 1 ? ` and ${count(files.length - 1)} more` : "";
  return `inbox/${files[0]!.file.path}${more}`;
}
