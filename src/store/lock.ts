// One writer at a time: a lock file that names its holder, kept fresh while it lives, taken over from one that died.
import { randomUUID } from "node:crypto";
import { readlinkSync } from "node:fs";
import { link, mkdir, open, readdir, readFile, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { OperatorError } from "../errors.js";

interface Holder {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
}

export interface Lock {
  /** False if another process took the lock over, because this one was halted for longer than a minute. */
  isHeld(): Promise<boolean>;
}

/** How often a holder, or one that waits, shows that it lives, in milliseconds. */
const BEAT_EVERY = 5_000;
/** A lock that was touched this long ago or more seems to have no living holder, whatever host it was on. */
const DEAD_AFTER = 60_000;
/** Clocks jump: what seems dead is watched for so long, in which a living holder touches it twice. */
const WATCHED_FOR = 2 * BEAT_EVERY + 1_000;

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

/** Runs `work` while holding the lock, or soon resolves to false if another living process holds it. */
export async function tryLock(path: string, work: () => Promise<void>): Promise<boolean> {
  let began = false;
  const begin = (): Promise<void> => {
    began = true;
    return work();
  };
  return withLock(path, begin, 100).then(
    () => true,
    (error: unknown) => {
      if (began || !(error instanceof OperatorError)) throw error;
      return false;
    },
  );
}

/** Who holds a lock file, and whether that process is gone; null if nobody holds it. */
export async function lookAtLock(
  path: string,
): Promise<{ readonly pid: number | null; readonly isDead: boolean } | null> {
  const found = await look(path);
  return found ? { pid: found.holder?.pid ?? null, isDead: await isDead(path, found, Date.now()) } : null;
}

async function waitForTurn(path: string, claim: string, handle: FileHandle, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs;
  while (!(await tryLink(claim, path))) {
    const found = await look(path);
    // What was taken away just now is free: looking for longer than one may wait is no reason to leave without it.
    if (found && (await isDead(path, found, await clockOf(handle))) && (await takeAway(path, found))) continue;
    if (performance.now() > deadline) throw new OperatorError(heldBy(path, found?.holder));
    await sleep(20);
  }
}

const heldBy = (path: string, holder: Holder | undefined): string =>
  holder
    ? `another writer (process ${holder.pid}) holds the lake; try again later`
    : `another writer (process unknown) holds the lake; try again later, or remove ${path} if no command is running`;

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

/** Not touched for long by the clock of the file system, or touched in its future: one of the two times is wrong. */
const isStale = ({ touched }: Found, now: number): boolean => Math.abs(now - touched) >= DEAD_AFTER;

/** Whether the holder of what was found at `path` is gone. `now` is the time by the clock of the file system. */
async function isDead(path: string, found: Found, now: number): Promise<boolean> {
  const { holder, touched } = found;
  if (holder !== undefined && holder.host === thisHost() && !isAlive(holder.pid)) return true;
  if (!isStale(found, now)) return false;
  const until = performance.now() + WATCHED_FOR;
  while (performance.now() < until) {
    await sleep(50);
    const again = await look(path);
    if (again?.touched !== touched || again.holder?.id !== holder?.id) return false;
  }
  return true;
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
  const removeIfDead = async (claim: string): Promise<void> => {
    const found = await look(claim);
    if (!found) return;
    // One that names nobody was left in the moment in which it was made: nobody will touch it.
    const isUnnamed = found.holder === undefined && isStale(found, now);
    if (isUnnamed || (await isDead(claim, found, now))) await rm(claim, { force: true });
  };
  const names = (await readdir(dirname(path))).filter((name) => name.startsWith(`${basename(path)}.`));
  await Promise.all(names.map((name) => removeIfDead(join(dirname(path), name))));
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
