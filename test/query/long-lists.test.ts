// Lists as long as a request may hold: what they cost does not grow with the number of files.
import { expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { fileList, type DataFile, type FileList } from "../../src/lake/manifest.js";
import { planRead, type Plan } from "../../src/query/plan.js";
import { parseRequest } from "../../src/query/request.js";
import { rangesOf } from "../../src/query/scan.js";
import { render } from "../../src/query/sql.js";

const CODES = 20_000;
const FILES = 200;

const codeAt = (i: number): string => `${String(i).padStart(6, "0")}.SZ`;
const dayAt = (i: number): string => String(20200101 + Math.floor(i / 12) * 10_000 + (i % 12) * 100);

/** Files of a month each; and with `copy` a second copy, each file with as many codes. */
function listOf(count: number, copy: boolean): FileList {
  const common = { sha256: "", bytes: 1, rows: 1_000_000 };
  const byDate = Array.from({ length: count }, (_, i): DataFile => {
    const codes = { firstCode: codeAt(0), lastCode: codeAt(CODES) };
    return { ...common, ...codes, path: `daily/${i}`, first: dayAt(i), last: dayAt(i) };
  });
  const byCode = Array.from({ length: count }, (_, i): DataFile => {
    const [firstCode, lastCode] = [codeAt((i * CODES) / count), codeAt(((i + 1) * CODES) / count - 1)];
    return { ...common, path: `daily/code-${i}`, firstCode, lastCode, first: dayAt(0), last: dayAt(count - 1) };
  });
  const list = fileList("daily", byDate);
  return copy ? { ...list, byCode, codeRanges: byDate.map(({ first, last }) => [first!, last!] as const) } : list;
}

const requestOf = (query: Record<string, string>) =>
  parseRequest(entityNamed("daily")!, new URLSearchParams(query), { defaultLimit: null, maxLimit: null });

const codes = (count: number): string => Array.from({ length: count }, (_, i) => codeAt(i)).join();

/** Characters of SQL and bound values in all statements; a text that several share counts once. */
function sizeOf({ scans }: Plan): number {
  const texts = new Set<unknown>();
  for (const scan of scans.flatMap((one) => [one, ...rangesOf(one)])) {
    const { sql, values } = render(scan, ({ path }) => path);
    for (const one of [sql, ...values]) texts.add(one);
  }
  return [...texts].reduce<number>((sum, text) => sum + JSON.stringify(text).length, 0);
}

test("codes are bound once for all statements of a plan, however many there are", () => {
  const list = listOf(FILES, false);
  const few = sizeOf(planRead(requestOf({ ts_code: codes(5) }), list, null));
  const plan = planRead(requestOf({ ts_code: codes(CODES) }), list, null);
  expect(plan.scans.length).toBe(FILES);
  expect(sizeOf(plan)).toBeLessThan(few + 15 * CODES);
});

/** Milliseconds of processor time of the quickest of several runs. */
function costOf(run: () => unknown): number {
  const costs = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.min(...costs);
}

test.each([false, true])(
  "a plan over many files costs little more than parsing the request (second copy: %s)",
  (copy) => {
    const list = listOf(FILES, copy);
    const query = { ts_code: codes(CODES), limit: "10" };
    const parsing = costOf(() => requestOf(query));
    const both = costOf(() => planRead(requestOf(query), list, null));
    expect(both).toBeLessThan(parsing * 12);
  },
);

test.each(["asc", "desc"])("a forged position far beyond the end of a file makes no more statements, %s", (order) => {
  const list = listOf(3, false);
  const request = requestOf({ order });
  const plan = planRead(request, list, { date: dayAt(1), code: null, row: 1e12 });
  expect(plan.scans.length).toBeLessThanOrEqual(planRead(request, list, null).scans.length);
});
