// The serving copies in a folder that has the same names as the lake's, as readers of scans see them.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { RecordBatch } from "apache-arrow";
import { LRUCache } from "lru-cache";
import type { Column } from "../catalog/types.js";
import type { DataFile } from "../lake/manifest.js";
import type { Scan } from "../query/scan.js";
import { type Copy, DamagedCopyError, openCopy } from "./open.js";
import { partsOf } from "./parts.js";
import { COPY } from "./layout.js";
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

/** Copies that are kept open. */
const MOST_OPEN = 256;

/** Where the copy of a data file is. */
export const copyPath = (folder: string, { path }: Pick<DataFile, "path">): string =>
  join(folder, path.replace(/\.parquet$/, COPY));

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

  const discard = async (file: DataFile): Promise<void> => {
    figures.damaged++;
    opened.delete(file.sha256);
    await rm(copyPath(folder, file), { force: true }).catch(() => undefined);
  };
  const hold = async (file: DataFile): Promise<Held | null> => {
    const known = opened.get(file.sha256);
    if (known !== undefined) return known.enter();
    const copy = await openCopy(copyPath(folder, file), file.sha256);
    if (copy === "damaged") await discard(file);
    if (copy === null || copy === "damaged") return null;
    const held = holdOpen(copy);
    opened.set(file.sha256, held);
    return held.enter();
  };

  return {
    async open(scan, columns) {
      if (scan.select.what !== "rows" || scan.derived !== null) return null;
      const held = new Map<DataFile, Held>();
      const release = (files: readonly DataFile[]): void => {
        for (const file of files) held.get(file)?.leave();
      };
      for (const file of scan.files) {
        const one = await hold(file);
        if (one !== null) held.set(file, one);
      }
      const parts = partsOf(scan, (file) => held.get(file)?.copy ?? null)?.map((part): ScanPart => {
        const copies = part.files.map((file) => held.get(file)?.copy);
        const batches = copies.includes(undefined) ? null : readCopies(part, copies as Copy[], columns);
        if (batches !== null) return { scan: part, copied: copied(part.files, copies as Copy[], batches) };
        release(part.files);
        return { scan: part, copied: null };
      });
      if (parts === undefined) release(scan.files);
      const found = parts?.filter((part) => part.copied !== null).length ?? 0;
      figures[found === 0 ? "parquet" : found === parts?.length ? "copies" : "both"]++;
      return parts !== undefined && found > 0 ? parts : null;

      function copied(files: readonly DataFile[], copies: readonly Copy[], batches: CopiedRows["batches"]): CopiedRows {
        let open = true;
        return {
          batches: (async function* () {
            try {
              yield* batches;
            } catch (error) {
              if (error instanceof DamagedCopyError) await discard(files[copies.indexOf(error.copy)]!);
              throw error;
            }
          })(),
          close() {
            if (open) release(files);
            open = false;
          },
        };
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
      if (--users === 0) void copy.close();
    },
  };
  return held;
}
