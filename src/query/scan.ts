// Scans of files as data, passed from the planner to the engine. `sql.ts` writes them as SQL; the engine decides how to
// run them.
import type { Column } from "../catalog/types.js";
import type { DataFile } from "../lake/manifest.js";
import { cutIntoRanges, rowsIn } from "./files.js";

/** A column as a scan shows or compares it. */
export interface Expression {
  readonly column: Column;
  /** In rows whose `knownFrom` is after `asOf`, `before` replaces the value. */
  readonly hidden?: { readonly knownFrom: string; readonly asOf: string; readonly before: string | null };
  /** Removes the suffix of a code. */
  readonly bare?: true;
}

/** The result of a scan. Columns are given by name, dates as `YYYYMMDD`. */
export type Select =
  /** Rows; if `position` is not null, its columns and the row number in the file follow the others. */
  | { readonly what: "rows"; readonly columns: readonly Expression[]; readonly position: readonly string[] | null }
  /** For each code, its last date and the value on it. */
  | { readonly what: "latest"; readonly code: string; readonly date: string; readonly value: string }
  /** For each code, or for all rows together, a bit for each day from `first` on, in base64: 1 if there are rows. */
  | {
      readonly what: "days";
      readonly code: Expression | null;
      readonly date: string;
      readonly first: string;
      readonly bits: number;
    };

/** What a row must fulfil. */
export type Test =
  /** The first of the columns that has a value is a date between these, inclusive; null means unbounded. */
  | {
      readonly is: "between";
      readonly columns: readonly string[];
      readonly first: string | null;
      readonly last: string | null;
    }
  /** Null among the values matches a missing value. */
  | { readonly is: "in"; readonly value: Expression; readonly values: readonly (string | number | null)[] }
  | { readonly is: "positive"; readonly column: string }
  /** The row has the last date in these files up to `until`. */
  | { readonly is: "last"; readonly column: string; readonly until: string }
  /**
   * The row comes after another one in the order of these columns and the row numbers, nulls last; before it if
   * `descending`.
   */
  | {
      readonly is: "beyond";
      readonly keys: readonly { readonly column: Column; readonly value: string | null }[];
      readonly row: number;
      readonly descending: boolean;
    };

/** How many rows a scan yields, as far as its files tell. */
export interface RowBounds {
  readonly atMost: number;
  /** Whether it yields exactly that many. */
  readonly exact: boolean;
}

/** A scan of files, which are checked before it runs. */
export interface Scan {
  readonly files: readonly DataFile[];
  readonly select: Select;
  readonly tests: readonly Test[];
  /** Sorts by these columns and the row number; null keeps the order of the files. */
  readonly order: { readonly columns: readonly string[]; readonly descending: boolean } | null;
  /** The rows that are read of the only file, from inclusive to exclusive; null for all. */
  readonly rowRange: readonly [number, number] | null;
  readonly limit: number | null;
  readonly bounds: RowBounds;
  /** Whether every row of its files is looked at, in their order. */
  readonly wholeFiles: boolean;
}

/** Scans that run one after another and all yield these columns. */
export interface Read {
  readonly columns: readonly Column[];
  readonly scans: readonly Scan[];
}

/** The columns as they are stored. */
export const rowsOf = (columns: readonly Column[]): Select => ({
  what: "rows",
  columns: columns.map((column) => ({ column })),
  position: null,
});

/** A scan of all rows of some files, with some fields replaced. */
export function scanOf(files: readonly DataFile[], select: Select, differs: Partial<Scan> = {}): Scan {
  const { tests = [] } = differs;
  const bounds = { atMost: rowsIn(files), exact: select.what === "rows" && tests.length === 0 };
  return { files, select, tests, order: null, rowRange: null, limit: null, bounds, wholeFiles: false, ...differs };
}

/** The first `rows` rows of a scan. */
export function firstRows(scan: Scan, rows: number): Scan {
  const atMost = Math.min(scan.bounds.atMost, rows);
  return { ...scan, limit: rows, bounds: { atMost, exact: false }, wholeFiles: false };
}

/** Splits a scan into scans that may run in parallel and yield the same rows in the same order. */
export function rangesOf(scan: Scan): readonly Scan[] {
  if (!scan.wholeFiles) return [scan];
  return cutIntoRanges(scan.files).map(({ files, rowRange }) => {
    const rows = rowRange ? rowRange[1] - rowRange[0] : rowsIn(files);
    const { atMost, exact } = scan.bounds;
    return { ...scan, files, rowRange, bounds: { atMost: exact ? rows : Math.min(rows, atMost), exact } };
  });
}

/** Whether a scan yields exactly the stored rows of its files, in their order. */
export function givesStoredRows({ select, tests, order, rowRange, limit, wholeFiles }: Scan): boolean {
  if (!wholeFiles || select.what !== "rows" || select.position !== null) return false;
  const isStored = ({ column, hidden, bare }: Expression): boolean => !column.derived && !hidden && !bare;
  return tests.length === 0 && order === null && rowRange === null && limit === null && select.columns.every(isStored);
}

/** A heavy read holds its slot for long, so it queues where a light one may run. */
export type Cost = "light" | "heavy";

/** More rows than a day or a code needs: those are in two row groups. */
const LIGHT_AT_MOST = 250_000;

/** `rows` is the number of rows that have to be looked at. */
export const costOf = (rows: number): Cost => (rows > LIGHT_AT_MOST ? "heavy" : "light");
