// An answer as the parts that its body is made of: whole files may be kept and used again, a page is read each time.
import { REVISION } from "../encode/index.js";
import { readPage, type Page, type PageEnd } from "../engine/page.js";
import type { Rows } from "../engine/reader.js";
import type { Integrity } from "../lake/integrity.js";
import { rowsIn } from "../query/files.js";
import type { Plan } from "../query/plan.js";
import { givesStoredRows } from "../query/scan.js";
import type { Part } from "../segments/body.js";

export interface Answer {
  readonly parts: Iterable<Part>;
  /** Where the answer ended, once the parts are done. */
  end(count: number): PageEnd;
}

/** Rows of a part that is worth keeping: fewer are read about as fast as they are found. */
const WORTH_KEEPING = 50_000;

/** All rows of a plan. `form` tells how they are encoded and packed; null where encoded rows cannot be used again. */
export function wholeParts(
  { scans, columns }: Plan,
  rows: Rows,
  integrity: Integrity,
  form: readonly unknown[] | null,
): Answer {
  const shape = columns.map(({ name, type }) => [name, type]);
  const parts = scans.map((scan) => {
    const size = rowsIn(scan.files);
    const files = scan.files.map(({ sha256 }) => sha256);
    const isKept = form !== null && givesStoredRows(scan) && size >= WORTH_KEEPING;
    return {
      read: () => rows.read([scan], columns, "all"),
      keeping: isKept ? { key: [REVISION, ...form, files, shape], check: () => integrity.check(scan.files) } : null,
    };
  });
  return { parts, end: (count) => ({ count, truncated: false, last: null }) };
}

/** Rows of a plan that nothing kept can stand for: adjusted, or at most `limit` of them after the first `offset`. */
export function pageParts(plan: Plan, rows: Rows, limit: number | null, offset = 0): Answer {
  let end: PageEnd = { count: 0, truncated: false, last: null };
  async function* read(): Page {
    return (end = yield* readPage(rows, plan, limit, offset));
  }
  return { parts: [{ read, keeping: null }], end: () => end };
}
