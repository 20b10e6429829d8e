// What the planner hands to the engine: scans of files, as data. `sql.ts` writes them as SQL, the engine decides how to run them.
import type { Column } from "../catalog/types.js";
import type { DataFile } from "../lake/manifest.js";
import { cutIntoRanges, rowsIn } from "./files.js";

/** A column as a scan shows or compares it. */
export interface Expression {
  readonly column: Column;
  /** In rows whose `knownFrom` lies after `asOf`, `before` stands in place of the value. */
  readonly hidden?: { readonly knownFrom: string; readonly asOf: string; readonly before: string | null };
  /** A code without its suffix. */
  readonly bare?: true;
}

/** What a scan gives. Columns are named, dates are `YYYYMMDD`. */
export type Select =
  /** Rows; `position` names what comes after the columns, followed by the number of the row in its file. */
  | { readonly what: "rows"; readonly columns: readonly Expression[]; readonly position: readonly string[] | null }
  /** For each code, its last date and the value on it. */
  | { readonly what: "latest"; readonly code: string; readonly date: string; readonly value: string }
  /** For each code, or for all rows together, a bit for each day from `first` on, in base64: 1 where there are rows. */
  | {
      readonly what: "days";
      readonly code: Expression | null;
      readonly date: string;
      readonly first: string;
      readonly bits: number;
    };

/** What a row must fulfil. */
export type Test =
  /** The first of the columns that has a value is a date between these, inclusive; null is open. */
  | {
      readonly is: "between";
      readonly columns: readonly string[];
      readonly first: string | null;
      readonly last: string | null;
    }
  /** Null among the values matches a missing value. */
  | { readonly is: "in"; readonly value: Expression; readonly values: readonly (string | number | null)[] }
  | { readonly is: "positive"; readonly column: string }
  /** Of the last date in these files up to `until`. */
  | { readonly is: "last"; readonly column: string; readonly until: string }
  /** Comes after a row in the order of these columns and the row numbers, nulls last; before it where `descending`. */
  | {
      readonly is: "beyond";
      readonly keys: readonly { readonly column: Column; readonly value: string | null }[];
      readonly row: number;
      readonly descending: boolean;
    };

/** How many rows a scan gives, by what is known of its files. */
export interface RowBounds {
  readonly atMost: number;
  /** It gives exactly that many. */
  readonly exact: boolean;
}

/** A scan of files, which are checked before it runs. */
export interface Scan {
  readonly files: readonly DataFile[];
  readonly select: Select;
  readonly tests: readonly Test[];
  /** Sorts by these columns and the row numbers; null where rows come as they lie in their files. */
  readonly order: { readonly columns: readonly string[]; readonly descending: boolean } | null;
  /** The rows of the only file that are read, from and up to but without; null for all. */
  readonly rowRange: readonly [number, number] | null;
  readonly limit: number | null;
  readonly bounds: RowBounds;
  /** Looks at every row of its files, in the order in which they lie there. */
  readonly wholeFiles: boolean;
}

/** Scans that are run one after another and all give these columns. */
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

/** A scan of all rows of some files, with what is different about it. */
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

/** The same rows in the same order as scans that may run side by side: itself where one will do. */
export function rangesOf(scan: Scan): readonly Scan[] {
  if (!scan.wholeFiles) return [scan];
  return cutIntoRanges(scan.files).map(({ files, rowRange }) => {
    const rows = rowRange ? rowRange[1] - rowRange[0] : rowsIn(files);
    const { atMost, exact } = scan.bounds;
    return { ...scan, files, rowRange, bounds: { atMost: exact ? rows : Math.min(rows, atMost), exact } };
  });
}

/** Whether a scan gives the rows of its files exactly as they are stored, in their order. */
export function givesStoredRows({ select, tests, order, rowRange, limit, wholeFiles }: Scan): boolean {
  if (!wholeFiles || select.what !== "rows" || select.position !== null) return false;
  const isStored = ({ column, hidden, bare }: Expression): boolean => !column.derived && !hidden && !bare;
  return tests.length === 0 && order === null && rowRange === null && limit === null && select.columns.every(isStored);
}

/** A read of many rows holds its slot for long: it queues where a light one passes. */
export type Cost = "light" | "heavy";

/** A day, or a code, is less: it lies in two row groups. */
const LIGHT_AT_MOST = 250_000;

/** `rows` are those that have to be looked at. */
export const costOf = (rows: number): Cost => (rows > LIGHT_AT_MOST ? "heavy" : "light");
