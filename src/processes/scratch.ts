// Spill folders: one per worker, removed when it ends. Folders left by a crash of the whole server are removed by a
// later one.
import { mkdtemp, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError, reasonOf } from "../errors.js";
import { describeRefusal, makeOwnFolder } from "../files.js";

interface Scratch {
  /** The path of a new folder, which is not created. */
  folder(): string;
  close(): Promise<void>;
}

/** How often a running server touches its folder, in milliseconds. */
const TOUCH_EVERY = 60_000;
/** A folder that was not touched while another server ran for this long has no owner, even if clocks differ. */
const ABANDONED_AFTER = 600_000;

/** The folder of this server. Throws an OperatorError if it cannot be made. */
async function makeOwn(root: string): Promise<string> {
  try {
    await makeOwnFolder(root);
    return await mkdtemp(join(root, PREFIX));
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const reason = describeRefusal(error) ?? reasonOf(error);
    throw new OperatorError(`temporary files cannot be written: ${reason}; name another folder with --temp`);
  }
}

export async function openScratch(root: string): Promise<Scratch> {
  const own = await makeOwn(root);
  const found = await timesOf(root);
  const touching = setInterval(() => void utimes(own, new Date(), new Date()).catch(() => undefined), TOUCH_EVERY);
  const removing = setTimeout(() => void removeUntouched(root, found).catch(() => undefined), ABANDONED_AFTER);
  let workers = 0;
  return {
    folder: () => join(own, `${++workers}`),
    async close() {
      clearInterval(touching);
      clearTimeout(removing);
      await rm(own, { recursive: true, force: true });
    },
  };
}

const PREFIX = "server-";

/** The folders of servers, and when each was last touched. */
async function timesOf(root: string): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>();
  for (const name of await readdir(root)) {
    if (!name.startsWith(PREFIX)) continue;
    const stats = await stat(join(root, name)).catch(() => undefined);
    if (stats) times.set(name, stats.mtimeMs);
  }
  return times;
}

async function removeUntouched(root: string, before: ReadonlyMap<string, number>): Promise<void> {
  for (const [name, time] of await timesOf(root)) {
    // Another user's folder cannot be removed, and need not be.
    if (before.get(name) === time) await rm(join(root, name), { recursive: true }).catch(() => undefined);
  }
}
