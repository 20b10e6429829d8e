// Reads a scan from the serving copies of its files: the same rows in the same order as DuckDB reads from Parquet.
import type { RecordBatch } from "apache-arrow";
import type { Column } from "../catalog/types.js";
import type { Clustering } from "../lake/manifest.js";
import type { Scan } from "../query/scan.js";
import { amongDays } from "./among-days.js";
import { type FileRows, PART_ROWS } from "./encoded.js";
import type { Copy } from "./open.js";
import { readPanel } from "./panels.js";
import { type RowRange, rowsByDate, rowsOfCode, sourcesOf, type Wanted, wantedOf } from "./pick.js";
import { seriesOf } from "./series.js";
import { eachOf, type File, type FileSlice, gathered, inOrder, slicesIn, upTo } from "./slices.js";

/** Rows that are in memory at the same time because they change places. */
const MOST_GATHERED = 131_072;

type Batches = AsyncGenerator<RecordBatch, void, undefined>;

/** The rows of a scan, in batches with these columns; null if DuckDB must read them. `copies` are those of its files. */
export function readCopies(scan: Scan, copies: readonly Copy[], columns: readonly Column[]): Batches | null {
  if (scan.derived?.how === "panel") return readPanel(scan, scan.derived, copies, columns);
  const found = filesOf(scan, copies, columns);
  if (found === null) return null;
  const { files, wanted, clustering } = found;
  const limit = scan.limit ?? Infinity;
  if (clustering === "byCode") return readByCode(scan, files, wanted, columns, limit);
  const ranges = rowsOf(scan, found);
  if (wanted.codes !== null) {
    return tooMany(ranges) ? null : amongDays(ranges, wanted.codes, wanted.descending, columns, limit);
  }
  const slices = ranges.flatMap(({ file, range }) => slicesIn(file, range));
  return wanted.descending ? reversed(slices, columns, limit) : inOrder(slices, limit);
}

/** The rows of a scan, if it reads more than one part of them as they are stored; null otherwise. */
export function rowsInOrder(
  scan: Scan,
  copies: readonly Copy[],
  columns: readonly Column[],
): readonly FileRows[] | null {
  const found = filesOf(scan, copies, columns);
  if (found === null || found.clustering === "byCode" || scan.limit !== null) return null;
  if (found.wanted.codes !== null || found.wanted.descending) return null;
  const rows = rowsOf(scan, found);
  return countOf(rows) > PART_ROWS ? rows : null;
}

interface Files {
  readonly files: readonly File[];
  readonly wanted: Wanted;
  readonly clustering: Clustering;
}

function filesOf(scan: Scan, copies: readonly Copy[], columns: readonly Column[]): Files | null {
  const [first] = copies;
  const wanted = first === undefined ? null : wantedOf(scan, first.index);
  if (first === undefined || wanted === null) return null;
  const sources = copies.map(({ index }) => sourcesOf(scan, index));
  if (sources.includes(null)) return null;
  const files = copies.map((copy, i): File => ({ copy, sources: sources[i]!, columns }));
  return { files, wanted, clustering: first.index.clustering };
}

/** The rows of files by date that may be wanted. */
const rowsOf = (scan: Scan, { files, wanted }: Files): readonly FileRows[] =>
  files.flatMap((file) => rowsByDate(file.copy.index, scan, wanted).map((range) => ({ file, range })));

function readByCode(
  scan: Scan,
  files: readonly File[],
  wanted: Wanted,
  columns: readonly Column[],
  limit: number,
): Batches | null {
  if (wanted.codes === null || scan.rowRange !== null) return null;
  const ranges = files.flatMap((file) =>
    wanted.codes!.flatMap((code) => {
      const range = rowsOfCode(file.copy.index, code);
      return range === null ? [] : [{ file, code, range }];
    }),
  );
  return tooMany(ranges) ? null : seriesOf(ranges, wanted, columns, limit);
}

type Ranges = readonly { readonly range: RowRange }[];

const countOf = (ranges: Ranges): number => ranges.reduce((sum, { range: [from, to] }) => sum + to - from, 0);
const tooMany = (ranges: Ranges): boolean => countOf(ranges) > MOST_GATHERED;

/** The rows of slices from the last one to the first. */
function reversed(slices: readonly FileSlice[], columns: readonly Column[], limit: number): Batches {
  return eachOf(upTo(limit, slices.toReversed(), true), (batch) => {
    const rows = batch.numRows;
    const places = { batch: new Int32Array(rows), row: Int32Array.from({ length: rows }, (_, i) => rows - 1 - i) };
    return gathered(columns, [batch], places, rows);
  });
}
