// Ingesting: files that are dropped into the inbox are taken as they become complete, one drop after another.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ENTITY_NAMES } from "../../catalog/index.js";
import { chinaTime } from "../../dates.js";
import { CommandError, reasonOf } from "../../errors.js";
import { count, plural } from "../../words.js";
import { NO_MARK, UnavailableError } from "../continuity.js";
import { openLake, type Lake } from "../lake.js";
import { layoutOf, type Layout } from "../layout.js";
import { MOST_DEATHS, readDeaths, taking } from "./deaths.js";
import { firstBatch, judge, refusalOf, takeBatch, type Entry, type Takable } from "./drops.js";
import { keepHouse, type HousekeepingOptions } from "./housekeeping.js";
import { watchInbox, type InboxFile } from "./inbox.js";
import { openLedger } from "./ledger.js";

export interface IngestOptions extends HousekeepingOptions {
  /** Milliseconds that only go forward. */
  readonly clock: () => number;
}

export interface Ingester {
  /**
   * Looks once, takes what is complete, and begins to tidy up where that is due; resolves to the milliseconds until it is
   * worth looking again. Drops are taken while it tidies up.
   */
  step(): Promise<number>;
  /** Resolves when nothing is being tidied up. */
  tidied(): Promise<void>;
}

/** A fresh file that cannot be read is tried again after so many quiet milliseconds: its writer may have paused. */
const SECOND_LOOK = 3_000;
/** Nothing was dropped for so many milliseconds: time for work that takes long. */
const IDLE_AFTER = 10_000;
const HOUSEKEEPING_EVERY = 5_000;
/** How often to look for a data directory that is missing, in milliseconds. */
const OUT_OF_REACH = 500;
/** Waiting times after a failure that is not a file's fault, in milliseconds. */
const FIRST_RETRY = 1_000;
const LONGEST_RETRY = 60_000;

export async function openIngester(root: string, options: IngestOptions): Promise<Ingester> {
  const layout = layoutOf(root);
  const { after = NO_MARK, clock, log, signal } = options;
  const lake = await openLake(root, { after });
  const reach = watchReach(lake, log);
  const currentVersion = async (): Promise<string> => {
    await lake.refresh();
    return lake.current().version.data_version;
  };
  const ledger = await openLedger(layout, await currentVersion());
  const inbox = watchInbox(layout.inbox, clock, (path) =>
    log(`refused inbox/${path}: its name is not UTF-8; rename it`),
  );
  const deaths = await readDeaths(layout);
  const second = new Set<string>();
  const troubles = createTroubles(clock, log);
  let lastDrop = clock();
  const tidyLake = await openLake(root, { after });
  let nextHousekeeping = clock() + HOUSEKEEPING_EVERY;
  let tidying: Promise<void> | null = null;

  const record = async (entries: readonly Entry[]): Promise<void> => {
    const time = chinaTime(options.now());
    await ledger.append(entries.map((entry) => ({ ...entry, time })));
    for (const entry of entries) {
      inbox.settle(entry.path);
      second.delete(contentKey(entry));
      deaths.delete(entry.path);
      log(describe(entry));
    }
  };

  const take = async (batch: readonly Takable[]): Promise<void> => {
    const paths = batch.map(({ file }) => file.path);
    const { entries, changed } = await taking(layout, paths, deaths, () =>
      takeBatch(layout, batch, ledger, currentVersion, { ...options, after: lake.mark() }),
    );
    for (const { path } of changed) inbox.defer(path, 0);
    const early = entries.filter((entry) => entry.outcome === "refused" && !second.has(contentKey(entry)));
    for (const entry of early) {
      second.add(contentKey(entry));
      inbox.defer(entry.path, SECOND_LOOK);
    }
    await record(entries.filter((entry) => !early.includes(entry)));
  };

  /** The first files whose content is to be merged; what is clear without that is noted. */
  const sift = async (files: readonly InboxFile[]): Promise<readonly Takable[]> => {
    const takable: Takable[] = [];
    for (const file of files) {
      if (takable.length >= AT_ONCE || signal.aborted) break;
      const judged = await judge(layout, ledger, file);
      if (judged.verdict === "known") inbox.settle(file.path);
      else if (judged.verdict === "note") await record([judged.entry]);
      else if (judged.verdict === "take" && (deaths.get(file.path) ?? 0) >= MOST_DEATHS) {
        await record([refusalOf(file, judged.entity.name, judged.sha256, DEADLY)]);
      } else if (judged.verdict === "take") takable.push(judged);
    }
    return takable;
  };

  const tidy = async (): Promise<void> => {
    const isIdle = clock() - lastDrop > IDLE_AFTER;
    const didWork = await troubles.guard(HOUSE, "cannot tidy up", async () => {
      try {
        return await keepHouse(tidyLake, isIdle, options);
      } catch (error) {
        if (signal.aborted) return false;
        throw error;
      }
    });
    nextHousekeeping = clock() + (didWork === true ? 0 : HOUSEKEEPING_EVERY);
  };

  return {
    async step() {
      if (!(await reach())) return OUT_OF_REACH;
      const complete = inbox.look().filter(({ path }) => !troubles.isWaiting(path.split("/")[0]!));
      if (complete.length > 0) lastDrop = clock();
      let rest = await sift(complete);
      const isMore = rest.length >= AT_ONCE;
      while (rest.length > 0 && !signal.aborted) {
        const batch = firstBatch(rest, deaths);
        const [{ entity, file }] = batch as [Takable];
        await troubles.guard(entity.name, `cannot take inbox/${file.path}`, () => take(batch));
        rest = rest.filter((one) => !batch.includes(one) && !troubles.isWaiting(one.entity.name));
      }
      if (isMore) return 0;
      const isDue = tidying === null && clock() >= nextHousekeeping && !troubles.isWaiting(HOUSE);
      if (isDue && !signal.aborted) tidying = tidy().finally(() => (tidying = null));
      return inbox.untilNextLook();
    },
    async tidied() {
      await tidying;
    },
  };
}

/** Looks whether the directory is what it was: nothing is read of another one, or written to it. Tells when this changes. */
function watchReach(lake: Lake, log: (line: string) => void): () => Promise<boolean> {
  let trouble: string | null = null;
  return async () => {
    const fault = await lake.refresh().then(
      () => null,
      (error: unknown) => error,
    );
    const [absent] = lake.faults().absent;
    const isAbsent = absent === undefined ? null : `the folder lake/${absent} is missing`;
    const found = fault instanceof UnavailableError ? fault.message : isAbsent;
    if (found !== trouble) log(found === null ? "watching the inbox again" : `not watching the inbox: ${found}`);
    trouble = found;
    return found === null;
  };
}

/** Files that are read before the inbox is looked at again. */
const AT_ONCE = 300;
const HOUSE = "";
const DEADLY = `the process died ${MOST_DEATHS} times while it read this file; change the file to try it again`;

const contentKey = ({ path, size, mtime }: Entry): string => `${path} ${size} ${mtime}`;

interface Troubles {
  isWaiting(name: string): boolean;
  /** Runs `work`; where it fails says so and lets `name` wait, longer each time. */
  guard<T>(name: string, what: string, work: () => Promise<T>): Promise<T | undefined>;
}

/** Failures that are not a file's fault: the disk is full, the lake is damaged, another writer is at work. */
function createTroubles(clock: () => number, log: (line: string) => void): Troubles {
  const waits = new Map<string, { readonly until: number; readonly delay: number }>();
  return {
    isWaiting: (name) => (waits.get(name)?.until ?? -Infinity) > clock(),
    async guard(name, what, work) {
      try {
        const result = await work();
        waits.delete(name);
        return result;
      } catch (error) {
        const delay = Math.min(LONGEST_RETRY, (waits.get(name)?.delay ?? FIRST_RETRY / 2) * 2);
        waits.set(name, { until: clock() + delay, delay });
        log(`${what}: ${reasonOf(error)}; next try in ${delay / 1000} s`);
        return undefined;
      }
    },
  };
}

function describe({ outcome, path, rows, duplicates, data_version, reason, warnings }: Entry): string {
  if (outcome !== "taken") return `${outcome} inbox/${path}: ${reason}`;
  const told = warnings.length === 0 ? "" : ` (${warnings.join("; ")})`;
  const more = duplicates === 0 ? "" : ` and ${count(duplicates)} that said nothing new`;
  return `taken inbox/${path}: ${plural(rows, "row")}${more}, data_version ${data_version}${told}`;
}

/** Resolves when the directory holds the lake that was seen, or when the signal fires. */
export async function untilThere(root: string, { after, log, signal }: IngestOptions): Promise<void> {
  const lake = await openLake(root, { ...(after ? { after } : {}), waits: true });
  const reach = watchReach(lake, log);
  while (!(await reach()) && !signal.aborted) {
    await sleep(OUT_OF_REACH, undefined, { signal }).catch(() => undefined);
  }
}

/** Makes `inbox` with a folder for each entity. Throws CommandError where the data directory cannot be written. */
export async function makeInbox(layout: Layout): Promise<void> {
  try {
    for (const name of ENTITY_NAMES) await mkdir(join(layout.inbox, name), { recursive: true });
    await mkdir(layout.state, { recursive: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(`${layout.root} cannot be written (${code})`);
  }
}

/** Ingests until the signal fires. */
export async function ingest(root: string, options: IngestOptions): Promise<void> {
  const { signal } = options;
  const ingester = await openIngester(root, options);
  while (!signal.aborted) {
    const wait = await ingester.step();
    if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => undefined);
  }
  await ingester.tidied();
}
