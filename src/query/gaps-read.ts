// The reads that finding gaps needs: days with rows, when stocks were listed, and when they were suspended.
import { columnNamed, entityNamed } from "../catalog/index.js";
import type { Column, Entity } from "../catalog/types.js";
import type { FileList } from "../lake/manifest.js";
import { chooseFiles } from "./files.js";
import { betweenTests } from "./conditions.js";
import { bitsOf, type Span } from "./day-sets.js";
import { rowsOf, scanOf, type Expression, type Read, type Test } from "./scan.js";

/** How days are grouped by code: all rows together, each code separately, or only rows of some codes. */
export type CodeScope = "all" | "each" | readonly string[];

/** A code, null for all codes together; and one bit per day of the span, in base64. */
const DAY_COLUMNS: readonly Column[] = [
  { name: "code", type: "code", nullable: true },
  { name: "days", type: "text", nullable: false },
];

/** For each code, or for all together, the days of the span that have rows. */
export function heldDaysRead(entity: Entity, list: FileList, span: Span, scope: CodeScope): Read {
  return daysRead(entity, list, span, scope, []);
}

/**
 * For each stock, the days of the span on which it was suspended all day: on days of other suspensions a row is
 * expected.
 */
export const suspendedDaysRead = (list: FileList, span: Span): Read =>
  suspensionsRead(list, span, { suspend_type: "S", suspend_timing: null });

/** For each stock, the days of the span on which it resumed trading. */
export const resumedDaysRead = (list: FileList, span: Span): Read => suspensionsRead(list, span, { suspend_type: "R" });

function suspensionsRead(list: FileList, span: Span, values: Readonly<Record<string, string | null>>): Read {
  const entity = entityNamed("suspend_d")!;
  const tests = Object.entries(values).map(([name, value]): Test => {
    return { is: "in", value: { column: columnNamed(entity, name)! }, values: [value] };
  });
  return daysRead(entity, list, span, "each", tests);
}

function daysRead(entity: Entity, list: FileList, span: Span, scope: CodeScope, more: readonly Test[]): Read {
  const files = filesOf(list, span);
  if (files.length === 0) return { columns: DAY_COLUMNS, scans: [] };
  const date = entity.mainDate!;
  const column = columnNamed(entity, entity.code)!;
  const code: Expression = entity.bareCodes ? { column, bare: true } : { column };
  const codes: Test[] = typeof scope === "string" ? [] : [{ is: "in", value: code, values: scope }];
  const tests = [...betweenTests(date, [span.first, span.last]), ...codes, ...more];
  const select = {
    what: "days",
    code: scope === "all" ? null : code,
    date,
    first: span.first,
    bits: bitsOf(span),
  } as const;
  return { columns: DAY_COLUMNS, scans: [scanOf(files, select, { tests })] };
}

/** Code, listing date and delisting date of every stock on the latest day of the list. */
export function listingsRead(list: FileList): Read {
  const entity = entityNamed("stock_list")!;
  const columns = ["ts_code", "list_date", "delist_date"].map((name) => columnNamed(entity, name)!);
  if (list.last === null) return { columns, scans: [] };
  const files = filesOf(list, { first: list.last, last: list.last });
  const tests = betweenTests(entity.mainDate, [list.last, list.last]);
  return { columns, scans: [scanOf(files, rowsOf(columns), { tests })] };
}

/** Code, name and first effective day of all names of stocks. */
export function namesRead(list: FileList): Read {
  const entity = entityNamed("namechange")!;
  const columns = ["ts_code", "name", "start_date"].map((name) => columnNamed(entity, name)!);
  return { columns, scans: list.byDate.length === 0 ? [] : [scanOf(list.byDate, rowsOf(columns))] };
}

const filesOf = (list: FileList, { first, last }: Span): FileList["byDate"] =>
  chooseFiles(list, { start: first, end: last }, null).flatMap(({ files }) => files);
