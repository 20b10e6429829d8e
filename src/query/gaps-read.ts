// What has to be read to find gaps: on which days there are rows, which stocks were listed when, which were suspended.
import { columnNamed, entityNamed } from "../catalog/index.js";
import type { Column, Entity } from "../catalog/types.js";
import type { FileList } from "../lake/manifest.js";
import { chooseFiles } from "./choose.js";
import { betweenTests } from "./conditions.js";
import { bitsOf, type Span } from "./gaps-days.js";
import { rowsOf, scanOf, type Expression, type Read, type Test } from "./scan.js";

/** Whose rows are told apart: nobody's, each code's, or those of some codes, of which alone rows count. */
export type Whose = "all" | "each" | readonly string[];

/** Whose days, null for all together; and a bit for each day of the span, in base64. */
const DAY_COLUMNS: readonly Column[] = [
  { name: "code", type: "code", nullable: true },
  { name: "days", type: "text", nullable: false },
];

/** The code that rows and gaps are compared by: without its suffix where rows may lack it. */
export const comparedCode = (entity: Entity, code: string): string => (entity.bareCodes ? code.split(".")[0]! : code);

/** For each code, or for all together, the days of the span on which there are rows. */
export function heldDaysRead(entity: Entity, list: FileList, span: Span, whose: Whose): Read {
  return daysRead(entity, list, span, whose, []);
}

/** For each stock the days of the span on which it was suspended all day: other suspensions leave a row to be expected. */
export function suspendedDaysRead(list: FileList, span: Span): Read {
  const entity = entityNamed("suspend_d")!;
  const is = (column: string, value: string | null): Test => ({
    is: "in",
    value: { column: columnNamed(entity, column)! },
    values: [value],
  });
  return daysRead(entity, list, span, "each", [is("suspend_type", "S"), is("suspend_timing", null)]);
}

function daysRead(entity: Entity, list: FileList, span: Span, whose: Whose, more: readonly Test[]): Read {
  const files = filesOf(list, span);
  if (files.length === 0) return { columns: DAY_COLUMNS, scans: [] };
  const date = entity.mainDate!;
  const column = columnNamed(entity, entity.code)!;
  const code: Expression = entity.bareCodes ? { column, bare: true } : { column };
  const codes: Test[] = typeof whose === "string" ? [] : [{ is: "in", value: code, values: whose }];
  const tests = [...betweenTests(date, [span.first, span.last]), ...codes, ...more];
  const select = {
    what: "days",
    code: whose === "all" ? null : code,
    date,
    first: span.first,
    bits: bitsOf(span),
  } as const;
  return { columns: DAY_COLUMNS, scans: [scanOf(files, select, { tests })] };
}

/** Code, listing date and delisting date of every stock of the latest day of the list, as columns of the same order. */
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
