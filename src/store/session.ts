// The write session: the write lock, a scratch folder, DuckDB with bounded memory, the version to build on, and publishing
// the next one.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { openWriter } from "../engine/loading.js";
import type { Writer } from "../engine/writer.js";
import { OperatorError, EngineError, isSystemError, NoSpaceError } from "../errors.js";
import { findSuccessor, UnavailableError, type Mark, readIdentity } from "../lake/continuity.js";
import { UnreadableError, describeRefusal } from "../files.js";
import { DamagedFileError } from "../lake/integrity.js";
import { openLake, type Lake, type Snapshot } from "../lake/lake.js";
import { layoutOf, type Layout, listFile, versionFile } from "../lake/layout.js";
import { type FileList, type Version, encodeList, encodeVersion, sha256 } from "../lake/manifest.js";
import { openJournal, settle, journalIfNew, journalVersion } from "./journal.js";
import { withLock, type Lock } from "../lock.js";
import { chinaTime } from "../dates.js";
import { keepTables } from "./tables.js";
import { createDurably, syncPath, writeDurably } from "../durable.js";

export interface WriteSession {
  readonly layout: Layout;
  readonly writer: Writer;
  /** An empty folder of this session on the lake's file system. */
  readonly scratch: string;
  /** The version to change. */
  readonly base: Snapshot;
  /** Publishes the lists that differ from the base; resolves to null if none does. Call it once. */
  publish(lists: readonly FileList[], reason: string, records?: Records): Promise<Version | null>;
}

/** What the ledger records of a version. */
export type Records = Pick<Version, "withdrawals" | "entries">;

export interface WriteOptions {
  /** DuckDB's memory limit, e.g. `4GB`. */
  readonly memory: string;
  /** DuckDB's limit of temporary disk, e.g. `10GB`; by default most of the free space. */
  readonly spill?: string;
  readonly threads?: number;
  readonly now?: () => Date;
  /** The directory must continue this lake; otherwise nothing is written. */
  readonly after?: Mark;
  /** Gets a line if the Delta tables could not be brought up. */
  readonly log?: (line: string) => void;
  /** An open writer, which stays open. By default the session opens its own. */
  readonly writer?: Writer;
}

/** What a session builds on, determined while it holds the lock. */
export interface Opening {
  readonly base: Snapshot;
  /** False if another version or none is served: the base is then published even without a change. */
  readonly isServed: boolean;
}

async function openServed(layout: Layout): Promise<Opening> {
  await openJournal(layout);
  return { base: (await openComplete(layout.root)).current(), isServed: true };
}

/** Opens a lake of which no folder is missing: files written below a missing mount would be hidden when it is back. */
export async function openComplete(root: string, after?: Mark): Promise<Lake> {
  const lake = await openLake(root, after ? { after } : {});
  const [absent] = lake.faults().absent;
  if (absent === undefined) return lake;
  throw new UnavailableError(
    `the folder lake/${absent} is missing`,
    "mount or restore it; if it is lost: tapehouse verify --repair",
  );
}

/** Opens the lake for writing and runs `work`. Afterwards all files that are not served are removed. */
export async function withWriteSession<T>(
  root: string,
  options: WriteOptions,
  work: (session: WriteSession) => Promise<T>,
): Promise<T> {
  return withSessionOn(root, options, openServed, work);
}

/** The same for a base other than the served version. `open` must begin the journal or keep the existing one. */
export async function withSessionOn<T, O extends Opening>(
  root: string,
  options: WriteOptions,
  open: (layout: Layout) => Promise<O>,
  work: (session: WriteSession, opening: O) => Promise<T>,
): Promise<T> {
  const within = async (layout: Layout, lock: Lock, opening: O): Promise<T> => {
    // We hold the lock, so everything in the scratch folder is left over from a crash.
    await rm(layout.scratch, { recursive: true, force: true });
    await mkdir(layout.scratch, { recursive: true });
    const scratch = await mkdtemp(join(layout.scratch, "session-"));
    const writer = options.writer ?? (await openWriter({ ...options, tempDirectory: join(scratch, "spill") }));
    try {
      const { base, isServed } = opening;
      const publishChanges: WriteSession["publish"] = async (lists, reason, records) => {
        const changed = lists
          .map((list) => withFindings(list, base.files(list.entity)))
          .filter((list) => JSON.stringify(list) !== JSON.stringify(base.files(list.entity)));
        if (changed.length === 0 && isServed) return null;
        if (!(await lock.isHeld())) throw new OperatorError("another writer took over the lake; nothing was changed");
        const now = (options.now ?? (() => new Date()))();
        const version = await publish(layout, base.version, changed, reason, now, records);
        const names = changed.map(({ entity }) => entity);
        await keepTables(layout, names, options.log);
        return version;
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
 * Runs `work` as the only writer of the lake. Cleans up after an earlier crash, and after `work` in any case. Throws
 * UnavailableError if the directory does not continue `after`.
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
      // If this fails, the journal stays and the next session cleans up.
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

/** Whether missing folders of a lake may be created. A lake that was seen before has them, so there they are a fault. */
export const mayCreateFolders = (after: Mark | undefined): boolean => !after?.sequence;

const BARRED: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "the disk is read-only",
  ENOTDIR: "a file is in the place of a folder",
  EISDIR: "a folder is in the place of a file",
  ERR_FS_EISDIR: "a folder is in the place of a file",
};

/** Turns errors of the machine into an OperatorError in plain words. Returns other errors unchanged. */
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
    const detail = describeRefusal(error) ?? `${reason} (${dest ?? path})`;
    return new OperatorError(`the lake in ${root} cannot be written: ${detail}`);
  }
  return isSystemError(error) ? new OperatorError(`the lake in ${root} cannot be written: ${message}`) : error;
}

const LACKS = {
  memory: "the memory limit is too small for this; raise it with --memory",
  disk: "the limit of temporary disk is too small for this",
} as const;

/** A change that was not checked keeps the findings of the list before it. */
function withFindings({ findings, ...list }: FileList, before: FileList): FileList {
  const kept = findings ?? before.findings ?? [];
  return kept.length === 0 ? list : { ...list, findings: kept };
}

// Publication: the lists and the file of a version are written once and never changed, and the pointer is replaced last.
// A crash at any point leaves the previous version in place.

/**
 * Publishes a version in which the given lists replace those of the same entities. The caller holds the write lock.
 * Throws an OperatorError if another writer has published on the same parent nevertheless.
 */
export async function publish(
  layout: Layout,
  parent: Version,
  changes: readonly FileList[],
  reason: string,
  now: Date,
  records: Records = {},
): Promise<Version> {
  await mkdir(layout.versions, { recursive: true });
  await mkdir(layout.lists, { recursive: true });
  await identify(layout);
  const lists: Record<string, string> = { ...parent.lists };
  for (const list of changes) {
    if (list.byDate.length === 0) {
      delete lists[list.entity];
      continue;
    }
    const text = encodeList(list);
    const sha = sha256(text);
    const path = join(layout.lists, listFile(sha));
    await journalIfNew(layout, path);
    await writeDurably(path, text);
    lists[list.entity] = sha;
  }
  const next = Date.parse(parent.data_version) + 1;
  const version: Version = {
    sequence: parent.sequence + 1,
    data_version: chinaTime(new Date(Math.max(now.getTime(), next))),
    ...(now.getTime() < next ? { published: chinaTime(now) } : {}),
    reason,
    ...records,
    lists,
  };
  await journalVersion(layout, version.sequence);
  await createDurably(join(layout.versions, versionFile(version.sequence)), encodeVersion(version)).catch(
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      throw new OperatorError("another writer published at the same time; nothing was changed, try again");
    },
  );
  await writeDurably(layout.pointer, `${version.sequence}\n`);
  if (parent.sequence === 0) await syncPath(layout.root);
  return version;
}

/** Gives the lake an id, which lakes of earlier releases lack. */
async function identify(layout: Layout): Promise<void> {
  if ((await readIdentity(layout)) !== null) return;
  await writeDurably(layout.identity, `${JSON.stringify({ id: randomUUID() })}\n`);
}
