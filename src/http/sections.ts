// The rows of a response as sections of its body: all rows of a plan, which can be cached, or a page of them.
import type { Encoder, Form, SomePieces } from "../encode/types.js";
import type { Adjusting } from "../engine/adjust.js";
import { type Page, type PageEnd, readPage } from "../engine/page.js";
import type { ReadSession, Rows } from "../engine/reader.js";
import { REVISION } from "../encode/index.js";
import { rowsIn } from "../query/files.js";
import type { Plan } from "../query/plan.js";
import { givesStoredRows } from "../query/scan.js";
import type { Section } from "../segments/body.js";
import type { Context } from "./context.js";

interface RowsAnswer {
  readonly sections: Iterable<Section>;
  /** Where the response ended, once all sections are sent. */
  endOf(count: number): PageEnd;
}

/** Minimum number of rows of a cached segment: fewer are read about as fast as they are found in the cache. */
const LEAST_CACHED_ROWS = 50_000;

/** How rows are encoded and cached. */
interface FullForm extends Form {
  readonly encoder: Pick<Encoder<SomePieces>, "isReusable" | "isCostly">;
  /** What the cached bytes depend on besides rows and columns. */
  readonly kept: readonly unknown[];
  /** Whether the cached bytes are compressed, which takes much longer than storing them. */
  readonly isPacked: boolean;
}

/** All rows of a plan, adjusted or as they are. */
export function fullAnswer(
  { integrity }: Pick<Context, "integrity">,
  { scans, columns }: Plan,
  { session, adjusted }: { readonly session: ReadSession; readonly adjusted: Adjusting | null },
  { encoder, format, dates, kept, isPacked }: FullForm,
): RowsAnswer {
  const shape = columns.map(({ name, type }) => [name, type]);
  const sections = scans.map((scan): Section => {
    const isCached = encoder.isReusable && givesStoredRows(scan) && rowsIn(scan.files) >= LEAST_CACHED_ROWS;
    const caching = (): Section["caching"] => {
      const files = scan.files.map(({ sha256 }) => sha256);
      const adjustment = adjusted?.of([scan]);
      const key = [REVISION, ...kept, files, shape, ...(adjustment?.key ?? [])];
      return { key, atOnce: isPacked, check: () => integrity.check([...scan.files, ...(adjustment?.files ?? [])]) };
    };
    const read = (): ReturnType<Section["read"]> => {
      if (adjusted !== null) return adjusted.over(session, [scan]).read([scan], columns, "all");
      if (encoder.isCostly) return session.readEncoded([scan], columns, { format, dates });
      return session.read([scan], columns, "all");
    };
    return { read, caching: isCached ? caching() : null };
  });
  return { sections, endOf: (count) => ({ count, truncated: false, last: null }) };
}

/** Rows of a plan that are never cached: those that show no key, or at most `limit` after the first `offset`. */
export function pageAnswer(plan: Plan, rows: Rows, limit: number | null, offset: number): RowsAnswer {
  let end: PageEnd = { count: 0, truncated: false, last: null };
  async function* read(): Page {
    return (end = yield* readPage(rows, plan, limit, offset));
  }
  return { sections: [{ read, caching: null }], endOf: () => end };
}
