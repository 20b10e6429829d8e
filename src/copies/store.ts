// The serving copies in a folder that has the same names as the lake's, as readers of scans see them.
import type { RecordBatch } from "apache-arrow";
import type { Column } from "../catalog/types.js";
import type { Form } from "../encode/types.js";
import type { DataFile } from "../lake/manifest.js";
import type { Scan } from "../query/scan.js";
import { encoded, type EncodedRows, type EncodePart } from "./encoded.js";
import { type Copy, DamagedCopyError } from "./open.js";
import { type HeldCopy, MOST_OPEN, openCopies } from "./opened.js";
import { canMerge } from "./panels.js";
import { partsOf } from "./parts.js";
import { copyPath } from "./names.js";
import { readCopies, rowsInOrder } from "./read.js";

export interface CopyStore {
  /**
   * Scans that together have the rows of this one, in its order; null if DuckDB must read all of it. With a form, rows
   * may come encoded.
   */
  open(scan: Scan, columns: readonly Column[], form?: Form | null): Promise<readonly ScanPart[] | null>;
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
  readonly batches: AsyncGenerator<RecordBatch | EncodedRows, void, undefined>;
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

const NO_COPIES = {
  open: async () => null,
  prepare: async () => undefined,
  close: async () => undefined,
};

/** Encodes rows of copies as a response needs them. Throws DamagedCopyError. Null if nothing can do that now. */
export type EncoderOf = (form: Form, columns: readonly Column[]) => EncodePart | null;

/** Without a folder, there are no copies. */
export function openCopyStore(folder: string | null, encoderOf: EncoderOf = () => null): CopyStore {
  const figures = { copies: 0, parquet: 0, both: 0 };
  if (folder === null) return { ...NO_COPIES, figures: () => ({ ...figures, damaged: 0 }) };
  const opened = openCopies();
  const hold = ({ path, sha256 }: DataFile): Promise<HeldCopy | null> => opened.hold(copyPath(folder, path), sha256);

  async function partsWith(
    scan: Scan,
    columns: readonly Column[],
    form: Form | null,
    held: Map<DataFile, HeldCopy>,
    release: (files: readonly DataFile[]) => void,
  ): Promise<readonly ScanPart[] | null> {
    for (const file of scan.files) {
      const one = await hold(file);
      if (one !== null) held.set(file, one);
    }
    const scans = partsOf(scan, (file) => held.get(file)?.copy ?? null);
    // Rows that were encoded elsewhere come first.
    const encode = form === null || scans?.length !== 1 ? null : encoderOf(form, columns);
    const parts = scans?.map((part): ScanPart => {
      const copies = part.files.map((file) => held.get(file)?.copy);
      const batches = copies.includes(undefined) ? null : batchesOf(part, copies as Copy[], columns, encode);
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

  function batchesOf(
    scan: Scan,
    copies: readonly Copy[],
    columns: readonly Column[],
    encode: EncodePart | null,
  ): CopiedRows["batches"] | null {
    const rows = encode && rowsInOrder(scan, copies, columns);
    return encode && rows ? encoded(rows, encode) : readCopies(scan, copies, columns);
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
        if (error instanceof DamagedCopyError)
          await opened.discard(files[copies.indexOf(error.copy)]!.sha256, error.copy);
        throw error;
      }
    })(),
    close,
  });

  return {
    async open(scan, columns, form = null) {
      if (scan.select.what !== "rows" || (scan.derived !== null && !canMerge(scan))) return null;
      const held = new Map<DataFile, HeldCopy>();
      const release = (files: readonly DataFile[]): void => {
        for (const file of files) {
          held.get(file)?.leave();
          held.delete(file);
        }
      };
      try {
        return await partsWith(scan, columns, form, held, release);
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
    figures: () => ({ ...figures, damaged: opened.damaged() }),
    close: async () => opened.close(),
  };
}
