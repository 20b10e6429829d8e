// What differs between two versions, over HTTP: kinds of change, parameters, problems.
import { beforeAll, describe, expect, test } from "vitest";
import { ENTITIES } from "../../src/catalog/index.js";
import { changesColumns } from "../../src/query/changes.js";
import { compact } from "../../src/store/compact.js";
import { vacuum } from "../../src/store/vacuum.js";
import { createToken } from "../../src/store/tokens.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, type TestServer } from "../support/server.js";
import { MEMORY } from "../support/upkeep.js";

let root: string;
let server: TestServer;
/** The versions, oldest first; the first one is removed. */
const versions: string[] = [];

const daily = (rows: string): Promise<unknown> =>
  publishRows(root, {
    daily: `SELECT ts_code, trade_date::DATE AS trade_date, open, close FROM (VALUES ${rows}) t(ts_code, trade_date, open, close)`,
  });

const path = (query: string, entity = "daily"): string => `/api/v1/entities/${entity}/changes?${query}`;
const since = (version: number, more = ""): string => path(`from=${encodeURIComponent(versions[version]!)}${more}`);
const to = (version: number): string => `&to=${encodeURIComponent(versions[version]!)}`;

beforeAll(async () => {
  root = await temporaryFolder();
  await daily("('600519.SH', '2024-01-01', 1, 1)");
  await daily("('600519.SH', '2024-01-02', 10, 10.5), ('000001.SZ', '2024-01-03', 7, 7)");
  await daily("('600519.SH', '2024-01-02', 10, 10.75), ('000001.SZ', '2024-01-03', NULL, 7.25)");
  await daily("('000001.SZ', '2024-01-04', 8, 8)");
  await compact(root, MEMORY);
  await vacuum(root, { olderThan: 0, keep: 4, now: new Date(Date.now() + 60_000) });
  server = await serve(root);
  versions.push(...(await server.context.lake.versions()).map(({ data_version }) => data_version));
});

/** The part of the problem that programs read. */
async function problem(url: string, headers: Record<string, string> = {}): Promise<unknown> {
  const { status, code, parameter } = (await (await server.get(url, headers)).json()) as Record<string, unknown>;
  return [status, code, parameter];
}

describe("changes", () => {
  test("have a row for each changed column, and one for each added row with all its values", async () => {
    const found = await server.json(since(0));
    expect(found.columns).toEqual([
      ...["change", "ts_code", "trade_date", "column", "before", "after"].map((name) => ({ name, dtype: "string" })),
    ]);
    const row =
      '{"ts_code":"000001.SZ","trade_date":"20240104","open":8,"high":null,"low":null,"close":8,"pre_close":null,' +
      '"change":null,"pct_chg":null,"vol":null,"amount":null}';
    expect(found.rows).toEqual([
      ["changed", "600519.SH", "20240102", "close", "10.5", "10.75"],
      ["changed", "000001.SZ", "20240103", "open", "7", null],
      ["changed", "000001.SZ", "20240103", "close", "7", "7.25"],
      ["added", "000001.SZ", "20240104", null, null, row],
    ]);
    expect([found.entity, found.data_version, found.truncated]).toEqual(["daily", versions.at(-1), false]);
  });

  test("of a compaction are none", async () => {
    expect((await server.json(since(2, to(3)))).rows).toEqual([]);
  });

  test("of a version and itself are none", async () => {
    expect((await server.json(since(1, to(1)))).rows).toEqual([]);
  });

  test("can be read backwards in time", async () => {
    const { rows } = await server.json(since(1, to(0)));
    expect(rows[0]).toEqual(["changed", "600519.SH", "20240102", "close", "10.75", "10.5"]);
    expect((await server.json(since(2, to(1)))).rows.map(([change]) => change)).toEqual(["removed"]);
  });

  test("can be limited to dates, and to the values of the identity", async () => {
    const dates = async (more: string): Promise<unknown[]> =>
      (await server.json(since(0, more))).rows.map((row) => row[2]);
    expect(await dates("&start_date=20240103&end_date=20240103")).toEqual(["20240103", "20240103"]);
    expect(await dates("&ts_code=600519.SH")).toEqual(["20240102"]);
    expect(await dates("&trade_date=20240104")).toEqual(["20240104"]);
    expect(await dates("&start_date=20240105")).toEqual([]);
  });

  test("of each entity can be read, although nothing is stored for it", async () => {
    for (const entity of ENTITIES) {
      const found = await server.json(path(`from=${encodeURIComponent(versions[0]!)}`, entity.name));
      expect(found.columns.map(({ name }) => name)).toEqual(changesColumns(entity).map(({ name }) => name));
    }
  });

  test("have a page with a cursor, which contains the version", async () => {
    const first = await server.json(since(0, "&limit=2"));
    expect([first.count, first.truncated]).toEqual([2, true]);
    await daily("('000001.SZ', '2024-01-05', 9, 9)");
    await server.context.lake.refresh();
    const rest = await server.json(since(0, `&limit=5&cursor=${first.next_cursor}`));
    expect([rest.data_version, rest.rows.map((row) => row[2])]).toEqual([first.data_version, ["20240103", "20240104"]]);
    expect(await problem(since(1, `&cursor=${first.next_cursor}`))).toEqual([400, "invalid_cursor", "cursor"]);
    const other = [400, "contradictory_parameters", "to"];
    expect(await problem(since(0, `&cursor=${first.next_cursor}${to(1)}`))).toEqual(other);
  });

  test("say in headers where a page of another format ends", async () => {
    const response = await server.get(since(0, `${to(3)}&limit=1&format=csv`));
    expect(await response.text()).toBe(
      "change,ts_code,trade_date,column,before,after\nchanged,600519.SH,20240102,close,10.5,10.75\n",
    );
    expect([response.headers.get("X-Truncated"), response.headers.get("X-Data-Version")]).toEqual([
      "true",
      versions[3],
    ]);
  });

  test("are not sent again while neither version differs", async () => {
    const tag = (await server.get(since(0, to(2)))).headers.get("ETag")!;
    expect((await server.get(since(0, to(2)), { "If-None-Match": tag })).status).toBe(304);
    expect((await server.get(since(1, to(2)), { "If-None-Match": tag })).status).toBe(200);
  });
});

describe("a request for changes is refused", () => {
  test("without from, and with a version that never was or is no longer kept", async () => {
    expect(await problem(path(""))).toEqual([400, "invalid_parameter", "from"]);
    const never = "2020-01-01T00:00:00.000%2B08:00";
    expect(await problem(path(`from=${never}`))).toEqual([404, "unknown_version", "from"]);
    expect(await problem(since(0, `&to=${never}`))).toEqual([404, "unknown_version", "to"]);
  });

  test("with a version that vacuum removed", async () => {
    const old = await temporaryFolder();
    for (const close of [1, 2]) {
      await publishRows(old, {
        daily: `SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, ${close} AS close`,
      });
    }
    const other = await serve(old);
    const [first] = (await other.context.lake.versions()).map(({ data_version }) => encodeURIComponent(data_version));
    await vacuum(old, { olderThan: 0, keep: 1, now: new Date(Date.now() + 60_000) });
    expect((await other.get(path(`from=${first}`))).status).toBe(410);
  });

  test("with a parameter that has no meaning for changes", async () => {
    for (const name of ["order", "fields", "as_of", "adjust", "data_version", "close", "form"]) {
      expect(await problem(since(0, `&${name}=1`))).toEqual([400, "unknown_parameter", name]);
    }
  });

  test("with a token that does not cover the entity", async () => {
    const secret = await createToken(root, "narrow", { entities: ["weekly"], expires: null }, new Date());
    const headers = { Authorization: `Bearer ${secret}` };
    await expect.poll(() => problem(since(0), headers)).toEqual([403, "forbidden", undefined]);
  });
});

describe("the versions of an entity", () => {
  type Answer = { readonly data_version: string; readonly versions: readonly object[] };
  const history = async (query = "", entity = "daily"): Promise<Answer> =>
    (await (await server.get(`/api/v1/entities/${entity}/versions${query}`)).json()) as Answer;

  test("tell what each of them changed, newest first, without the oldest and those that only joined files", async () => {
    const added = { added: 1, removed: 0, changed: 0, first: "20240104", last: "20240104" };
    const changed = { added: 0, removed: 0, changed: 2, first: "20240102", last: "20240103" };
    const upTo = (version: number, more = ""): string =>
      `?data_version=${encodeURIComponent(versions.at(version)!)}${more}`;
    const found = await history(upTo(-1));
    expect(found).toEqual({
      entity: "daily",
      data_version: versions.at(-1),
      versions: [
        { data_version: versions[2], ...added },
        { data_version: versions[1], ...changed },
      ],
    });
    expect((await history(upTo(-1, "&limit=1"))).versions).toEqual(found.versions.slice(0, 1));
    expect((await history(upTo(1))).versions).toEqual(found.versions.slice(1));
    expect((await history("", "income")).versions).toEqual([]);
  });

  test.each([
    ["?limit=0", 400, "invalid_parameter", "limit"],
    ["?limit=51", 400, "invalid_parameter", "limit"],
    ["?form=csv", 400, "unknown_parameter", "form"],
    ["?data_version=2020-01-01T00:00:00.000%2B08:00", 404, "unknown_version", "data_version"],
  ])("refuse %s", async (query, ...expected) => {
    expect(await problem(`/api/v1/entities/daily/versions${query}`)).toEqual(expected);
  });
});
