// Panels: a row for each stock and trading day, compared cell by cell with what the entities themselves give for that day.
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { FIRST_ENTITIES, PANEL_ENTITIES } from "../../src/query/panel.js";
import { createToken } from "../../src/store/tokens.js";
import { expectSameInEveryFormat } from "../support/formats.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, type TestServer } from "../support/server.js";
import { size } from "../support/size.js";

let server: TestServer;
let secret: string;

const CODES = ["000001.SZ", "000002.SZ", "300750.SZ", "600000.SH", "600519.SH", "920001.BJ"];

/** Weekdays of a year with most stocks; of `daily_basic`, other rows are missing. */
const quotes = (columns: string, missing: string): string =>
  `SELECT code AS ts_code, d::DATE AS trade_date, ${columns} FROM (SELECT unnest(${list(CODES)}) AS code),
    generate_series(DATE '2023-10-09', DATE '2024-09-30', INTERVAL 1 DAY) t(d)
    WHERE isodow(d) < 6 AND hash(code || d::VARCHAR || '${missing}') % 7 > 0`;

const list = (values: readonly string[]): string => `[${values.map((value) => `'${value}'`).join(", ")}]`;

/**
 * Reports of six periods, each announced up to four times in any order, also before its period ended, with and without
 * an actual date, of two types. Equal dates and flags occur.
 */
const reports = (columns: string): string =>
  `SELECT DISTINCT ON (ts_code, end_date, ann_date, f_ann_date, report_type, update_flag) * REPLACE (CASE WHEN h % 5 = 0 THEN NULL
      ELSE f_ann_date END AS f_ann_date) FROM (
    SELECT code AS ts_code, p AS end_date, p + (hash(code, p, n // 2) % 150)::INT - 10 AS ann_date,
      p + (hash(code, p, n // 2) % 150)::INT - 10 + (hash(n, code) % 3)::INT * 20 AS f_ann_date,
      CASE WHEN hash(p, n, code) % 4 = 0 THEN '2' ELSE '1' END AS report_type, '1' AS comp_type,
      (hash(n, p, code, 'f') % 2)::VARCHAR AS update_flag, ${columns}, hash(code, n, p, 'd') AS h
    FROM (SELECT unnest(${list(CODES.slice(1))}) AS code), range(4) t(n), (VALUES (DATE '2023-06-30'), (DATE '2023-09-30'),
      (DATE '2023-12-31'), (DATE '2024-03-31'), (DATE '2024-06-30'), (DATE '2024-09-30')) v(p)) ORDER BY ALL`;

beforeAll(async () => {
  const root = await temporaryFolder();
  const values = "(hash(d, code) % 1000)::DOUBLE AS";
  const income = reports("(hash(code, p, n, 'r') % 10000)::DOUBLE AS total_revenue");
  await publishRows(
    root,
    {
      daily: quotes(`${values} close, ${values} vol`, "daily"),
      daily_basic: quotes(`${values} pe, ${values} close`, "basic"),
      income,
      fina_indicator: `SELECT DISTINCT ON (ts_code, end_date, ann_date, update_flag) * RENAME (total_revenue AS roe) FROM (${income})
        ORDER BY ALL`,
    },
    { codeCopy: true },
  );
  secret = await createToken(root, "prices", { entities: ["daily", "daily_basic"], expires: null }, new Date());
  server = await serve(root);
});

const panel = (entities: string, query = ""): string => `/api/v1/panel?entities=${entities}${query}`;

interface Problem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly hint?: string;
  readonly allowed?: readonly string[];
}

const problem = async (path: string): Promise<Problem> => (await (await server.get(path)).json()) as Problem;

type Row = readonly (string | number | null)[];

/** The rows of an entity by name. */
async function objects(path: string): Promise<readonly Record<string, string | number | null>[]> {
  const { columns, rows } = await server.json(path);
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, i) => [name, row[i]!])));
}

/** What was newest of a report on a day, as the entity says. */
async function knownOn(entity: string, code: string, day: string): Promise<Record<string, string | number | null>> {
  const type = entity === "income" ? "&report_type=1" : "";
  const rows = await objects(`/api/v1/entities/${entity}?as_of=${day}&latest=true&ts_code=${code}${type}`);
  return rows.toSorted((a, b) => (String(a["end_date"]) < String(b["end_date"]) ? 1 : -1))[0] ?? {};
}

async function pageByPage(query: string, limit: number): Promise<readonly Row[]> {
  const all: Row[] = [];
  for (let cursor = ""; ;) {
    const { rows, next_cursor, truncated } = await server.json(`${query}&limit=${limit}${cursor}`);
    expect(truncated).toBe(next_cursor !== null);
    all.push(...rows);
    if (next_cursor === null) return all;
    cursor = `&cursor=${next_cursor}`;
  }
}

describe("a panel", () => {
  test("has in each row what each entity gives for its stock and day", async () => {
    const entities =
      "daily:close,income:total_revenue,daily_basic:pe,fina_indicator:roe,income:end_date,income:update_flag";
    const { columns, rows, entity } = await server.json(panel(entities));
    expect(entity).toBe("panel");
    const names = entities.replaceAll(":", ".").split(",");
    expect(columns.map(({ name }) => name)).toEqual(["ts_code", "trade_date", ...names]);
    const daily = await objects("/api/v1/entities/daily");
    expect(rows.map((row) => row.slice(0, 3))).toEqual(
      daily.map((one) => [one["ts_code"], one["trade_date"], one["close"]]),
    );
    const basic = new Map(
      (await objects("/api/v1/entities/daily_basic")).map((one) => [
        `${one["ts_code"]} ${one["trade_date"]}`,
        one["pe"],
      ]),
    );
    expect(rows.map((row) => row[4])).toEqual(rows.map(([code, day]) => basic.get(`${code} ${day}`) ?? null));
    await fc.assert(
      fc.asyncProperty(fc.nat(rows.length - 1), async (i) => {
        const row = rows[i]!;
        const [code, day] = [String(row[0]), String(row[1])];
        const income = await knownOn("income", code, day);
        const { roe = null } = await knownOn("fina_indicator", code, day);
        const { total_revenue = null, end_date = null, update_flag = null } = income;
        expect([day, ...row.slice(3)]).toEqual([day, total_revenue, row[4], roe, end_date, update_flag]);
      }),
      { numRuns: size("CELLS", 60, 1500) },
    );
    // The report must change often, or the comparison says little.
    expect(new Set(rows.map((row) => `${row[0]} ${row[3]}`)).size).toBeGreaterThan(25);
  }, 600_000);

  test("gives the same rows for any range, stocks, order and page size", async () => {
    const entities = "daily:close,daily_basic:pe,income:total_revenue";
    const whole = (await server.json(panel(entities))).rows;
    const day = fc.integer({ min: 0, max: 370 }).map((n) => new Date(Date.UTC(2023, 9, n)).toISOString().slice(0, 10));
    const question = fc.record({
      days: fc.tuple(day, day).map((days) => days.toSorted()),
      codes: fc.option(fc.uniqueArray(fc.constantFrom(...CODES, "000009.SZ"), { minLength: 1 })),
      order: fc.constantFrom("asc", "desc"),
      limit: fc.integer({ min: 50, max: 400 }),
    });
    await fc.assert(
      fc.asyncProperty(question, async ({ days, codes, order, limit }) => {
        const [start, end] = days.map((one) => one.replaceAll("-", "")) as [string, string];
        const filter = codes === null ? "" : `&codes=${codes.join()}`;
        const query = panel(entities, `&start_date=${start}&end_date=${end}&order=${order}${filter}`);
        const isAsked = ([code, date]: Row): boolean =>
          start <= String(date) && String(date) <= end && (codes === null || codes.includes(String(code)));
        const expected = whole.filter(isAsked);
        if (order === "desc") expected.reverse();
        expect((await server.json(query)).rows).toEqual(expected);
        expect(await pageByPage(query, limit)).toEqual(expected);
      }),
      { numRuns: size("PANELS", 6, 100) },
    );
  }, 600_000);

  test("has a row for each field in the long layout, also where a value is missing", async () => {
    const query = "&start_date=20240401&end_date=20240410&codes=000001.SZ,600519.SH";
    const entities = "daily:close,daily_basic:pe,income:total_revenue";
    const { rows: wide } = await server.json(panel(entities, query));
    const long = await server.json(panel(entities, `${query}&layout=long`));
    expect(long.columns.map(({ name }) => name)).toEqual(["ts_code", "trade_date", "field", "value"]);
    const fields = entities.replaceAll(":", ".").split(",");
    const melted = wide.flatMap(([code, day, ...values]) => fields.map((field, i) => [code, day, field, values[i]]));
    expect(long.rows).toEqual(melted);
    expect(await pageByPage(panel(entities, `${query}&layout=long`), 4)).toEqual(melted);
    const backwards = panel(entities, `${query}&layout=long&order=desc`);
    expect(await pageByPage(backwards, 5)).toEqual(melted.toReversed());
  });

  test("comes in every format, with the end of a page in headers", async () => {
    const query = panel("daily:close,income:end_date", "&codes=600519.SH&limit=20&start_date=20240401");
    const names = ["ts_code", "trade_date", "daily.close", "income.end_date"];
    await expectSameInEveryFormat(server, query, names);
  });

  test("has validators of its own, and a cursor only for the same panel", async () => {
    const query = panel("daily:close,daily_basic:pe", "&limit=3");
    const response = await server.get(query);
    const tag = response.headers.get("etag")!;
    const { next_cursor: cursor } = (await response.json()) as { next_cursor: string };
    expect((await server.get(query, { "If-None-Match": tag })).status).toBe(304);
    const other = panel("daily:close,daily_basic:close", "&limit=3");
    expect((await server.get(other, { "If-None-Match": tag })).status).toBe(200);
    expect((await server.get(`${query}&cursor=${cursor}`)).status).toBe(200);
    for (const wrong of [other, `${query}&layout=long`, `${query}&order=desc`, `${query}&codes=600519.SH`]) {
      expect(await problem(`${wrong}&cursor=${cursor}`)).toMatchObject({ code: "invalid_cursor" });
    }
  });

  test("keeps its columns where an entity has no rows, and has no rows where the first one has none", async () => {
    const { rows, columns } = await server.json(
      panel("daily:close,stk_limit:up_limit,cashflow:n_cashflow_act", "&limit=3"),
    );
    expect(columns).toHaveLength(5);
    expect(rows.map((row) => row.slice(3))).toEqual(Array(3).fill([null, null]));
    expect((await server.json(panel("stk_limit:up_limit,daily:close"))).rows).toEqual([]);
    expect((await server.json(panel("daily:close", "&end_date=20200101"))).rows).toEqual([]);
  });

  test("needs a token that covers every entity in it", async () => {
    const status = async (entities: string): Promise<number> => {
      const headers = { Authorization: `Bearer ${secret}` };
      return (await server.get(panel(entities, "&limit=1"), headers)).status;
    };
    expect(await status("daily:close,daily_basic:pe")).toBe(200);
    expect(await status("daily:close,income:total_revenue")).toBe(403);
    expect(await status("stk_limit:up_limit,daily:close")).toBe(403);
  });

  test.each([
    ["", "invalid_parameter", "entities"],
    ["entities=", "invalid_parameter", "entities"],
    ["entities=daily", "invalid_parameter", "daily:column"],
    ["entities=daily:close:x", "invalid_parameter", "is not entity:column"],
    ["entities=dialy:close", "unknown_entity", "did you mean daily?"],
    ["entities=daily:colse", "invalid_parameter", "did you mean daily:close?"],
    ["entities=daily:close,daily:close", "invalid_parameter", "given twice"],
    ["entities=income:total_revenue,daily:close", "invalid_parameter", "cannot come first"],
    ["entities=daily:close,trade_cal:is_open", "invalid_parameter", "exactly one row"],
    ["entities=daily:close,stk_auction:price", "invalid_parameter", "exactly one row"],
    ["entities=suspend_d:suspend_type", "invalid_parameter", "exactly one row"],
    ["entities=daily:close,dividend:cash_div", "invalid_parameter", "exactly one row"],
    ["entities=daily:close,income:end_date&layout=long", "invalid_parameter", "is a date"],
    ["entities=daily:close&layout=tall", "invalid_parameter", "wide"],
    ["entities=daily:close&codes=600519", "invalid_parameter", "600519.SH"],
    ["entities=daily:close&codes=null", "invalid_parameter", "codes"],
    ["entities=daily:close&ts_code=600519.SH", "unknown_parameter", "codes"],
    ["entities=daily:close&as_of=20240101", "unknown_parameter", "as_of"],
    ["entities=daily:close&start_date=20240102&end_date=20240101", "contradictory_parameters", "start_date"],
    ["entities=daily:close&limit=0", "invalid_parameter", "limit"],
  ])("for %s is refused with the way out", async (query, code, part) => {
    const found = await problem(`/api/v1/panel?${query}`);
    expect(found.code).toBe(code);
    expect(JSON.stringify(found)).toContain(part);
  });

  test("can begin with every entity that has one row for a stock and day, and hold every one that it names", async () => {
    for (const name of FIRST_ENTITIES) expect((await server.get(panel(`${name}:trade_date`))).status).toBe(200);
    const others = PANEL_ENTITIES.map((name) => `${name}:ts_code`).filter((name) => name !== "daily:ts_code");
    expect((await server.get(panel(["daily:close", ...others].join()))).status).toBe(200);
  });
});
