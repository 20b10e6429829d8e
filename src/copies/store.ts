// The serving copies in a folder that has the same names as the lake's, as readers of scans see them.
import type { RecordBatch } from "apache-arrow";
import { LRUCache } from "lru-cache";
import type { Column } from "../catalog/types.js";
import type { DataFile } from "../lake/manifest.js";
import type { Scan } from "../query/scan.js";
import { type Copy, DamagedCopyError, openCopy } from "./open.js";
import { partsOf } from "./parts.js";
import { copyPath } from "./names.js";
import { readCopies } from "./read.js";

export interface CopyStore {
  /** Scans that together have the rows of this one, in its order; null if DuckDB must read all of it. */
  open(scan: Scan, columns: readonly Column[]): Promise<readonly ScanPart[] | null>;
  /** Opens the copies of these files, as many as stay open. */
  prepare(files: readonly DataFile[], signal: AbortSignal): Promise<void>;
  figures(): CopyFigures;
  close(): Promise<void>;
}

/** A part of a scan. Without `copied`, DuckDB reads it. */
export interface ScanPart {
  readonly scan: Scan;
  readonly copied: CopiedRows | null;
}

/** Rows from serving copies. */
export interface CopiedRows {
  /** Throws DamagedCopyError, after that copy was removed. A batch is valid until the next one is requested. */
  readonly batches: AsyncGenerator<RecordBatch, void, undefined>;
  /** Must be called when no more batches are needed. */
  close(): void;
}

/** Scans since the start, by where their rows came from; and the copies that were removed because they were damaged. */
export interface CopyFigures {
  readonly copies: number;
  readonly parquet: number;
  readonly both: number;
  readonly damaged: number;
}

/** How often copies that were removed are closed, in milliseconds. */
const SWEEP_EVERY = 10_000;
/** Copies that are kept open. */
const MOST_OPEN = 256;

const NO_COPIES = {
  open: async () => null,
  prepare: async () => undefined,
  close: async () => undefined,
};

/** Without a folder, there are no copies. */
export function openCopyStore(folder: string | null): CopyStore {
  const figures = { copies: 0, parquet: 0, both: 0, damaged: 0 };
  if (folder === null) return { ...NO_COPIES, figures: () => figures };
  const opened = new LRUCache<string, Held>({ max: MOST_OPEN, dispose: (held) => held.leave() });

  /** The copy is removed, unless another process has made it again by now. */
  const discard = async (file: DataFile, copy: Pick<Copy, "remove">): Promise<void> => {
    figures.damaged++;
    opened.delete(file.sha256);
    await copy.remove().catch(() => undefined);
  };
  const hold = async (file: DataFile): Promise<Held | null> => {
    const known = opened.get(file.sha256);
    if (known !== undefined) return known.enter();
    const copy = await openCopy(copyPath(folder, file.path), file.sha256);
    if (copy === null) return null;
    if ("damaged" in copy) {
      await discard(file, copy.damaged);
      return null;
    }
    const held = holdOpen(copy);
    opened.set(file.sha256, held);
    return held.enter();
  };

  /** Removed copies take space as long as they are open. */
  const sweep = async (): Promise<void> => {
    for (const [sha256, { copy }] of [...opened]) if (!(await copy.isThere())) opened.delete(sha256);
  };
  const sweeping = setInterval(() => void sweep().catch(() => undefined), SWEEP_EVERY).unref();

  async function partsWith(
    scan: Scan,
    columns: readonly Column[],
    held: Map<DataFile, Held>,
    release: (files: readonly DataFile[]) => void,
  ): Promise<readonly ScanPart[] | null> {
    for (const file of scan.files) {
      const one = await hold(file);
      if (one !== null) held.set(file, one);
    }
    const parts = partsOf(scan, (file) => held.get(file)?.copy ?? null)?.map((part): ScanPart => {
      const copies = part.files.map((file) => held.get(file)?.copy);
      const batches = copies.includes(undefined) ? null : readCopies(part, copies as Copy[], columns);
      if (batches !== null) {
        return { scan: part, copied: copiedRows(part.files, copies as Copy[], batches, () => release(part.files)) };
      }
      release(part.files);
      return { scan: part, copied: null };
    });
    if (parts === undefined) release(scan.files);
    const found = parts?.filter((part) => part.copied !== null).length ?? 0;
    figures[found === 0 ? "parquet" : found === parts?.length ? "copies" : "both"]++;
    return parts !== undefined && found > 0 ? parts : null;
  }

  const copiedRows = (
    files: readonly DataFile[],
    copies: readonly Copy[],
    batches: CopiedRows["batches"],
    close: () => void,
  ): CopiedRows => ({
    batches: (async function* () {
      try {
        yield* batches;
      } catch (error) {
        if (error instanceof DamagedCopyError) await discard(files[copies.indexOf(error.copy)]!, error.copy);
        throw error;
      }
    })(),
    close,
  });

  return {
    async open(scan, columns) {
      if (scan.select.what !== "rows" || scan.derived !== null) return null;
      const held = new Map<DataFile, Held>();
      const release = (files: readonly DataFile[]): void => {
        for (const file of files) {
          held.get(file)?.leave();
          held.delete(file);
        }
      };
      try {
        return await partsWith(scan, columns, held, release);
      } catch (error) {
        release(scan.files);
        throw error;
      }
    },
    async prepare(files, signal) {
      for (const file of files.slice(0, MOST_OPEN)) {
        signal.throwIfAborted();
        (await hold(file))?.leave();
      }
    },
    figures: () => figures,
    async close() {
      clearInterval(sweeping);
      opened.clear();
    },
  };
}

/** A copy that is closed when nobody reads it any more. */
interface Held {
  readonly copy: Copy;
  enter(): Held;
  leave(): void;
}

function holdOpen(copy: Copy): Held {
  // The store itself holds it.
  let users = 1;
  const held: Held = {
    copy,
    enter() {
      users++;
      return held;
    },
    leave() {
      if (--users === 0) void copy.close().catch(() => undefined);
    },
  };
  return held;
}
