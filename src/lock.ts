// Lock files: each names its holder, which touches it while it lives. The lock of a dead holder is taken over.
import { randomUUID } from "node:crypto";
import { readlinkSync } from "node:fs";
import { link, mkdir, open, readdir, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { OperatorError } from "./errors.js";
import { lacksLinks, readOrNone, TOO_LARGE } from "./files.js";
import { exists } from "./durable.js";

interface Holder {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
}

export interface Lock {
  /** False if another process took the lock over, because this one was suspended for more than a minute. */
  isHeld(): Promise<boolean>;
}

/** How often holders and waiting processes touch their files, in milliseconds. */
const BEAT_EVERY = 5_000;
/** A lock that was not touched for this long probably has no living holder on any host. In milliseconds. */
const DEAD_AFTER = 60_000;
/** Clocks jump, so a lock that looks dead is watched for this long. A living holder touches it twice meanwhile. */
const WATCHED_FOR = 2 * BEAT_EVERY + 1_000;

/**
 * Runs `work` while holding the lock file `path`. Waits up to `waitMs` for another holder, then gives up. Without
 * `makesFolder` the folder of the lock must exist.
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
  const claimed = await open(claim, "wx");
  let own = claimed;
  let beating: NodeJS.Timeout | undefined;
  try {
    // The claim is complete before it is linked as the lock. Both are one file, so writing touches only our own lock.
    const beat = (): Promise<unknown> => own.write(JSON.stringify(me), 0);
    await beat();
    beating = setInterval(() => void beat().catch(() => undefined), BEAT_EVERY).unref();
    own = await waitForTurn(path, { path: claim, handle: claimed, holder: me }, waitMs);
    if (own !== claimed) await claimed.close();
    await rm(claim, { force: true });
    await removeDeadClaims(path, own);
    return await work({ isHeld: async () => (await look(path))?.holder?.id === me.id });
  } finally {
    clearInterval(beating);
    const isHeld = (await look(path))?.holder?.id === me.id;
    // If the directory was moved away, the old time shows that the lock is dead once the directory is back.
    if (!isHeld) await own.utimes(0, 0).catch(() => undefined);
    await own.close();
    await rm(claim, { force: true });
    if (isHeld) await rm(path, { force: true });
  }
}

/** Runs `work` while holding the lock. Soon resolves to false if another living process holds it. */
export async function tryLock(path: string, work: () => Promise<void>, makesFolder = true): Promise<boolean> {
  let began = false;
  const begin = (): Promise<void> => {
    began = true;
    return work();
  };
  return withLock(path, begin, 100, makesFolder).then(
    () => true,
    (error: unknown) => {
      if (began || !(error instanceof OperatorError)) throw error;
      return false;
    },
  );
}

/** The process that holds a lock file, and whether it is dead; null if the lock is free. */
export async function lookAtLock(
  path: string,
): Promise<{ readonly pid: number | null; readonly isDead: boolean } | null> {
  const found = await look(path);
  return found ? { pid: found.holder?.pid ?? null, isDead: await isDead(path, found, Date.now()) } : null;
}

interface Claim {
  readonly path: string;
  readonly handle: FileHandle;
  readonly holder: Holder;
}

/** Resolves to the open lock file, which is the claim itself where the file system has hard links. */
async function waitForTurn(path: string, claim: Claim, waitMs: number): Promise<FileHandle> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const lock = await tryTake(path, claim);
    if (lock) return lock;
    const found = await look(path);
    // A lock that was just removed is free, so try again even after the deadline.
    if (found && (await isDead(path, found, await clockOf(claim.handle))) && (await takeAway(path, found))) continue;
    if (performance.now() > deadline) throw new OperatorError(heldBy(path, found?.holder));
    await sleep(20);
  }
}

const heldBy = (path: string, holder: Holder | undefined): string =>
  holder
    ? `another writer (process ${holder.pid}) holds the lake; try again later`
    : `another writer (process unknown) holds the lake; try again later, or remove ${path} if no command is running`;

/** Resolves to undefined if another process holds the lock. */
async function tryTake(path: string, claim: Claim): Promise<FileHandle | undefined> {
  try {
    await link(claim.path, path);
    return claim.handle;
  } catch (error) {
    if (isTaken(error)) return undefined;
    if (!lacksLinks(error)) throw error;
    return tryCreate(path, claim.holder);
  }
}

/** Takes a lock without hard links. After a crash here the lock names no holder, and is dead when it is a minute old. */
async function tryCreate(path: string, holder: Holder): Promise<FileHandle | undefined> {
  const lock = await open(path, "wx").catch((error: unknown) => {
    if (isTaken(error)) return undefined;
    throw error;
  });
  try {
    await lock?.write(JSON.stringify(holder), 0);
    return lock;
  } catch (error) {
    await lock?.close();
    await rm(path, { force: true });
    throw error;
  }
}

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "EEXIST";

/** Puts a lock back, unless another process has taken the lock meanwhile. */
async function putBack(moved: string, path: string): Promise<void> {
  await link(moved, path).catch(async (error: unknown) => {
    if (isTaken(error)) return;
    if (!lacksLinks(error)) throw error;
    if (!(await exists(path))) await rename(moved, path);
  });
}

interface Found {
  readonly holder: Holder | undefined;
  /** When its holder last touched it, by the clock of the file system. */
  readonly touched: number;
}

/** Bytes of a lock file. A larger one names no holder. */
const LARGEST = 4_096;

async function look(path: string): Promise<Found | undefined> {
  const found = await stat(path).catch(() => undefined);
  const text = await readOrNone(path, LARGEST).catch((error: unknown) =>
    (error as NodeJS.ErrnoException).code === TOO_LARGE ? "" : undefined,
  );
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

/** The time of our last beat by the clock of the file system. Hosts that share it may have different clocks. */
async function clockOf(handle: FileHandle): Promise<number> {
  return (await handle.stat()).mtimeMs;
}

/** Whether a lock was not touched for long. A touch in the future counts too: one of the two times is wrong. */
const isStale = ({ touched }: Found, now: number): boolean => Math.abs(now - touched) >= DEAD_AFTER;

/** Whether the holder of the lock found at `path` is dead. `now` is the time by the clock of the file system. */
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
 * Removes a dead lock; of several waiting processes only one succeeds. A living lock that was moved by mistake is put
 * back. Resolves to whether a dead lock was removed.
 */
async function takeAway(path: string, dead: Found): Promise<boolean> {
  const moved = `${path}.${randomUUID()}`;
  try {
    await rename(path, moved);
  } catch {
    return false;
  }
  const isOther = (await look(moved))?.holder?.id !== dead.holder?.id;
  if (isOther) await putBack(moved, path);
  await rm(moved, { force: true });
  return !isOther;
}

/** Removes the claims of processes that died while they waited. */
async function removeDeadClaims(path: string, handle: FileHandle): Promise<void> {
  const now = await clockOf(handle);
  const removeIfDead = async (claim: string): Promise<void> => {
    const found = await look(claim);
    if (!found) return;
    // A claim without a holder was left by a crash between its creation and its first beat.
    const isUnnamed = found.holder === undefined && isStale(found, now);
    if (isUnnamed || (await isDead(claim, found, now))) await rm(claim, { force: true });
  };
  const names = (await readdir(dirname(path))).filter((name) => name.startsWith(`${basename(path)}.`));
  await Promise.all(names.map((name) => removeIfDead(join(dirname(path), name))));
}

/** The host and its process namespace: a process id has a meaning only within both. */
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
