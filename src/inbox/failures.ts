// Failures: retries with growing delays if a file is not at fault, and crashes of the process, counted for each drop.
import { rename, rm, writeFile } from "node:fs/promises";
import { EngineError, NoSpaceError, reasonOf } from "../errors.js";
import { clip } from "../words.js";
import { readOrNone } from "../files.js";
import type { Layout } from "../lake/layout.js";
import { temporaryOf } from "../durable.js";

/** Delays before a retry, in milliseconds. */
const FIRST_RETRY = 1_000;
const LONGEST_RETRY = 60_000;
/** Characters of an error in the log. */
const LONGEST_REASON = 2_000;

interface Retries {
  isWaiting(name: string): boolean;
  /** Runs `work`. If it fails, logs the error and makes `name` wait, longer each time. */
  guard<T>(name: string, what: string, work: () => Promise<T>): Promise<T | undefined>;
}

/** For failures such as a full disk, a damaged lake, or another writer at work. */
export function createRetries(clock: () => number, log: (line: string) => void): Retries {
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
        log(`${what}: ${clip(reasonOf(error), LONGEST_REASON)}; next try in ${delay / 1000} s`);
        return undefined;
      }
    },
  };
}

const OPTIONS = { memory: "--ingest-memory", disk: "--ingest-spill" } as const;

/** Why a file is refused that by itself needs more memory or disk than there is; null if the error is another one. */
export function excessReason(error: unknown): string | null {
  if (!(error instanceof EngineError || error instanceof NoSpaceError)) return null;
  const lack = error instanceof EngineError ? error.lack : null;
  if (lack === null) return `it needs more than there is: ${reasonOf(error)}`;
  return `it needs more ${lack} than ${OPTIONS[lack]} allows: split it, or allow more and drop it again`;
}

/** A file is refused after this many crashes. A single one may have another cause, such as a restart. */
const MOST_CRASHES = 3;

const DEADLY =
  `the process died or was killed ${MOST_CRASHES} times while it read this file, so the file may be at fault; ` +
  `to retry, touch it or copy it into the inbox again`;

interface Crashes {
  /** How often the process died while it imported this file. */
  of(path: string): number;
  /** One more crash, and the file is refused. */
  isLastTry(path: string): boolean;
  /** Why a file is refused that has crashed the process too often; null if it has not. */
  refusal(path: string): string | null;
  /** Runs `work`. If the process dies meanwhile, each of the files counts one more crash. */
  during<T>(paths: readonly string[], work: () => Promise<T>): Promise<T>;
  /** Call it when the files were imported or refused. */
  forget(paths: readonly string[]): Promise<void>;
}

export async function openCrashes(layout: Layout): Promise<Crashes> {
  const crashes = await readCounts(layout.taking);
  const running = new Set<string>();
  let saving: Promise<void> = Promise.resolve();

  /** Files in progress are saved with one more crash than they have, since a dying process cannot save anything. */
  const save = async (): Promise<void> => {
    const counts: Record<string, number> = Object.fromEntries(crashes);
    for (const path of running) counts[path] = (counts[path] ?? 0) + 1;
    if (Object.keys(counts).length === 0) return rm(layout.taking, { force: true });
    await writeFile(temporaryOf(layout.taking), JSON.stringify(counts));
    await rename(temporaryOf(layout.taking), layout.taking);
  };
  const saveInTurn = (): Promise<void> => {
    const saved = saving.then(save);
    saving = saved.catch(() => undefined);
    return saved;
  };

  const of = (path: string): number => crashes.get(path) ?? 0;
  return {
    of,
    isLastTry: (path) => of(path) >= MOST_CRASHES - 1,
    refusal: (path) => (of(path) < MOST_CRASHES ? null : DEADLY),
    async during(paths, work) {
      for (const path of paths) running.add(path);
      try {
        await saveInTurn();
        return await work();
      } finally {
        for (const path of paths) running.delete(path);
        await saveInTurn();
      }
    },
    async forget(paths) {
      if (paths.filter((path) => crashes.delete(path)).length > 0) await saveInTurn();
    },
  };
}

async function readCounts(path: string): Promise<Map<string, number>> {
  try {
    return new Map(Object.entries(JSON.parse((await readOrNone(path)) ?? "{}") as Readonly<Record<string, number>>));
  } catch {
    return new Map();
  }
}
