// Adjusted prices equal those of a plain model, whatever the files, the order and the pages are.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tableFromIPC } from "apache-arrow";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { createToken } from "../../src/store/tokens.js";
import { CODES, day, filters, pagesOf, queryOf, type Filters } from "../support/filters.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";
import { size } from "../support/size.js";

type Cell = string | number | null;

let root: string;
let server: TestServer;
/** Code + date → close, and factor. */
const closes = new Map<string, number | null>();
const factors = new Map<string, number | null>();

const values = (rows: readonly (readonly Cell[])[], columns: string): string => {
  const sql = ([code, date, ...numbers]: readonly Cell[]): string =>
    `('${code}', strptime('${date}', '%Y%m%d')::DATE, ${numbers.map((n) => n ?? "NULL").join(", ")})`;
  return `SELECT * FROM (VALUES ${rows.map(sql).join(", ")}) t(${columns})`;
};

async function dropCloses(rows: readonly (readonly [string, string, number | null])[], codeCopy: boolean) {
  for (const [code, date, close] of rows) closes.set(code + date, close);
  await publishRows(root, { daily: values(rows, "ts_code, trade_date, close") }, { codeCopy });
}

async function dropFactors(rows: readonly (readonly [string, string, number | null])[], codeCopy: boolean) {
  for (const [code, date, factor] of rows) factors.set(code + date, factor);
  await publishRows(root, { adj_factor: values(rows, "ts_code, trade_date, adj_factor") }, { codeCopy });
}

/** Files of prices and of factors end on different days, parts of the code copies are stale, factors are missing or null. */
beforeAll(async () => {
  root = await temporaryFolder();
  const days = <T>(from: number, to: number, make: (c: number, n: number) => T): [string, string, T][] =>
    Array.from({ length: to - from + 1 }, (_, i) => from + i).flatMap((n) =>
      CODES.map((code, c): [string, string, T] => [code, day(n), make(c, n)]),
    );
  const price = (c: number, n: number): number | null => (c === 2 && n % 3 === 0 ? null : 10 + c + n / 8);
  const factor = (c: number, n: number): number | null => (c === 1 && n === 9 ? null : 1 + c / 4 + Math.floor(n / 3));
  await dropCloses(days(1, 5, price), false);
  await dropFactors(days(2, 8, factor), false);
  await dropCloses(days(6, 12, price), true);
  await dropFactors(
    days(9, 14, factor).filter(([code, date]) => !(code === CODES[0] && date >= day(11)) && date !== day(10)),
    true,
  );
  await dropCloses([[CODES[1]!, day(7), 99]], false);
  await dropFactors([[CODES[3]!, day(4), 7.5]], false);
  await dropFactors([[CODES[4]!, day(12), 0]], false);
  await dropFactors([["000000.SZ", day(1), 3]], false);
  server = await serve(root);
});

/** A price as adjusted: null without a factor. */
function adjusted(
  code: string,
  date: string,
  adjust: string,
  { start_date, end_date, trade_date }: Filters,
): number | null {
  const close = closes.get(code + date) ?? null;
  const factor = factors.get(code + date) ?? 0;
  if (close === null || factor <= 0) return null;
  if (adjust === "backward") return close * factor;
  const dates = trade_date?.toSorted() ?? [];
  const start = [start_date ?? "0", dates[0] ?? "0"].sort()[1]!;
  const end = [end_date ?? "9", dates.at(-1) ?? "9"].sort()[0]!;
  const isOf = ([key]: readonly [string, unknown]): boolean => key.startsWith(code);
  const lastBar = [...closes]
    .filter(isOf)
    .map(([key]) => key.slice(9))
    .filter((on) => start <= on && on <= end)
    .sort()
    .at(-1)!;
  const known = [...factors].filter(isOf).filter(([key, value]) => key.slice(9) <= lastBar && (value ?? 0) > 0);
  const [, last] = known.sort(([a], [b]) => (a < b ? -1 : 1)).at(-1)!;
  return close * (factor / last!);
}

describe("adjusted prices", () => {
  test("are those of a plain model, whole and in pages of any size", async () => {
    const asked = fc.tuple(filters, fc.constantFrom("forward", "backward"), fc.integer({ min: 1, max: 40 }));
    await fc.assert(
      fc.asyncProperty(asked, fc.boolean(), async ([given, adjust, limit], onlyClose) => {
        const query = queryOf(given);
        const plain = await server.json(`/api/v1/entities/daily?fields=ts_code,trade_date&${query.toString()}`);
        const expected = (plain.rows as [string, string][]).map(([code, on]) => {
          const close = adjusted(code, on, adjust, given);
          return onlyClose ? [close] : [on, close, code];
        });
        query.set("adjust", adjust);
        query.set("fields", onlyClose ? "close" : "trade_date,close,ts_code");
        expect((await server.json(`/api/v1/entities/daily?${query.toString()}`)).rows).toEqual(expected);
        const pages = await pagesOf(server, "daily", query, limit);
        expect(pages.flatMap(({ rows }) => rows)).toEqual(expected);
      }),
      { numRuns: size("ADJUSTED", 15, 150) },
    );
  }, 120_000);

  test("of the last factors up to a day are none from that day on, whichever were asked for first", async () => {
    for (const bound of ["start_date", "end_date", "start_date"]) {
      const { rows } = await server.json(
        `/api/v1/entities/daily?adjust=forward&${bound}=20240108&fields=ts_code,trade_date,close`,
      );
      for (const [code, on, close] of rows) {
        expect(close).toBe(adjusted(String(code), String(on), "forward", { [bound]: "20240108" }));
      }
    }
  });
});

describe("a request for adjusted prices", () => {
  const DAILY = "/api/v1/entities/daily";
  const problem = async (path: string, token = TOKEN) => {
    const response = await server.get(path, { Authorization: `Bearer ${token}` });
    return { status: response.status, ...((await response.json()) as Record<string, unknown>) };
  };

  test("is supported only for quotes, and has two values", async () => {
    const allowed = ["forward", "backward"];
    for (const value of ["qfq", "FORWARD", "none"]) {
      expect(await problem(`${DAILY}?adjust=${value}`)).toMatchObject({
        ...{ status: 400, code: "invalid_parameter", parameter: "adjust", allowed },
      });
    }
    expect(await problem(`${DAILY}?adjust=`)).toMatchObject({ status: 400, code: "invalid_parameter" });
    expect(await problem(`${DAILY}?adjust=forward&adjust=forward`)).toMatchObject({ code: "duplicate_parameter" });
    for (const path of ["daily_basic", "adj_factor", "index_daily", "stk_limit", "daily/gaps"]) {
      const found = await problem(`/api/v1/entities/${path}?adjust=forward`);
      expect(found).toMatchObject({ status: 400, code: "unknown_parameter", parameter: "adjust" });
    }
    expect(await problem(`${DAILY}?adjust=forward&as_of=20240105`)).toMatchObject({ code: "as_of_not_supported" });
  });

  test("returns the same rows and pages in every format", async () => {
    const query = `?adjust=forward&fields=ts_code,close&limit=20&end_date=20240112`;
    const { rows, next_cursor } = await server.json(DAILY + query);
    const csv = await server.get(`${DAILY}${query}&format=csv`);
    expect(csv.headers.get("X-Truncated")).toBe("true");
    expect(csv.headers.get("X-Next-Cursor")).toBe(next_cursor);
    const text = (await csv.text()).trim().split("\n").slice(1);
    expect(text.map((line) => line.split(",")).map(([code, close]) => [code, close ? Number(close) : null])).toEqual(
      rows,
    );
    const lines = (await (await server.get(`${DAILY}${query}&format=ndjson`)).text()).trim().split("\n");
    expect(lines.map((line) => Object.values(JSON.parse(line) as object))).toEqual(rows);
    const table = tableFromIPC(new Uint8Array(await (await server.get(`${DAILY}${query}&format=arrow`)).arrayBuffer()));
    expect(table.toArray().map((row) => Object.values(row?.toJSON() ?? {}))).toEqual(rows);
    const parquet = await (await server.get(`${DAILY}${query}&format=parquet`)).arrayBuffer();
    expect(Buffer.from(parquet).toString("latin1", 0, 4)).toBe("PAR1");
    const head = await fetch(`${server.url}${DAILY}${query}`, {
      method: "HEAD",
      headers: { Authorization: `Bearer ${TOKEN}` },
    });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  test("has cursors of its own", async () => {
    const { next_cursor } = await server.json(`${DAILY}?adjust=forward&limit=3`);
    for (const other of ["", "&adjust=backward", "&adjust=forward&end_date=20240112"]) {
      expect(await problem(`${DAILY}?limit=3&cursor=${next_cursor}${other}`)).toMatchObject({ code: "invalid_cursor" });
    }
  });

  test("needs a token that covers the factors too", async () => {
    const secret = await createToken(root, "quotes", { entities: ["daily"], expires: null }, new Date());
    expect(await problem(`${DAILY}?adjust=forward`, secret)).toMatchObject({
      ...{ status: 403, code: "forbidden", detail: "this token may not read adj_factor" },
      hint: "adjust needs adj_factor in addition to daily",
    });
    expect((await server.get(DAILY, { Authorization: `Bearer ${secret}` })).status).toBe(200);
  });

  test("is validated by the factors too, and pinned by the version", async () => {
    const asked = `${DAILY}?adjust=forward&ts_code=${CODES[3]!}&fields=close`;
    const tags = async () =>
      Promise.all([DAILY, asked].map(async (path) => (await server.get(path)).headers.get("ETag")));
    const before = await tags();
    const old = await server.json(asked);
    const [first] = (await server.json(`${asked}&limit=2`)).rows;
    const { next_cursor } = await server.json(`${asked}&limit=1`);
    await dropFactors([[CODES[3]!, day(12), 100]], false);
    await server.context.lake.refresh();
    const after = await tags();
    expect([after[0] === before[0], after[1] === before[1]]).toEqual([true, false]);
    const now = await server.json(asked);
    expect(now.rows).not.toEqual(old.rows);
    const version = `&data_version=${encodeURIComponent(old.data_version)}`;
    expect((await server.json(asked + version)).rows).toEqual(old.rows);
    const rest = await server.json(`${asked}&limit=100&cursor=${next_cursor}`);
    expect([first, ...rest.rows]).toEqual(old.rows);
  });
});

describe("a wide answer of several files", () => {
  const WIDE = "/api/v1/entities/daily";
  const CODES_A_DAY = 4_000;
  const DAYS = 300;
  let wide: TestServer;
  let wideRoot: string;

  /** Every fifth code has a factor on even days alone, and there are factors of codes without prices. */
  beforeAll(async () => {
    wideRoot = await temporaryFolder();
    const rows = `FROM range(${CODES_A_DAY}) a(c), range(${DAYS}) b(d)`;
    const key = "printf('%06d.SZ', c * 2) AS ts_code, DATE '2023-01-01' + d::INT AS trade_date";
    await publishRows(
      wideRoot,
      {
        daily: `SELECT ${key}, c + d AS close ${rows}`,
        adj_factor:
          `SELECT ${key}, 1 + d // 100 AS adj_factor ${rows} WHERE c % 5 > 0 OR d % 2 = 0 ` +
          `UNION ALL SELECT '000001.SZ', DATE '2023-01-01' + d::INT, 9 FROM range(${DAYS}) b(d)`,
      },
      { codeCopy: true },
    );
    wide = await serve(wideRoot, { cache: "64MB" });
  }, 120_000);

  const expected = (c: number, d: number): number | null =>
    c % 5 > 0 || d % 2 === 0 ? (c + d) * (1 + Math.floor(d / 100)) : null;

  test.each(["asc", "desc"])("is whole and in order, %s", { timeout: 120_000 }, async (order) => {
    const lines = (
      await (await wide.get(`${WIDE}?adjust=backward&order=${order}&format=csv&fields=ts_code,close`)).text()
    )
      .trim()
      .split("\n");
    expect(lines).toHaveLength(CODES_A_DAY * DAYS + 1);
    let wrong = 0;
    for (let i = 0; i < CODES_A_DAY * DAYS; i++) {
      const place = order === "asc" ? i : CODES_A_DAY * DAYS - 1 - i;
      const [c, d] = [place % CODES_A_DAY, Math.floor(place / CODES_A_DAY)];
      if (lines[i + 1] !== `${String(c * 2).padStart(6, "0")}.SZ,${expected(c, d) ?? ""}`) wrong++;
    }
    expect(wrong).toBe(0);
  });

  test("neither uses cached rows nor caches its own", { timeout: 120_000 }, async () => {
    const body = async (query: string) => (await wide.get(`${WIDE}?format=csv&fields=close${query}`)).text();
    const plain = await body("");
    expect((await body("")) === plain).toBe(true);
    const { hits, entries } = wide.context.segments.figures();
    expect(hits).toBeGreaterThan(0);
    const adjustedBody = await body("&adjust=forward");
    expect(adjustedBody === plain).toBe(false);
    expect((await body("&adjust=forward")) === adjustedBody).toBe(true);
    expect(wide.context.segments.figures()).toMatchObject({ hits, entries });
    expect((await body("")) === plain).toBe(true);
  });

  test("of one stock opens the copies by code", async () => {
    const { byCode } = wide.context.lake.current().files("adj_factor");
    expect(byCode.length).toBeGreaterThan(1);
    const { rows } = await wide.json(`${WIDE}?adjust=backward&ts_code=000006.SZ&fields=close`);
    expect(rows).toEqual(Array.from({ length: DAYS }, (_, d) => [expected(3, d)]));
  });

  test("fails if, and only if, a file of factors is damaged", async () => {
    const { lake } = wide.context;
    const [file] = lake.current().files("adj_factor").byDate;
    const path = join(lake.layout.lake, file!.path);
    const bytes = await readFile(path);
    bytes[5000]! ^= 1;
    await writeFile(path, bytes);
    const response = await wide.get(`${WIDE}?adjust=backward&limit=5`);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([500, "data_damaged"]);
    expect((await wide.get(`${WIDE}?adjust=forward&limit=5`)).status).toBe(500);
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const head = await fetch(`${wide.url}${WIDE}?adjust=backward&limit=5`, { method: "HEAD", headers });
    expect(head.status).toBe(500);
    expect((await wide.json(`${WIDE}?limit=5`)).count).toBe(5);
    expect((await wide.json(`${WIDE}?limit=5&adjust=forward&fields=vol`)).count).toBe(5);
  });
});
