// Panels from serving copies: those whose members all have one row for each code and day, in files by date.
import type { RecordBatch } from "apache-arrow";
import type { Column } from "../catalog/types.js";
import type { DataFile } from "../lake/manifest.js";
import type { Member, Panel, Scan } from "../query/scan.js";
import type { FileRows } from "./encoded.js";
import { type From, joined, type Key } from "./join.js";
import type { Copy } from "./open.js";
import { rowsByDate, sourcesOf, type Wanted, wantedOf } from "./pick.js";
import { type File, inOrder, slicesIn, withColumn } from "./slices.js";

type Batches = AsyncGenerator<RecordBatch, void, undefined>;

/**
 * Whether a scan is one of a panel that can be merged if there are copies by date of all its files. A panel of some codes
 * is left to DuckDB, which was faster.
 */
export function canMerge(scan: Scan): boolean {
  const { derived, order } = scan;
  if (derived?.how !== "panel" || derived.layout !== "wide" || order?.descending !== false) return false;
  const isSimple = (member: Member): boolean =>
    member.newest === null && member.parts.length <= 1 && wantedIn(scan, member) !== null;
  return startOf(scan, derived.members[0]) !== null && derived.members.every(isSimple);
}

/** The rows of such a scan, in batches with these columns; null if DuckDB must read them. */
export function readPanel(
  scan: Scan,
  panel: Panel,
  copies: readonly Copy[],
  columns: readonly Column[],
): Batches | null {
  const start = startOf(scan, panel.members[0]);
  const from = originsOf(scan, panel);
  const copyOf = (file: DataFile): Copy => copies[scan.files.indexOf(file)]!;
  const rows = panel.members.map((member) => rowsOfMember(scan, member, copyOf));
  if (start === null || from === null || rows.some((one) => one === null)) return null;
  const [all, ...others] = rows.map((one) => batchesOf(one!));
  return joined(all!, others, columns, from, start.after);
}

const batchesOf = (rows: readonly FileRows[]): Batches =>
  inOrder(
    rows.flatMap(({ file, range }) => slicesIn(file, range)),
    Infinity,
  );

/** The key after which the rows of a scan start; null if it has other tests. */
function startOf(scan: Scan, { date, code }: Member): { readonly after: Key | null } | null {
  const wanted = wantedOf({ ...scan, derived: null }, { date, code });
  if (wanted === null || wanted.days !== null || wanted.dates !== null || wanted.codes !== null) return null;
  const { beyond } = wanted;
  if (beyond === null) return { after: null };
  // Every row of a panel has the row number 0.
  return beyond.date === null || beyond.code === null ? null : { after: [beyond.date, beyond.code] };
}

/** Where the columns of a panel come from: the fields of a member, and after them its key. */
function originsOf({ select }: Scan, { members }: Panel): readonly From[] | null {
  if (select.what !== "rows") return null;
  const [{ date, code, fields }] = members;
  const origins = new Map<string, From>();
  for (const [i, member] of members.entries()) {
    for (const [column, { name }] of member.fields.entries()) {
      origins.set(name, { of: i === 0 ? "first" : i - 1, column });
    }
  }
  origins.set(date, { of: "first", column: fields.length });
  origins.set(code, { of: "first", column: fields.length + 1 });
  const names = [...select.columns.map(({ column }) => column.name), ...(select.position ?? [])];
  const found = names.flatMap((name) => origins.get(name) ?? []);
  if (found.length < names.length) return null;
  return select.position === null ? found : [...found, "zero"];
}

/** The conditions of the rows of a member; null if it has others than days. */
function wantedIn(scan: Scan, { date, code, parts }: Member): Wanted | null {
  const wanted = wantedOf({ ...scan, derived: null, tests: parts[0]?.tests ?? [], order: null }, { date, code });
  return wanted?.dates === null && wanted.codes === null && wanted.beyond === null ? wanted : null;
}

/** The rows of a member with its fields and its key, in order; null if a file or a field is not stored like that. */
function rowsOfMember(scan: Scan, member: Member, copyOf: (file: DataFile) => Copy): readonly FileRows[] | null {
  const { date, code, fields, parts } = member;
  const wanted = wantedIn(scan, member);
  if (wanted === null) return null;
  const select: Scan["select"] = { what: "rows", columns: fields.map(({ value }) => value), position: null };
  const columns = fields.map(({ value, name }) => ({ ...value.column, name }));
  const rows: FileRows[] = [];
  for (const copy of (parts[0]?.files ?? []).map(copyOf)) {
    const sources = sourcesOf({ ...scan, select }, copy.index);
    const isByDate = copy.index.clustering === "byDate" && copy.index.date === date && copy.index.code === code;
    if (sources === null || !isByDate) return null;
    const file: File = withColumn(withColumn({ copy, columns, sources }, date), code);
    rows.push(...rowsByDate(copy.index, scan, wanted).map((range) => ({ file, range })));
  }
  return rows;
}
