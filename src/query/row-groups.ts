// Which row groups of a data file a scan reads. DuckDB skips the others by the same bounds, so they need not be there.
import type { DataFile, RowGroup } from "../lake/manifest.js";
import type { Expression, Part, Scan, Test } from "./scan.js";
import { COMPARED_AT_MOST } from "./sql.js";

/**
 * Returns a function that gives the numbers of the row groups that a scan reads of one of its files: those that may have
 * rows which pass its tests. Null for all.
 */
export function neededGroups(scan: Scan): (file: DataFile) => readonly number[] | null {
  const parts = partsOf(scan);
  return (file) => {
    const { rowGroups } = file;
    const reads = parts.filter(({ files }) => files.includes(file));
    if (rowGroups === undefined || reads.length !== 1) return null;
    const mayHold = reads[0]!.tests.flatMap((test) => boundsOf(test, rowGroups.by));
    if (mayHold.length === 0) return null;
    const numbers = rowGroups.groups.map((_, number) => number);
    return numbers.filter((number) => mayHold.every((test) => test(rowGroups.groups[number]!)));
  };
}

/** The files that a scan reads, and tests that all rows pass which it takes from them. */
function partsOf({ files, derived, tests }: Scan): readonly Part[] {
  // These look at more rows than pass the tests.
  if (derived?.how === "joined" || tests.some(({ is }) => is === "last")) return [];
  if (derived === null) return [{ files, tests }];
  if (derived.how === "numbered") return [{ files, tests: derived.among }];
  if (derived.how === "panel") return derived.members.flatMap((member) => member.parts);
  if (derived.how === "grouped") return [...derived.days, ...derived.calendar];
  return [...derived.bars, ...derived.days, ...derived.factors];
}

type MayHold = (group: RowGroup) => boolean;

/** Whether a row group may hold rows that pass a test of the column which orders the rows; none for other tests. */
function boundsOf(test: Test, by: string): readonly MayHold[] {
  if (test.is === "between" && test.columns.length === 1 && test.columns[0] === by) {
    const { first, last } = test;
    return [(group) => overlaps(group, first, last)];
  }
  if (test.is !== "in" || test.values.length > COMPARED_AT_MOST || !isColumn(test.value, by)) return [];
  const values = test.values.flatMap((value) => (value === null ? [] : [String(value)]));
  return values.length < test.values.length ? [] : [(group) => values.some((value) => overlaps(group, value, value))];
}

/** Whether an expression is the stored value of a column. */
const isColumn = ({ column, ...changes }: Expression, name: string): boolean =>
  column.name === name && !column.derived && Object.values(changes).every((change) => change === undefined);

const overlaps = ({ first, last }: RowGroup, from: string | null, to: string | null): boolean =>
  first === null || last === null || ((from === null || last >= from) && (to === null || first <= to));
