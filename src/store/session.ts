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
import { DamagedFileError } from "../lake/damaged-file.js";
import { openLake, type Lake, type Snapshot } from "../lake/lake.js";
import { layoutOf, type Layout, listFile, nameOf, versionFile } from "../lake/layout.js";
import { isSameList, listFiles } from "../lake/lists.js";
import { DamagedManifestError, type FileList, type Version, encodeVersion } from "../lake/manifest.js";
import { mirrorOf } from "../lake/mirror/mirror.js";
import { commit } from "./commit.js";
import { LOST_RACE, untilWon } from "./contention.js";
import { openJournal, settle, journalIfNew, journalVersion } from "./journal.js";
import { withLock, type Lock } from "../lock.js";
import { chinaTime } from "../dates.js";
import { createShared } from "./shared-file.js";
import { keepTables } from "./tables.js";
import { createDurably, exists, syncPath, writeDurably } from "../durable.js";

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
type Records = Pick<Version, "withdrawals" | "entries">;

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

export async function openServed(layout: Layout): Promise<Opening> {
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

/**
 * Opens the lake for writing and runs `work`, which is run again if another writer has published the same entity in a
 * bucket meanwhile. Afterwards all files that are not served are removed.
 */
export async function withWriteSession<T>(
  root: string,
  options: WriteOptions,
  work: (session: WriteSession) => Promise<T>,
): Promise<T> {
  return untilWon("the same rows", () => withSessionOn(root, options, openServed, work));
}

/**
 * The same for a base other than the served version, and without trying again when another writer was faster. `open` must
 * begin the journal or keep the existing one.
 */
export async function withSessionOn<T, O extends Opening>(
  root: string,
  options: WriteOptions,
  open: (layout: Layout) => Promise<O>,
  work: (session: WriteSession, opening: O) => Promise<T>,
): Promise<T> {
  const within = async (layout: Layout, lock: Lock, opening: O): Promise<T> => {
    const began = performance.now();
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
          .filter((list) => !isSameList(list, base.files(list.entity)));
        if (changed.length === 0 && isServed) return null;
        if (!(await lock.isHeld())) throw new OperatorError("another writer took over the lake; nothing was changed");
        const now = (options.now ?? (() => new Date()))();
        const version = await publish(layout, base, changed, { reason, now, records, began });
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
    await (await mirrorOf(layout))?.pull.versions(true);
    const opened = await open(layout);
    const result = await work(layout, lock, opened).catch(async (error: unknown) => {
      // If this fails, the journal stays and the next session cleans up.
      if (await lock.isHeld()) await settle(layout).catch(() => undefined);
      throw error;
    });
    // What is published stays published. If this fails, as on a full disk, the next session records it and cleans up.
    if (await lock.isHeld()) await settle(layout).catch(() => undefined);
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

interface Description {
  readonly reason: string;
  readonly now: Date;
  readonly records?: Records | undefined;
  /** When the base was the newest version, by the monotonic clock; now by default. */
  readonly began?: number;
}

/**
 * Publishes a version in which the given lists replace those of the same entities. The caller holds the write lock.
 * Throws an OperatorError if another writer has published nevertheless: in a bucket a LostRaceError, and only if it was one
 * of these entities.
 */
export async function publish(
  layout: Layout,
  base: Snapshot,
  changes: readonly FileList[],
  { reason, now, records = {}, began = performance.now() }: Description,
): Promise<Version> {
  await mkdir(layout.versions, { recursive: true });
  await mkdir(layout.lists, { recursive: true });
  await identify(layout);
  const named = new Map<string, string | null>();
  const written: string[] = [];
  for (const list of changes) named.set(list.entity, await writeList(layout, list, written));
  const versionOn = (parent: Version): Version => {
    const next = Date.parse(parent.data_version) + 1;
    const lists = Object.entries({ ...parent.lists, ...Object.fromEntries(named) });
    return {
      sequence: parent.sequence + 1,
      data_version: chinaTime(new Date(Math.max(now.getTime(), next))),
      ...(now.getTime() < next ? { published: chinaTime(now) } : {}),
      reason,
      ...records,
      lists: Object.fromEntries(lists.filter((entry): entry is [string, string] => entry[1] !== null)),
    };
  };
  const mirror = await mirrorOf(layout);
  if (mirror !== null) return commit(mirror, layout, { base, changes, written, versionOn, began });
  const version = versionOn(base.version);
  await journalVersion(layout, version.sequence);
  await createDurably(join(layout.versions, versionFile(version.sequence)), encodeVersion(version)).catch(
    (error: unknown) => {
      throw (error as NodeJS.ErrnoException).code === "EEXIST" ? new OperatorError(LOST_RACE) : error;
    },
  );
  await writeDurably(layout.pointer, `${version.sequence}\n`);
  if (version.sequence === 1) await syncPath(layout.root);
  return version;
}

/** Writes the files of a list. Resolves to its checksum, which names it, and null if it is empty. Adds to `written`. */
async function writeList(layout: Layout, list: FileList, written: string[]): Promise<string | null> {
  if (list.byDate.length === 0) return null;
  const files = listFiles(list);
  for (const { sha256: sha, text } of files) {
    const path = join(layout.lists, listFile(sha));
    if (text !== null) {
      await journalIfNew(layout, path);
      await writeDurably(path, text);
      written.push(path);
    } else if (!(await exists(path))) {
      throw new DamagedManifestError(`${nameOf(layout, path)}, a part of the file list of ${list.entity}, is gone`);
    }
  }
  return files.at(-1)!.sha256;
}

/** Gives the lake an id, which lakes of earlier releases lack. */
async function identify(layout: Layout): Promise<void> {
  if ((await readIdentity(layout)) !== null) return;
  const text = `${JSON.stringify({ id: randomUUID() })}\n`;
  await createShared(layout, layout.identity, text);
}
