// Libraries of other languages read the tables in place, and get the rows of the API at each version.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { openLake } from "../../src/lake/lake.js";
import { deleteRows } from "../../src/store/delete.js";
import { beginTables, followTables } from "../../src/store/tables.js";
import { vacuum } from "../../src/store/vacuum.js";
import { layoutOf } from "../../src/lake/layout.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { noPython, python } from "../support/python.js";
import { serve, type TestServer } from "../support/server.js";
import { MEMORY } from "../support/upkeep.js";

vi.setConfig({ testTimeout: 300_000 });

/** Entities with every type of column, with rows without a main date, and with none of some values. */
const VERSIONS: readonly Readonly<Record<string, string>>[] = [
  {
    stk_auction: `SELECT printf('%06d.SZ', i % 7) AS ts_code, DATE '2024-01-02' + (i % 5)::INT AS trade_date,
                  CASE WHEN i % 3 = 0 THEN NULL ELSE 'ETF' END AS ts_type, '09:25:00' AS time, i / 8 AS price,
                  CASE WHEN i % 2 = 0 THEN NULL ELSE i END AS vol FROM range(200) t(i)`,
    index_member: `SELECT '801010.SI' AS index_code, printf('%06d.SZ', i) AS con_code, '农业' AS index_name,
                   CASE WHEN i % 4 = 0 THEN NULL ELSE DATE '2020-01-01' + i::INT END AS in_date FROM range(40) t(i)`,
    trade_cal: `SELECT 'SSE' AS exchange, DATE '2024-01-01' + i::INT AS cal_date, i % 2 AS is_open FROM range(30) t(i)`,
    anns_d: `SELECT '000001' AS ts_code, DATE '2024-01-02' + i::INT AS ann_date, '公告 "甲", 乙' AS title FROM range(9) t(i)`,
  },
  { stk_auction: `SELECT '600000.SH' AS ts_code, DATE '2024-01-03' AS trade_date, '09:25:01' AS time, 1.5 AS price` },
  {
    stk_auction: `SELECT '600000.SH' AS ts_code, DATE '2024-02-01' AS trade_date, '09:25:01' AS time, 2.5 AS price`,
    trade_cal: `SELECT 'SSE' AS exchange, DATE '2024-01-03' AS cal_date, 1 AS is_open`,
  },
];
const NAMES = Object.keys(VERSIONS[0]!);

const READ = `
import json, os, sys, deltalake, duckdb, polars
folder, entity, version, columns = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), sys.argv[4].split(",")
def text(value):
    return value.strftime("%Y%m%d") if hasattr(value, "strftime") else value
def rows(table):
    return sorted(json.dumps([text(row[name]) for name in columns], ensure_ascii=False) for row in table)
table = deltalake.DeltaTable(f"{folder}/{entity}", version=version)
frame = polars.scan_delta(f"{folder}/{entity}", version=version).collect()
files = table.file_uris()
names = ", ".join(f'"{name}"' for name in columns)
found = duckdb.execute(f"SELECT {names} FROM read_parquet(?)", [files]).fetchall() if files else []
types = {field.name: field.type.type for field in table.schema().fields}
print(json.dumps({
    "deltalake": rows(table.to_pyarrow_table().to_pylist()),
    "polars": rows(frame.to_dicts()),
    "duckdb": rows([dict(zip(columns, row)) for row in found]),
    "version": table.version(),
    "types": types,
    "data_version": table.history(1)[0]["operationParameters"]["data_version"],
}), flush=True)
# Threads of the libraries sometimes abort a process that ends in the usual way.
os._exit(0)
`;

interface Read {
  readonly deltalake: readonly string[];
  readonly polars: readonly string[];
  /** DuckDB without an extension, from the files that the table names. */
  readonly duckdb: readonly string[];
  readonly version: number;
  readonly types: Readonly<Record<string, string>>;
  readonly data_version: string;
}

const columnsOf = (entity: string): readonly string[] => entityNamed(entity)!.columns.map(({ name }) => name);

/** Null stands for the newest version. */
async function read(root: string, entity: string, version: number | null): Promise<Read> {
  const args = [join(root, "lake"), entity, JSON.stringify(version), columnsOf(entity).join(",")];
  return JSON.parse(await python(["-c", READ, ...args], {})) as Read;
}

/** A value as Python's `json` writes it: a float has a point. */
const shown = (value: unknown, isFloat: boolean): string =>
  isFloat && Number.isInteger(value) ? `${value as number}.0` : JSON.stringify(value);

/** The rows that the API gives of a version, in the same form. */
async function answered(server: TestServer, entity: string, dataVersion: string): Promise<readonly string[]> {
  const query = `data_version=${encodeURIComponent(dataVersion)}`;
  const { columns, rows } = await server.json(`/api/v1/entities/${entity}?${query}`);
  return rows
    .map((row) => `[${row.map((value, i) => shown(value, columns[i]!.dtype === "float64")).join(", ")}]`)
    .sort();
}

describe.skipIf(noPython !== null)(noPython ?? "deltalake, polars and DuckDB", () => {
  let root: string;
  let server: TestServer;
  const published: string[] = [];

  beforeAll(async () => {
    root = await temporaryFolder();
    await beginTables(root);
    for (const selects of VERSIONS) published.push((await publishRows(root, selects))!.data_version);
    server = await serve(root);
  });

  test.each(NAMES)("read the rows of the API at every version of %s", async (entity) => {
    const versions = published.map(
      (_, i) => VERSIONS.slice(0, i + 1).filter((selects) => entity in selects).length - 1,
    );
    for (const [i, dataVersion] of published.entries()) {
      const found = await read(root, entity, versions[i]!);
      const expected = await answered(server, entity, dataVersion);
      expect(found.deltalake, dataVersion).toEqual(expected);
      expect(found.polars, dataVersion).toEqual(expected);
      expect(found.duckdb, dataVersion).toEqual(expected);
    }
    const newest = await read(root, entity, null);
    expect(newest.version).toBe(versions.at(-1));
    expect(published).toContain(newest.data_version);
    expect(newest.deltalake).toEqual(await answered(server, entity, published.at(-1)!));
  });

  test("get dates as dates, and numbers as numbers", async () => {
    expect((await read(root, "stk_auction", null)).types).toMatchObject({
      ...{ ts_code: "string", trade_date: "date", time: "string", price: "double" },
    });
    expect((await read(root, "trade_cal", null)).types).toMatchObject({ cal_date: "date", is_open: "long" });
  });

  test("cannot write into a table", async () => {
    const write = `
import deltalake, pyarrow, sys
try:
    deltalake.write_deltalake(sys.argv[1], pyarrow.table({"ts_code": ["x"]}), mode="append", schema_mode="merge")
except Exception as error:
    print(error)
`;
    const said = await python(["-c", write, join(root, "lake/stk_auction")], {});
    expect(said).toMatch(/tapehouse/);
  });

  test("read from a checkpoint, and say that a version is not there that the log has forgotten", async () => {
    const other = await temporaryFolder();
    await beginTables(other);
    for (let i = 0; i < 45; i++) {
      const day = `DATE '2024-01-01' + ${i}`;
      await publishRows(other, {
        adj_factor: `SELECT '000001.SZ' AS ts_code, ${day} AS trade_date, ${i} AS adj_factor`,
      });
    }
    await deleteRows(other, entityNamed("adj_factor")!, { where: [], from: null, to: "20240110", all: false }, MEMORY);
    await vacuum(other, { olderThan: 0, keep: 3, now: new Date() });
    const { data_version } = (await openLake(other)).current().version;
    const api = await serve(other);
    expect((await read(other, "adj_factor", null)).polars).toEqual(await answered(api, "adj_factor", data_version));
    await expect(read(other, "adj_factor", 3)).rejects.toThrow(/version/i);
    await rm(join(other, "lake/adj_factor/_delta_log/_last_checkpoint"));
    expect((await read(other, "adj_factor", 45)).deltalake).toHaveLength(35);
  });

  test("read an entity that lost all its rows as an empty table", async () => {
    const other = await temporaryFolder();
    await publishRows(other, { trade_cal: VERSIONS[0]!["trade_cal"]! });
    await deleteRows(other, entityNamed("trade_cal")!, { where: [], from: null, to: null, all: true }, MEMORY);
    await beginTables(other);
    expect(await followTables(layoutOf(other))).toBe(0);
    expect(await read(other, "trade_cal", null)).toMatchObject({ version: 1, deltalake: [], polars: [], duckdb: [] });
    expect((await read(other, "trade_cal", 0)).deltalake).toHaveLength(30);
  });
});
