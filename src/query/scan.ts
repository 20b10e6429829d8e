// Scans of files as data, passed from the planner to the engine. `sql.ts` writes them as SQL; the engine decides how to
// run them.
import type { Column, Lookup, Period } from "../catalog/types.js";
import type { DataFile } from "../lake/manifest.js";
import { cutIntoRanges, rowsIn } from "./files.js";

/** A column as a scan shows or compares it. */
export interface Expression {
  readonly column: Column;
  /** In rows whose `knownFrom` is after `asOf`, `before` replaces the value; in those where it is not, `after` if given. */
  readonly hidden?: {
    readonly knownFrom: string;
    readonly asOf: string;
    readonly before: string | null;
    readonly after?: string;
  };
  /** Removes the suffix of a code. */
  readonly bare?: true;
  /** Instead of the value: 1 in the newest of the revisions that the scan numbers, 0 in the others. */
  readonly newest?: true;
  /** Instead of the value: this date, `YYYYMMDD`. */
  readonly constant?: string;
}

/** The result of a scan. Columns are given by name, dates as `YYYYMMDD`. */
export type Select =
  /** Rows; if `position` is not null, its columns and the row number in the file follow the others. */
  | { readonly what: "rows"; readonly columns: readonly Expression[]; readonly position: readonly string[] | null }
  /** For each code, its last date, on or before that of `upTo` for the code if it is given, and the value on it. */
  | {
      readonly what: "latest";
      readonly code: string;
      readonly date: string;
      readonly value: string | null;
      readonly upTo: CodeDates | null;
    }
  /** For each code, or for all rows together, a bit for each day from `first` on, in base64: 1 if there are rows. */
  | {
      readonly what: "days";
      readonly code: Expression | null;
      readonly date: string;
      readonly first: string;
      readonly bits: number;
    }
  /**
   * One row about a column: how many rows lack a value, the number of distinct values, the least and the greatest, and
   * the last `date` (null: the entity has no main date) with a value.
   */
  | { readonly what: "statistics"; readonly value: Expression; readonly date: string | null }
  | ChangesSelect;

/** Codes, and a date for each, `YYYYMMDD`. */
export interface CodeDates {
  readonly codes: readonly string[];
  readonly dates: readonly string[];
}

/**
 * The differences between two versions of some rows: the first `older` files of the scan hold those of one version, the
 * others those of the other version.
 */
export interface ChangesSelect {
  readonly what: "changes";
  readonly older: number;
  /** Whether several rows may have the same identity. */
  readonly isGroup: boolean;
  /** The columns of the identity in the order of the response. */
  readonly identity: readonly Column[];
  /** All columns of a row. */
  readonly columns: readonly Column[];
  /** The order of the identity, main date first. */
  readonly order: readonly string[];
  /** The main date, or null if the entity has none. */
  readonly date: string | null;
  /** `cells`: a row for each changed value, added row and removed row. `counts`: how many rows, and of which dates. */
  readonly shows: "cells" | "counts";
  /** Whether the position follows: the main date, and the number of the result row on that date. */
  readonly numbered: boolean;
  /** Leaves out the first `row` result rows of this date, `YYYYMMDD`, or of the rows without a date. */
  readonly after: { readonly date: string | null; readonly row: number } | null;
}

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
  /** The row is the newest of the revisions that the scan numbers. */
  | { readonly is: "newest" }
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

/** Numbers the revisions of each thing, the newest first. */
export interface Numbering {
  readonly how: "numbered";
  /** The rows that are numbered; all others are left out. */
  readonly among: readonly Test[];
  /** Rows with the same values in these columns are revisions of the same thing. */
  readonly of: readonly string[];
  /** Newer is what has the later first non-null date of these, then what has greater values in `others`. */
  readonly date: readonly string[];
  readonly others: readonly string[];
  /**
   * The column that tells apart rows that are the same in all of these: the row with the greatest value is newer, or with
   * `first` only the row with the least value is left.
   */
  readonly flag: { readonly column: string; readonly first: boolean } | null;
}

/** Adjusts the prices of bars of a week or month, and with `volume` it too: rebuilds them from their adjusted days. */
export interface Rebuilding {
  readonly how: "rebuilt";
  readonly period: Period;
  readonly volume: boolean;
  readonly bars: readonly Part[];
  readonly days: readonly Part[];
  readonly factors: readonly Part[];
}

/**
 * Makes the bars of weeks or months from days. Days of a period in `calendar` make one bar, with the date of the last
 * trading day; those of another period have the date of the last of them. Bars after `until`, `YYYYMMDD`, are left out, and of
 * periods without a calendar those that may still change.
 */
export interface Grouping {
  readonly how: "grouped";
  readonly period: Period;
  readonly days: readonly Part[];
  readonly calendar: readonly Part[];
  readonly until: string;
  /** How many periods before a bar the bar before it may be. */
  readonly reach: number;
}

/** Bars of weeks or months, made of their days. */
export type BarsSource = Rebuilding | Grouping;

/** Adds columns to the rows of some files: what is looked up by their codes, as of their dates. */
export interface Joining {
  readonly how: "joined";
  readonly files: readonly DataFile[];
  readonly code: string;
  readonly date: string;
  readonly columns: readonly {
    readonly name: string;
    readonly lookup: Lookup;
    readonly from: readonly (readonly DataFile[])[];
  }[];
}

/** The rows of one entity for each day and code, with columns of other entities beside them. */
export interface Panel {
  readonly how: "panel";
  /** `long`: a row for each field of a row, with the number of the field as its row number. */
  readonly layout: "wide" | "long";
  /** The members: its rows are those of the first one, which has no `newest`. */
  readonly members: readonly [Member, ...Member[]];
  /** The names of all fields, in the order of the response. */
  readonly fields: readonly Column[];
}

/** What one entity contributes to a joined row. */
export interface Member {
  readonly code: string;
  readonly date: string;
  readonly parts: readonly Part[];
  readonly fields: readonly { readonly value: Expression; readonly name: string }[];
  /** Null: the row of the same code and date. */
  readonly newest: Newest | null;
}

/** Of the rows of a code that are known on a day, the newest revision of the newest period. */
export interface Newest {
  /** The first non-null of these dates says when a row became known, but not before the end of its period. */
  readonly known: readonly string[];
  readonly period: string;
  readonly revisions: Pick<Numbering, "date" | "others" | "flag">;
  /** The first of the days. */
  readonly from: string;
}

/** Some files of a scan, and the tests that their rows pass. */
export interface Part {
  readonly files: readonly DataFile[];
  readonly tests: readonly Test[];
}

/** How many rows a scan yields, as far as its files tell. */
interface RowBounds {
  readonly atMost: number;
  /** Whether it yields exactly that many. */
  readonly exact: boolean;
}

/** A scan of files, which are checked before it runs. */
export interface Scan {
  readonly files: readonly DataFile[];
  readonly select: Select;
  /** What is made of the rows of the files before the tests apply; null: nothing. */
  readonly derived: Numbering | BarsSource | Joining | Panel | null;
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
  return {
    files,
    select,
    derived: null,
    tests,
    order: null,
    rowRange: null,
    limit: null,
    bounds,
    wholeFiles: false,
    ...differs,
  };
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
export function givesStoredRows({ select, derived, tests, order, rowRange, limit, wholeFiles }: Scan): boolean {
  if (!wholeFiles || derived !== null || select.what !== "rows" || select.position !== null) return false;
  // Whatever an expression has besides its column changes the stored value.
  const isStored = ({ column, ...changes }: Expression): boolean =>
    !column.derived && Object.values(changes).every((change) => change === undefined);
  return tests.length === 0 && order === null && rowRange === null && limit === null && select.columns.every(isStored);
}

/** A heavy read holds its slot for long, so it queues where a light one may run. */
export type Cost = "light" | "heavy";

/** More rows than a day or a code needs: those are in two row groups. */
const LIGHT_AT_MOST = 250_000;

/** More values than a day has codes: looking them up takes the engine longer than the rows of a small read. */
const LISTED_AT_MOST = 5_000;

/** `rows` is the number of rows that have to be looked at, `listed` that of the values with which they are compared. */
export const costOf = (rows: number, listed = 0): Cost =>
  rows > LIGHT_AT_MOST || listed > LISTED_AT_MOST ? "heavy" : "light";
