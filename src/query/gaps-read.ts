// The reads that finding gaps needs: days with rows, when stocks were listed, and when they were suspended.
import { columnNamed, entityNamed } from "../catalog/index.js";
import type { Column, Entity } from "../catalog/types.js";
import type { FileList } from "../lake/manifest.js";
import { chooseFiles } from "./choose.js";
import { betweenTests } from "./conditions.js";
import { bitsOf, type Span } from "./gaps-days.js";
import { rowsOf, scanOf, type Expression, type Read, type Test } from "./scan.js";

/** How days are grouped by code: all rows together, each code separately, or only rows of some codes. */
export type CodeScope = "all" | "each" | readonly string[];

/** A code, null for all codes together; and one bit per day of the span, in base64. */
const DAY_COLUMNS: readonly Column[] = [
  { name: "code", type: "code", nullable: true },
  { name: "days", type: "text", nullable: false },
];

/** The code by which rows and gaps are compared: without its suffix if rows may lack it. */
export const comparedCode = (entity: Entity, code: string): string => (entity.bareCodes ? code.split(".")[0]! : code);

/** For each code, or for all together, the days of the span that have rows. */
export function heldDaysRead(entity: Entity, list: FileList, span: Span, scope: CodeScope): Read {
  return daysRead(entity, list, span, scope, []);
}

/**
 * For each stock, the days of the span on which it was suspended all day: on days of other suspensions a row is
 * expected.
 */
export function suspendedDaysRead(list: FileList, span: Span): Read {
  const entity = entityNamed("suspend_d")!;
  const is = (column: string, value: string | null): Test => ({
    is: "in",
    value: { column: columnNamed(entity, column)! },
    values: [value],
  });
  return daysRead(entity, list, span, "each", [is("suspend_type", "S"), is("suspend_timing", null)]);
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

const filesOf = (list: FileList, { first, last }: Span): FileList["byDate"] =>
  chooseFiles(list, { start: first, end: last }, null).flatMap(({ files }) => files);
