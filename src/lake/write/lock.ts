// One writer at a time: a lock file that names its holder, waited for, and taken over from a holder that died.
import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "../../errors.js";

interface Holder {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
}

/** Runs `work` while holding the lock file `path`. Waits up to `waitMs` for another holder, then gives up. */
export async function withLock<T>(path: string, work: () => Promise<T>, waitMs = 600_000): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  const me: Holder = { id: randomUUID(), pid: process.pid, host: hostname() };
  const deadline = performance.now() + waitMs;
  while (!(await tryLock(path, me))) {
    await removeIfDead(path);
    if (performance.now() > deadline) {
      const holder = await readHolder(path);
      throw new CommandError(`another writer (process ${holder?.pid ?? "unknown"}) holds the lake; try again later`);
    }
    await sleep(20);
  }
  try {
    return await work();
  } finally {
    if ((await readHolder(path))?.id === me.id) await rm(path, { force: true });
  }
}

/** Writes the lock file under another name first, so that it appears whole or not at all. */
async function tryLock(path: string, me: Holder): Promise<boolean> {
  const own = `${path}.${me.id}`;
  await writeFile(own, JSON.stringify(me));
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(own, { force: true });
  }
}

async function removeIfDead(path: string): Promise<void> {
  const holder = await readHolder(path);
  if (!holder || holder.host !== hostname() || isAlive(holder.pid)) return;
  // Rename first: of several waiters only one takes the dead lock away, and never a living one.
  const aside = `${path}.dead-${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  const taken = JSON.parse(await readFile(aside, "utf8")) as Holder;
  if (taken.id === holder.id) await rm(aside, { force: true });
  else await rename(aside, path);
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Holder;
  } catch {
    return undefined;
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
