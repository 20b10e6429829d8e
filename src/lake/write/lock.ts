// One writer at a time: a lock file that names its holder, kept fresh while it lives, taken over from one that died.
import { randomUUID } from "node:crypto";
import { readlinkSync } from "node:fs";
import { link, mkdir, open, readdir, readFile, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "../../errors.js";

interface Holder {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
}

export interface Lock {
  /** False where another process took the lock over, because this one stood still for longer than a minute. */
  isHeld(): Promise<boolean>;
}

/** How often a holder, or one that waits, shows that it lives, in milliseconds. */
const BEAT_EVERY = 5_000;
/** A lock that was not touched for so long has no living holder, whatever host it was on. */
const DEAD_AFTER = 60_000;

/**
 * Runs `work` while holding the lock file `path`. Waits up to `waitMs` for another holder, then gives up. Without
 * `makesFolder` the folder of the lock has to be there.
 */
export async function withLock<T>(
  path: string,
  work: (lock: Lock) => Promise<T>,
  waitMs = 600_000,
  makesFolder = true,
): Promise<T> {
  if (makesFolder) await mkdir(dirname(path), { recursive: true });
  const me: Holder = { id: randomUUID(), pid: process.pid, host: thisHost() };
  const claim = `${path}.${me.id}`;
  const handle = await open(claim, "wx");
  let beating: NodeJS.Timeout | undefined;
  try {
    // The claim is whole before it becomes the lock, and both are one file: writing to it touches only our own.
    const beat = (): Promise<unknown> => handle.write(JSON.stringify(me), 0);
    await beat();
    beating = setInterval(() => void beat().catch(() => undefined), BEAT_EVERY).unref();
    await waitForTurn(path, claim, handle, waitMs);
    await rm(claim, { force: true });
    await removeDeadClaims(path, handle);
    return await work({ isHeld: async () => (await look(path))?.holder?.id === me.id });
  } finally {
    clearInterval(beating);
    const isHeld = (await look(path))?.holder?.id === me.id;
    // Where its directory was moved away, it is known to be dead when that comes back.
    if (!isHeld) await handle.utimes(0, 0).catch(() => undefined);
    await handle.close();
    await rm(claim, { force: true });
    if (isHeld) await rm(path, { force: true });
  }
}

/** Runs `work` while holding the lock, or soon resolves to false where another living process holds it. */
export async function tryLock(path: string, work: () => Promise<void>): Promise<boolean> {
  let began = false;
  const begin = (): Promise<void> => {
    began = true;
    return work();
  };
  return withLock(path, begin, 100).then(
    () => true,
    (error: unknown) => {
      if (began || !(error instanceof CommandError)) throw error;
      return false;
    },
  );
}

/** Who holds a lock file, and whether that process is gone; null where nobody holds it. */
export async function lookAtLock(
  path: string,
): Promise<{ readonly pid: number | null; readonly isDead: boolean } | null> {
  const found = await look(path);
  return found ? { pid: found.holder?.pid ?? null, isDead: isDead(found, Date.now()) } : null;
}

async function waitForTurn(path: string, claim: string, handle: FileHandle, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs;
  while (!(await tryLink(claim, path))) {
    const found = await look(path);
    // What was taken away just now is free: looking for longer than one may wait is no reason to leave without it.
    if (found && isDead(found, await clockOf(handle)) && (await takeAway(path, found))) continue;
    if (performance.now() > deadline) {
      throw new CommandError(
        `another writer (process ${found?.holder?.pid ?? "unknown"}) holds the lake; try again later`,
      );
    }
    await sleep(20);
  }
}

async function tryLink(claim: string, path: string): Promise<boolean> {
  try {
    await link(claim, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

interface Found {
  readonly holder: Holder | undefined;
  /** When its holder last touched it, by the clock of the file system. */
  readonly touched: number;
}

async function look(path: string): Promise<Found | undefined> {
  const found = await stat(path).catch(() => undefined);
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (!found || text === undefined) return undefined;
  return { holder: parseHolder(text), touched: found.mtimeMs };
}

function parseHolder(text: string): Holder | undefined {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return undefined;
  }
}

/** The time that the file system gave our own last beat: hosts that share it need not agree on the hour. */
async function clockOf(handle: FileHandle): Promise<number> {
  return (await handle.stat()).mtimeMs;
}

function isDead({ holder, touched }: Found, now: number): boolean {
  if (now - touched > DEAD_AFTER) return true;
  return holder !== undefined && holder.host === thisHost() && !isAlive(holder.pid);
}

/**
 * Of several that wait only one takes a dead lock away. One that took a living lock by mistake puts it back. Resolves to
 * whether a dead one went.
 */
async function takeAway(path: string, dead: Found): Promise<boolean> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return false;
  }
  const isOther = (await look(aside))?.holder?.id !== dead.holder?.id;
  if (isOther) await tryLink(aside, path);
  await rm(aside, { force: true });
  return !isOther;
}

/** Claims of processes that died while they waited. */
async function removeDeadClaims(path: string, handle: FileHandle): Promise<void> {
  const now = await clockOf(handle);
  for (const name of await readdir(dirname(path))) {
    if (!name.startsWith(`${basename(path)}.`)) continue;
    const claim = join(dirname(path), name);
    const found = await look(claim);
    if (found && isDead(found, now)) await rm(claim, { force: true });
  }
}

/** A process id means something only among the processes that see each other: one host, one container. */
function thisHost(): string {
  try {
    return `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
