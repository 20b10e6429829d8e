// The serving copies of a lake: a folder with the same names as the lake's, and the files of it that are open.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { RecordBatch } from "apache-arrow";
import { LRUCache } from "lru-cache";
import type { Column } from "../catalog/types.js";
import type { DataFile } from "../lake/manifest.js";
import type { Scan } from "../query/scan.js";
import { type Copy, DamagedCopyError, openCopy } from "./open.js";
import { readCopies } from "./read.js";

export interface CopyStore {
  /**
   * The rows of a scan, in batches with these columns; null if DuckDB must read them. Throws DamagedCopyError, and removes
   * that copy.
   */
  read(scan: Scan, columns: readonly Column[]): Promise<AsyncGenerator<RecordBatch, void, undefined> | null>;
  close(): Promise<void>;
}

/** Copies that are kept open. */
const MOST_OPEN = 256;

/** Where the copy of a data file is. */
const copyPath = (folder: string, { path }: DataFile): string => join(folder, path.replace(/\.parquet$/, ".arrow"));

/** Without a folder, there are no copies. */
export function openCopyStore(folder: string | null): CopyStore {
  if (folder === null) return { read: async () => null, close: async () => undefined };
  const opened = new LRUCache<string, Held>({ max: MOST_OPEN, dispose: (held) => held.leave() });

  const hold = async (file: DataFile): Promise<Held | null> => {
    const known = opened.get(file.sha256);
    if (known !== undefined) return known.enter();
    const copy = await openCopy(copyPath(folder, file), file.sha256);
    if (copy === null) return null;
    const held = holdOpen(copy);
    opened.set(file.sha256, held);
    return held.enter();
  };

  return {
    async read(scan, columns) {
      const held: Held[] = [];
      const release = (): void => {
        for (const one of held) one.leave();
      };
      for (const file of scan.files) {
        const one = await hold(file);
        if (one === null) {
          release();
          return null;
        }
        held.push(one);
      }
      const copies = held.map(({ copy }) => copy);
      const batches = readCopies(scan, copies, columns);
      if (batches === null) {
        release();
        return null;
      }
      return (async function* () {
        try {
          yield* batches;
        } catch (error) {
          if (error instanceof DamagedCopyError) await remove(scan.files, copies, error.copy);
          throw error;
        } finally {
          release();
        }
      })();
    },
    async close() {
      opened.clear();
    },
  };

  async function remove(files: readonly DataFile[], copies: readonly Copy[], damaged: Copy): Promise<void> {
    const file = files[copies.indexOf(damaged)]!;
    opened.delete(file.sha256);
    await rm(copyPath(folder!, file), { force: true });
  }
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
