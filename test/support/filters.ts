// Random filters over a small market, and the walk through the pages of an answer.
import fc from "fast-check";
import type { Envelope, TestServer } from "./server.js";

export const CODES = ["000001.SZ", "000002.SZ", "300750.SZ", "600519.SH", "920001.BJ"];

/** A day of January 2024, `YYYYMMDD`. */
export const day = (n: number): string => `202401${String(n).padStart(2, "0")}`;

export interface Filters {
  readonly ts_code?: readonly string[];
  readonly start_date?: string;
  readonly end_date?: string;
  readonly trade_date?: readonly string[];
  readonly order?: "asc" | "desc";
}

const date = fc.integer({ min: 0, max: 15 }).map((n) => (n === 0 ? "20231230" : day(n)));

/** Filters that do not contradict each other; a code and a day among them are of no row. */
export const filters: fc.Arbitrary<Filters> = fc
  .record(
    {
      ts_code: fc.uniqueArray(fc.constantFrom(...CODES, "999999.SH"), { minLength: 1, maxLength: 4 }),
      start_date: date,
      end_date: date,
      trade_date: fc.uniqueArray(date, { minLength: 1, maxLength: 3 }),
      order: fc.constantFrom("asc", "desc"),
    },
    { requiredKeys: [] },
  )
  .filter(
    ({ start_date = "0", end_date = "9", trade_date = [start_date] }) =>
      start_date <= end_date && trade_date.some((on) => on >= start_date && on <= end_date),
  );

export const queryOf = (asked: Filters): URLSearchParams =>
  new URLSearchParams(Object.entries(asked).map(([name, value]): [string, string] => [name, String(value)]));

/** The pages of an answer, `limit` rows each, until the server gives no cursor. */
export async function pagesOf(
  server: TestServer,
  entity: string,
  asked: URLSearchParams,
  limit: number,
): Promise<readonly Envelope[]> {
  const query = new URLSearchParams(asked);
  query.set("limit", String(limit));
  const pages: Envelope[] = [];
  for (let cursor: string | null = ""; cursor !== null; cursor = pages.at(-1)!.next_cursor) {
    if (cursor !== "") query.set("cursor", cursor);
    pages.push(await server.json(`/api/v1/entities/${entity}?${query.toString()}`));
  }
  return pages;
}
