// A writing session: the write lock, a scratch folder, DuckDB with bounded memory, and the version to build on.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { openWriter, type Writer } from "../engine/writer.js";
import { OperatorError, EngineError, isMachineTrouble, NoSpaceError } from "../errors.js";
import { findSuccessor, UnavailableError, type Mark } from "../lake/continuity.js";
import { UnreadableError, describeRefusal } from "../files.js";
import { DamagedFileError } from "../lake/integrity.js";
import { openLake, type Lake, type Snapshot } from "../lake/lake.js";
import { layoutOf, type Layout } from "../lake/layout.js";
import type { FileList, Version } from "../lake/manifest.js";
import { openJournal, settle } from "./journal.js";
import { withLock, type Lock } from "./lock.js";
import { publish } from "./publish.js";

export interface WriteSession {
  readonly layout: Layout;
  readonly writer: Writer;
  /** An empty folder of this session on the lake's file system. */
  readonly scratch: string;
  /** The version that changes are made to. */
  readonly base: Snapshot;
  /** Publishes the lists that differ from the base, once; resolves to null if none does. */
  publish(lists: readonly FileList[], reason: string): Promise<Version | null>;
}

export interface WriteOptions {
  /** DuckDB's memory limit, e.g. `4GB`. */
  readonly memory: string;
  /** DuckDB's limit of temporary disk, e.g. `10GB`; by default most of what is free. */
  readonly spill?: string;
  readonly threads?: number;
  readonly now?: () => Date;
  /** The lake that is meant, as far as it was seen: nothing is written where the directory does not go on from it. */
  readonly after?: Mark;
  /** One that is open already and stays open; without it the session opens its own. */
  readonly writer?: Writer;
}

/** What a session builds on, found when it holds the lock. */
export interface Opening {
  readonly base: Snapshot;
  /** False if another version is served, or none can be: the base is published even where nothing of it changes. */
  readonly isServed: boolean;
}

async function openServed(layout: Layout): Promise<Opening> {
  await openJournal(layout);
  return { base: (await openComplete(layout.root)).current(), isServed: true };
}

/** Opens a lake to build on. New files beside a folder that is not mounted would vanish when it is back. */
export async function openComplete(root: string, after?: Mark): Promise<Lake> {
  const lake = await openLake(root, after ? { after } : {});
  const [absent] = lake.faults().absent;
  if (absent === undefined) return lake;
  throw new UnavailableError(
    `the folder lake/${absent} is missing`,
    "mount it or bring it back; what is lost for good: tapehouse verify --repair",
  );
}

/** Opens the lake for writing, runs `work`, and leaves no file behind that is not served. */
export async function withWriteSession<T>(
  root: string,
  options: WriteOptions,
  work: (session: WriteSession) => Promise<T>,
): Promise<T> {
  return withSessionOn(root, options, openServed, work);
}

/** The same on another base than the served version. `open` opens the notes of new files, or leaves those that are there. */
export async function withSessionOn<T, O extends Opening>(
  root: string,
  options: WriteOptions,
  open: (layout: Layout) => Promise<O>,
  work: (session: WriteSession, opening: O) => Promise<T>,
): Promise<T> {
  const within = async (layout: Layout, lock: Lock, opening: O): Promise<T> => {
    // We hold the lock, so whatever lies in the scratch folder was left by a session that crashed.
    await rm(layout.scratch, { recursive: true, force: true });
    await mkdir(layout.scratch, { recursive: true });
    const scratch = await mkdtemp(join(layout.scratch, "session-"));
    const writer = options.writer ?? (await openWriter({ ...options, tempDirectory: join(scratch, "spill") }));
    try {
      const { base, isServed } = opening;
      const publishChanges: WriteSession["publish"] = async (lists, reason) => {
        const changed = lists.filter((list) => JSON.stringify(list) !== JSON.stringify(base.files(list.entity)));
        if (changed.length === 0 && isServed) return null;
        if (!(await lock.isHeld())) throw new OperatorError("another writer took the lake over; nothing was changed");
        return publish(layout, base.version, changed, reason, (options.now ?? (() => new Date()))());
      };
      return await work({ layout, writer, scratch, base, publish: publishChanges }, opening);
    } finally {
      if (!options.writer) writer.close();
      await rm(scratch, { recursive: true, force: true });
    }
  };
  return withLakeLocked(root, open, within, options.after);
}

/**
 * Runs `work` as the only writer of the lake, and clears up: before it after a crash, after it whatever came of it. Throws
 * UnavailableError if the directory does not go on from `after`.
 */
export async function withLakeLocked<T, O>(
  root: string,
  open: (layout: Layout) => Promise<O>,
  work: (layout: Layout, lock: Lock, opened: O) => Promise<T>,
  after?: Mark,
): Promise<T> {
  const layout = layoutOf(root);
  const requireLake = async (): Promise<void> => {
    if (after) await findSuccessor(layout, after);
  };
  await requireLake();
  const lockedWork = async (lock: Lock): Promise<T> => {
    await requireLake();
    const opened = await open(layout);
    const result = await work(layout, lock, opened).catch(async (error: unknown) => {
      // What cannot be cleared up now, the next session clears up: the notes stay.
      if (await lock.isHeld()) await settle(layout).catch(() => undefined);
      throw error;
    });
    if (await lock.isHeld()) await settle(layout);
    return result;
  };
  return withLock(layout.writeLock, lockedWork, undefined, mayCreateFolders(after)).catch((error: unknown) => {
    throw explain(error, layout.root);
  });
}

/** Whether the folders of a lake may be made: not where it is known to have them. */
export const mayCreateFolders = (after: Mark | undefined): boolean => !after?.sequence;

const BARRED: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "the disk is read-only",
  ENOTDIR: "a file stands where a folder should be",
  EISDIR: "a folder stands where a file should be",
  ERR_FS_EISDIR: "a folder stands where a file should be",
};

/** What went wrong with the machine, in words for the one who runs the command. */
export function explain(error: unknown, root: string): unknown {
  if (error instanceof DamagedFileError) {
    return new OperatorError(`a data file is damaged (${error.message}); see: tapehouse verify`);
  }
  if (error instanceof UnreadableError) return error;
  if (error instanceof EngineError) return error.lack === null ? error : new EngineError(LACKS[error.lack], error.lack);
  const { code, message, syscall, dest, path = root } = error as NodeJS.ErrnoException & { readonly dest?: string };
  if (code === "ENOSPC" || code === "EDQUOT")
    return new NoSpaceError(`no space is left on the disk that holds ${root}`);
  const reason = BARRED[code === "EEXIST" && syscall === "mkdir" ? "ENOTDIR" : (code ?? "")];
  if (reason !== undefined) {
    const told = describeRefusal(error) ?? `${reason} (${dest ?? path})`;
    return new OperatorError(`the lake in ${root} cannot be written: ${told}`);
  }
  return isMachineTrouble(error) ? new OperatorError(`the lake in ${root} cannot be written: ${message}`) : error;
}

const LACKS = {
  memory: "the memory limit is too small for this; give more with --memory",
  disk: "the limit of temporary disk is too small for this",
} as const;
