// Writes a serving copy from the record batches of its Parquet file.
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import type { RecordBatch } from "apache-arrow";
import { giveBuffer } from "../buffers.js";
import { writeAll } from "../files.js";
import { type ColumnData, columnsOf, isPresent } from "../arrow-data.js";
import type { Column } from "../catalog/types.js";
import { arrowColumn, bytesOf, ENOUGH_BYTES, rowsToAdd } from "../encode/arrow-columns.js";
import { arrowSchema, batchMessage, END_OF_STREAM, schemaMessage } from "../encode/arrow-messages.js";
import { BUFFER_ALIGNMENT } from "../encode/types.js";
import { type BatchPlace, BLOCK, type CopyIndex, endOfFile, HEAD, type Run } from "./layout.js";

/**
 * Rows of a record batch, so that one read can take all its columns. In a file by code, a batch ends with a code once it
 * has the smaller number.
 */
const BATCH_ROWS = 16_384;
const CODE_ROWS = 1_024;

export type CopyOf = Pick<CopyIndex, "sha256" | "clustering" | "rows" | "date" | "code"> & {
  readonly columns: readonly Column[];
};

/**
 * Writes the rows of `batches`, which have these columns in the order of the Parquet file, to a new file. Throws if they
 * are not `rows` rows; the file is then unfinished.
 */
export async function writeCopy(path: string, of: CopyOf, batches: AsyncIterable<RecordBatch>): Promise<void> {
  const gathered = of.columns.map((column) => arrowColumn(column, { dates: "date" }));
  const schema = arrowSchema(of.columns, gathered, {});
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
  try {
    const out = checkedOutput((bytes) => writeAll(file, bytes));
    await out.write(HEAD);
    await out.write(schemaMessage(schema, BUFFER_ALIGNMENT));
    const places: BatchPlace[] = [];
    const blocks: { at: number; metadata: number; body: number }[] = [];
    const dates = runsOf<number>(of.columns, of.clustering === "byDate" ? of.date : null);
    const codes = runsOf<string>(of.columns, of.clustering === "byCode" ? of.code : null);
    let [written, rows] = [0, 0];
    const flush = async (): Promise<void> => {
      if (rows === 0) return;
      const columns = gathered.map((column) => column.take());
      const { head, body } = batchMessage(rows, columns, BUFFER_ALIGNMENT);
      places.push({
        firstRow: written,
        rows,
        at: out.length() + head.length,
        nullCounts: columns.map(({ nullCount }) => nullCount),
        textLengths: columns.flatMap(({ buffers }) => buffers[2]?.length ?? []),
      });
      blocks.push({ at: out.length(), metadata: head.length, body: body.reduce((sum, { length }) => sum + length, 0) });
      for (const bytes of [head, ...body]) {
        await out.write(bytes);
        giveBuffer(bytes);
      }
      written += rows;
      rows = 0;
    };
    for await (const batch of batches) {
      const sources = columnsOf(batch);
      const first = written + rows;
      dates.add(sources, batch.numRows, first);
      const starts = codes.add(sources, batch.numRows, first);
      for (let from = 0; from < batch.numRows;) {
        if (rows === BATCH_ROWS || (rows >= CODE_ROWS && starts.includes(first + from))) await flush();
        const end = starts.find((start) => start > first + from) ?? Infinity;
        const to = rowsToAdd(gathered, sources, from, Math.min(batch.numRows, from + BATCH_ROWS - rows, end - first));
        for (const [i, column] of gathered.entries()) column.add(sources[i]!, from, to);
        rows += to - from;
        from = to;
        if (bytesOf(gathered) >= ENOUGH_BYTES) await flush();
      }
    }
    await flush();
    if (written !== of.rows) throw new Error(`the copy has ${written} rows instead of ${of.rows}`);
    await out.write(END_OF_STREAM);
    const columns = of.columns.map(({ name, type }) => ({ name, type }));
    const index: CopyIndex = {
      ...of,
      bytes: out.length(),
      columns,
      dates: dates.runs,
      codes: codes.runs,
    };
    await writeAll(file, endOfFile(index, places, out.checksums(), schema, blocks));
  } finally {
    await file.close();
  }
}

/** Output with a checksum of each block. */
function checkedOutput(write: (bytes: Uint8Array) => Promise<void>) {
  const checksums: number[] = [];
  const block = Buffer.alloc(BLOCK);
  let length = 0;
  return {
    length: () => length,
    async write(bytes: Uint8Array): Promise<void> {
      for (let at = 0; at < bytes.length;) {
        const inBlock = length % BLOCK;
        const part = bytes.subarray(at, at + BLOCK - inBlock);
        if (part.length === BLOCK) checksums.push(crc32(part));
        else {
          block.set(part, inBlock);
          if (inBlock + part.length === BLOCK) checksums.push(crc32(block));
        }
        at += part.length;
        length += part.length;
      }
      await write(bytes);
    },
    /** Those of all blocks; the last one may be short. */
    checksums: (): readonly number[] =>
      length % BLOCK === 0 ? checksums : [...checksums, crc32(block.subarray(0, length % BLOCK))],
  };
}

/** Collects the runs of a column; none if `name` is null. */
function runsOf<K extends number | string>(columns: readonly Column[], name: string | null) {
  const at = columns.findIndex((column) => column.name === name);
  const runs: Run<K>[] = [];
  return {
    runs: runs as readonly Run<K>[],
    /** Returns where runs start among these rows. */
    add(sources: readonly ColumnData[], rows: number, firstRow: number): readonly number[] {
      const source = sources[at];
      const known = runs.length;
      if (source === undefined) return [];
      for (let row = 0; row < rows; row++) {
        const key = keyAt(source, row) as K | null;
        if (runs.length === 0 || runs.at(-1)![0] !== key) runs.push([key, firstRow + row]);
      }
      return runs.slice(known).map(([, start]) => start);
    },
  };
}

function keyAt(source: ColumnData, row: number): number | string | null {
  if (!isPresent(source, row)) return null;
  const { values, valueOffsets } = source;
  if (valueOffsets === undefined) return Number(values[row]);
  return Buffer.from(values.buffer, values.byteOffset).toString("utf8", valueOffsets[row], valueOffsets[row + 1]);
}
