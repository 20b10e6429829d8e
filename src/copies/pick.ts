// Which rows of a file a scan reads, as far as the index of its serving copy tells. Null: DuckDB reads the scan.
import { toDays } from "../dates.js";
import type { Expression, Scan, Test } from "../query/scan.js";
import type { CopyIndex, Run } from "./layout.js";
import type { Source } from "./rows.js";

/** Rows of a file, from inclusive to exclusive. */
export type RowRange = readonly [from: number, to: number];

/** Bounds of a date in days since 1970, inclusive. */
export type DayBounds = readonly [first: number, last: number];

/** A position in the order of rows: those after it are read, or in a descending read those before it. */
interface Position {
  readonly date: number | null;
  readonly code: string | null;
  readonly row: number;
}

/** The conditions of a scan that has no others. */
export interface Wanted {
  /** Null: any date or none. */
  readonly days: DayBounds | null;
  /** Sorted. */
  readonly dates: readonly (number | null)[] | null;
  /** Sorted by their bytes. */
  readonly codes: readonly string[] | null;
  readonly beyond: Position | null;
  readonly descending: boolean;
}

/** The columns of a scan in a copy; null if one of them is not simply stored there. */
export function sourcesOf({ select }: Scan, { columns }: CopyIndex): readonly Source[] | null {
  if (select.what !== "rows") return null;
  const at = (name: string): number => columns.findIndex((column) => column.name === name);
  const shown = select.columns.map((expression) => {
    const source = isStored(expression) ? at(expression.column.name) : -1;
    return columns[source]?.type === expression.column.type ? source : -1;
  });
  const position = select.position?.map(at) ?? [];
  if ([...shown, ...position].includes(-1)) return null;
  return [...shown, ...position, ...(select.position === null ? [] : ["row" as const])];
}

/** Whatever an expression has besides its column changes the stored value. */
const isStored = ({ column, ...changes }: Expression): boolean =>
  !column.derived && Object.values(changes).every((change) => change === undefined);

/** What the tests of a scan ask; null if they ask for more than dates, codes and a position. */
export function wantedOf(scan: Scan, { date, code }: Pick<CopyIndex, "date" | "code">): Wanted | null {
  if (scan.derived !== null) return null;
  let wanted: Wanted = {
    days: null,
    dates: null,
    codes: null,
    beyond: null,
    descending: scan.order?.descending ?? false,
  };
  for (const test of scan.tests) {
    const more = readTest(test, date, code, wanted);
    if (more === null) return null;
    wanted = { ...wanted, ...more };
  }
  return wanted;
}

function readTest(test: Test, date: string | null, code: string, before: Wanted): Partial<Wanted> | null {
  if (test.is === "between" && test.columns.length === 1 && test.columns[0] === date && before.days === null) {
    return { days: [daysOr(test.first, -Infinity), daysOr(test.last, Infinity)] };
  }
  if (test.is === "in" && isStored(test.value)) {
    const { name } = test.value.column;
    if (name === date && before.dates === null) {
      return { dates: test.values.map((value) => (value === null ? null : toDays(String(value)))) };
    }
    if (name === code && before.codes === null && !test.values.includes(null)) {
      return { codes: sortedCodes(test.values) };
    }
    return null;
  }
  if (test.is === "beyond" && date !== null && test.keys.length === 2) {
    const [onDate, onCode] = test.keys.map(({ value }) => value) as [string | null, string | null];
    return { beyond: { date: onDate === null ? null : toDays(onDate), code: onCode, row: test.row } };
  }
  return null;
}

const daysOr = (date: string | null, otherwise: number): number => (date === null ? otherwise : toDays(date));

const sorted = new WeakMap<readonly unknown[], readonly string[]>();

/** Each once, by their bytes. The scans of a plan have the same list. */
function sortedCodes(values: readonly unknown[]): readonly string[] {
  const known = sorted.get(values);
  if (known !== undefined) return known;
  const codes = [...new Set(values.map(String))];
  const made = codes.every((code) => ASCII.test(code)) ? codes.toSorted() : codes.toSorted(byBytes);
  sorted.set(values, made);
  return made;
}

const ASCII = /^[ -~]*$/;

/** The order of DuckDB: by the bytes of UTF-8. */
export const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** The rows of a file by date that may be wanted: all that are, where no code is asked for. In the order of the file. */
export function rowsByDate(index: CopyIndex, scan: Pick<Scan, "rowRange">, wanted: Wanted): readonly RowRange[] {
  const { days, dates, beyond, descending } = wanted;
  const all: RowRange = [0, index.rows];
  const chosenDates = dates && new Set(dates);
  const bounds = [scan.rowRange ?? all, beyond === null ? all : rowsBeyond(index, beyond, descending)];
  if (days === null && dates === null) return intersected([all], bounds);
  const chosen = index.dates.flatMap(([key, from], i): readonly RowRange[] => {
    const inDays = days === null || (key !== null && days[0] <= key && key <= days[1]);
    return inDays && (chosenDates === null || chosenDates.has(key)) ? [[from, endOf(index.dates, i, index.rows)]] : [];
  });
  return intersected(joined(chosen), bounds);
}

const rangesByCode = new WeakMap<CopyIndex, ReadonlyMap<string | null, RowRange>>();

/** The rows of a code in a file by code. */
export function rowsOfCode(index: CopyIndex, code: string): RowRange | null {
  let ranges = rangesByCode.get(index);
  if (ranges === undefined) {
    ranges = new Map(index.codes.map(([key, from], i) => [key, [from, endOf(index.codes, i, index.rows)]]));
    rangesByCode.set(index, ranges);
  }
  return ranges.get(code) ?? null;
}

export const endOf = <K>(runs: readonly Run<K>[], i: number, rows: number): number => runs[i + 1]?.[1] ?? rows;

/** Rows without a date come after all others. */
function rowsBeyond({ dates, rows }: CopyIndex, { date, row }: Position, descending: boolean): RowRange {
  const isHeld = dates.some(([key]) => key === date);
  if (isHeld) return descending ? [0, row] : [row + 1, rows];
  const next = dates.find(([key]) => key === null || (date !== null && key > date))?.[1] ?? rows;
  const split = date === null ? rows : next;
  return descending ? [0, split] : [split, rows];
}

function joined(ranges: readonly RowRange[]): readonly RowRange[] {
  const found: [number, number][] = [];
  for (const [from, to] of ranges) {
    const last = found.at(-1);
    if (last?.[1] === from) last[1] = to;
    else found.push([from, to]);
  }
  return found;
}

const intersected = (ranges: readonly RowRange[], bounds: readonly RowRange[]): readonly RowRange[] =>
  ranges.flatMap(([from, to]): readonly RowRange[] => {
    const [first, last] = [
      Math.max(from, ...bounds.map((one) => one[0])),
      Math.min(to, ...bounds.map((one) => one[1])),
    ];
    return first < last ? [[first, last]] : [];
  });
