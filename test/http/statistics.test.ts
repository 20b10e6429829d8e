// What the columns of an entity hold: compared with DuckDB over the same rows, by version and token, and after damage.
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ENTITIES } from "../../src/catalog/index.js";
import type { EntityColumn } from "../../src/catalog/types.js";
import { scan } from "../../src/store/datafile.js";
import { createToken } from "../../src/store/tokens.js";
import { quoteName } from "../../src/sql-text.js";
import { demoLake } from "../support/demo.js";
import { temporaryFolder } from "../support/folders.js";
import { factors, publishRows } from "../support/lake.js";
import { serve, type TestServer } from "../support/server.js";
import { sharedWriter } from "../support/upkeep.js";
import { someOf } from "../support/size.js";

type Value = string | number | null;

interface Answer {
  readonly entity: string;
  readonly data_version: string;
  readonly rows: number;
  readonly columns: readonly {
    readonly name: string;
    readonly nulls: number;
    readonly distinct: number;
    readonly min: Value;
    readonly max: Value;
    readonly last: string | null;
  }[];
}

const pathOf = (entity: string, query = ""): string => `/api/v1/entities/${entity}/statistics${query}`;
const ask = async (server: TestServer, entity: string, query = ""): Promise<Answer> =>
  (await server.json(pathOf(entity, query))) as unknown as Answer;

async function problem(server: TestServer, path: string, headers: Record<string, string> = {}): Promise<unknown> {
  const { status, code, parameter } = (await (await server.get(path, headers)).json()) as Record<string, unknown>;
  return [status, code, parameter];
}

/** The wide ones take most of the time. */
const NARROW_FIRST = ENTITIES.toSorted((a, b) => a.columns.length - b.columns.length);

describe("statistics of the demo market", () => {
  let demo: TestServer;
  beforeAll(async () => {
    demo = await serve(await demoLake({ days: 40 }));
  });

  test.each(someOf(NARROW_FIRST, 20).map((entity) => [entity.name, entity] as const))(
    "are those of DuckDB for every column of %s",
    async (name, entity) => {
      const { layout } = demo.context.lake;
      const rows = scan(layout, demo.context.lake.current().files(name).byDate);
      const one = async (sql: string): Promise<Value> => {
        const [row] = await (await sharedWriter()).rows(sql);
        return (Object.values(row ?? {})[0] ?? null) as Value;
      };
      const day = (value: Value): Value => (value === null ? null : String(value).replaceAll("-", ""));
      const expected = async ({ name: column, type }: EntityColumn): Promise<unknown> => {
        const value = quoteName(column);
        const present = `FROM ${rows} WHERE ${value} IS NOT NULL`;
        const spelled = (found: Value): Value => (type === "date" ? day(found) : found);
        const last = entity.mainDate === null ? null : await one(`SELECT max("${entity.mainDate}") ${present}`);
        return {
          name: column,
          nulls: await one(`SELECT count(*) FROM ${rows} WHERE ${value} IS NULL`),
          distinct: await one(`SELECT count(*) FROM (SELECT DISTINCT ${value} ${present})`),
          min: spelled(await one(`SELECT ${value} ${present} ORDER BY 1 LIMIT 1`)),
          max: spelled(await one(`SELECT ${value} ${present} ORDER BY 1 DESC LIMIT 1`)),
          last: day(last),
        };
      };
      const found = await ask(demo, name);
      expect([found.entity, found.data_version]).toEqual([name, demo.context.lake.mark().data_version]);
      expect(found.rows).toBe(await one(`SELECT count(*) FROM ${rows}`));
      expect(found.columns).toEqual(await Promise.all(entity.columns.map(expected)));
    },
  );
});

/** Two codes on two days; text, a number that is missing at the end, and one that is always missing. */
const FIRST = `SELECT ts_code, d::DATE AS trade_date, open, close FROM (VALUES
  ('600519.SH', '2024-01-02', 10, 0.30000000000000004::DOUBLE), ('000001.SZ', '2024-01-03', -1.5, NULL)) t(ts_code, d, open, close)`;

describe("statistics", () => {
  let root: string;
  let server: TestServer;
  const versions: string[] = [];

  const publish = async (rows: Record<string, string>): Promise<void> => {
    versions.push((await publishRows(root, rows))!.data_version);
    await server.context.lake.refresh();
  };

  beforeEach(async () => {
    versions.length = 0;
    root = await temporaryFolder();
    server = await serve(root);
    await publish({ daily: FIRST });
  });

  const damage = async (): Promise<() => Promise<void>> => {
    const [file] = server.context.lake.current().files("daily").byDate;
    const path = join(server.context.lake.layout.lake, file!.path);
    const bytes = await readFile(path);
    const flipped = Buffer.from(bytes);
    flipped[20]! ^= 0x10;
    await writeFile(path, flipped);
    return () => writeFile(path, bytes);
  };

  test("count rows, missing and distinct values, and name the least, the greatest and the last day", async () => {
    expect(await ask(server, "daily", "?fields=close,ts_code,vol")).toEqual({
      entity: "daily",
      data_version: versions[0],
      rows: 2,
      columns: [
        { name: "close", nulls: 1, distinct: 1, min: 0.30000000000000004, max: 0.30000000000000004, last: "20240102" },
        { name: "ts_code", nulls: 0, distinct: 2, min: "000001.SZ", max: "600519.SH", last: "20240103" },
        { name: "vol", nulls: 2, distinct: 0, min: null, max: null, last: null },
      ],
    });
  });

  test("of an entity without rows are zero and null", async () => {
    const { rows, columns } = await ask(server, "weekly", "?fields=close");
    expect([rows, columns]).toEqual([0, [{ name: "close", nulls: 0, distinct: 0, min: null, max: null, last: null }]]);
  });

  test("of an entity without a main date have no last day", async () => {
    await publish({ stock_company: "SELECT '000001.SZ' AS ts_code" });
    expect((await ask(server, "stock_company", "?fields=ts_code")).columns).toEqual([
      { name: "ts_code", nulls: 0, distinct: 1, min: "000001.SZ", max: "000001.SZ", last: null },
    ]);
  });

  test("hold rows without a main date as well", async () => {
    const dividends = "('000001.SZ', NULL, '预案'), ('000001.SZ', '2024-06-14', '实施')";
    await publish({
      dividend: `SELECT ts_code, d::DATE AS ex_date, p AS div_proc FROM (VALUES ${dividends}) t(ts_code, d, p)`,
    });
    expect(await ask(server, "dividend", "?fields=ex_date,div_proc")).toMatchObject({
      rows: 2,
      columns: [
        { nulls: 1, distinct: 1, min: "20240614", max: "20240614", last: "20240614" },
        { nulls: 0, distinct: 2, min: "实施", max: "预案", last: "20240614" },
      ],
    });
  });

  test("belong to a version, and an older one can be asked for", async () => {
    await publish({ daily: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-04' AS trade_date, 7 AS close" });
    const query = `?fields=close&data_version=${encodeURIComponent(versions[0]!)}`;
    expect(await ask(server, "daily", query)).toMatchObject({ data_version: versions[0], rows: 2 });
    const now = await ask(server, "daily", "?fields=close");
    expect(now).toMatchObject({ data_version: versions[1], rows: 3, columns: [{ max: 7, last: "20240104" }] });
  });

  test("are not sent again while the entity does not change", async () => {
    const answer = async (tag: string): Promise<[number, string]> => {
      const response = await server.get(pathOf("daily"), { "If-None-Match": tag });
      await response.arrayBuffer();
      return [response.status, response.headers.get("ETag")!];
    };
    const [, tag] = await answer("none");
    await publish({ weekly: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-05' AS trade_date" });
    expect(await answer(tag)).toEqual([304, tag]);
    await publish({ daily: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-05' AS trade_date" });
    const [status, other] = await answer(tag);
    expect([status, other === tag]).toEqual([200, false]);
  });

  test("are read once for a version: the second request needs no file", async () => {
    const first = await ask(server, "daily", "?fields=close,open");
    const { layout } = server.context.lake;
    await rename(join(layout.lake, "daily"), join(layout.lake, "elsewhere"));
    expect((await ask(server, "daily", "?fields=open")).columns).toEqual(first.columns.slice(1));
    expect(await problem(server, pathOf("daily", "?fields=vol"))).toEqual([503, "data_unavailable", undefined]);
    await rename(join(layout.lake, "elsewhere"), join(layout.lake, "daily"));
    expect((await ask(server, "daily", "?fields=vol")).columns[0]).toMatchObject({ nulls: 2 });
  });

  test("of a damaged file are refused, and right again once it is restored", async () => {
    const restore = await damage();
    for (let time = 0; time < 2; time++) {
      const response = await server.get(pathOf("daily"));
      const text = await response.text();
      expect([response.status, (JSON.parse(text) as { code: string }).code]).toEqual([500, "data_damaged"]);
      expect(text).not.toContain(root);
    }
    await restore();
    expect((await ask(server, "daily", "?fields=open")).columns[0]).toMatchObject({ min: -1.5, max: 10 });
  });

  test("need a token that covers the entity", async () => {
    const secret = await createToken(root, "narrow", { entities: ["weekly"], expires: null }, new Date());
    const headers = { Authorization: `Bearer ${secret}` };
    expect(await problem(server, pathOf("daily"), headers)).toEqual([403, "forbidden", undefined]);
    expect((await server.get(pathOf("weekly"), headers)).status).toBe(200);
  });

  test("are refused with parameters that are unknown or wrong", async () => {
    for (const [query, ...expected] of [
      ["?fields=clse", 400, "invalid_parameter", "fields"],
      ["?fields=close,close", 400, "invalid_parameter", "fields"],
      ["?fields=", 400, "invalid_parameter", "fields"],
      ["?columns=close", 400, "unknown_parameter", "columns"],
      ["?ts_code=600519.SH", 400, "unknown_parameter", "ts_code"],
      ["?limit=1", 400, "unknown_parameter", "limit"],
      ["?data_version=yesterday", 400, "invalid_parameter", "data_version"],
      ["?data_version=2001-01-01T00:00:00.000%2B08:00", 404, "unknown_version", "data_version"],
    ] as const) {
      expect([query, await problem(server, pathOf("daily", query))]).toEqual([query, expected]);
    }
  });

  test("of an entity that is none are refused", async () => {
    expect(await problem(server, pathOf("dayly"))).toEqual([404, "unknown_entity", undefined]);
  });

  test("end at the deadline, and nothing goes on running", async () => {
    await publish({ adj_factor: factors(100_000) });
    const hurried = await serve(root, {}, { deadline: 1 });
    expect(await problem(hurried, pathOf("adj_factor"))).toEqual([504, "deadline_exceeded", undefined]);
    await expect.poll(() => hurried.context.reader.load().streams).toEqual({ active: 0, waiting: 0 });
  });
});
