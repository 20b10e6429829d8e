// dates=date: dates as the type that Arrow and Parquet have for them.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tableFromIPC } from "apache-arrow";
import { beforeAll, describe, expect, test } from "vitest";
import { FORMATS } from "../../src/catalog/formats.js";
import { ENTITIES } from "../../src/catalog/index.js";
import { demoLake } from "../support/demo.js";
import { duckdbInMemory } from "../support/duckdb.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";

let server: TestServer;
let folder: string;
const duckdb = duckdbInMemory();

beforeAll(async () => {
  server = await serve(await demoLake({ days: 120 }));
  folder = await temporaryFolder();
});

const urlOf = (path: string, more: string): string => `${path}${path.includes("?") ? "&" : "?"}${more}`;

async function bytesOf(path: string, from = server): Promise<Buffer> {
  const response = await from.get(path);
  expect([path, response.status]).toEqual([path, 200]);
  return Buffer.from(await response.arrayBuffer());
}

/** The types of the columns of a Parquet answer, and its rows with dates as `YYYYMMDD`. */
async function parquetOf(
  path: string,
): Promise<{ readonly types: readonly string[]; readonly rows: readonly unknown[] }> {
  const file = join(folder, "answer.parquet");
  await writeFile(file, await bytesOf(urlOf(path, "format=parquet&dates=date")));
  const described = await duckdb.connection.runAndReadAll(
    `SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '${file}')`,
  );
  const columns = described.getRows() as [string, string][];
  const shown = columns.map(([name, type]) => (type === "DATE" ? `strftime("${name}", '%Y%m%d')` : `"${name}"`));
  const rows = (await duckdb.connection.runAndReadAll(`SELECT ${shown.join(", ")} FROM '${file}'`)).getRows();
  return { types: columns.map(([, type]) => type), rows: rows.map((row) => row.map(plain)) };
}

const plain = (value: unknown): unknown => (typeof value === "bigint" ? Number(value) : value === 0 ? 0 : value);

/** The same of an Arrow answer. */
async function arrowOf(
  path: string,
): Promise<{ readonly types: readonly string[]; readonly rows: readonly unknown[] }> {
  const table = tableFromIPC(await bytesOf(urlOf(path, "format=arrow&dates=date")));
  const types = table.schema.fields.map(({ type }) => String(type));
  const text = (value: unknown): string => new Date(value as number).toISOString().slice(0, 10).replaceAll("-", "");
  const rows = Array.from({ length: table.numRows }, (_, row) =>
    types.map((type, i) => {
      const value = table.getChildAt(i)!.get(row) as unknown;
      return type.startsWith("Date32") && value !== null ? text(value) : plain(value);
    }),
  );
  return { types, rows };
}

/** Compares both with the JSON answer. Returns the names of the columns of dates. */
async function expectDates(path: string): Promise<readonly string[]> {
  const { columns, rows } = await server.json(path);
  const [arrow, parquet] = [await arrowOf(path), await parquetOf(path)];
  expect(arrow.rows).toEqual(rows);
  expect(parquet.rows).toEqual(rows);
  const named = (types: readonly string[], type: RegExp): string[] =>
    columns.filter((_, i) => type.test(types[i]!)).map(({ name }) => name);
  expect(named(parquet.types, /^DATE$/)).toEqual(named(arrow.types, /^Date32/));
  return named(arrow.types, /^Date32/);
}

describe("dates=date gives the rows of JSON with dates", () => {
  test.each(ENTITIES)("for the date columns of $name", async ({ name, columns }) => {
    const dates = columns.filter(({ type }) => type === "date").map((column) => column.name);
    expect(await expectDates(`/api/v1/entities/${name}?order=desc&limit=200`)).toEqual(dates);
  });

  test("without a limit too, and of chosen columns", async () => {
    expect(await expectDates("/api/v1/entities/daily")).toEqual(["trade_date"]);
    expect(await expectDates("/api/v1/entities/income?fields=end_date,total_revenue")).toEqual(["end_date"]);
    expect(await expectDates("/api/v1/entities/daily?fields=close")).toEqual([]);
    expect(await expectDates("/api/v1/entities/daily?start_date=20991231")).toEqual(["trade_date"]);
  });

  test("for the day of as_of, and values that it hides", async () => {
    const days = "as_of=20250930,20251231";
    expect(await expectDates(`/api/v1/entities/stock_list?${days}`)).toContain("as_of");
    expect(await expectDates(`/api/v1/entities/index_member?${days}`)).toEqual(["as_of", "in_date", "out_date"]);
    const months = "as_of_days=month_end&as_of_start=20250801&as_of_end=20251231&latest=true";
    expect(await expectDates(`/api/v1/entities/fina_indicator?${months}`)).toContain("as_of");
  });

  test("for adjusted bars, and bars that are made of days", async () => {
    expect(await expectDates("/api/v1/entities/weekly?adjust=backward&ts_code=600519.SH")).toEqual(["trade_date"]);
    expect(await expectDates("/api/v1/entities/index_daily?ts_code=000300.SH")).toEqual(["trade_date"]);
  });

  test("for panels, wide and long", async () => {
    const panel = "/api/v1/panel?start_date=20251201&entities=daily:close,income:total_revenue";
    expect(await expectDates(`${panel},income:end_date,income:f_ann_date`)).toEqual([
      ...["trade_date", "income.end_date", "income.f_ann_date"],
    ]);
    expect(await expectDates(`${panel}&layout=long`)).toEqual(["trade_date"]);
  });

  test("for the identity in changes; values before and after stay text", async () => {
    const root = await temporaryFolder();
    const row = (close: number) => `SELECT '600519.SH' AS ts_code, DATE '2024-01-05' AS trade_date, ${close} AS close`;
    const first = await publishRows(root, { daily: row(1) });
    await publishRows(root, { daily: row(2) });
    const changed = await serve(root);
    const from = encodeURIComponent(first!.data_version);
    const path = `/api/v1/entities/daily/changes?from=${from}&format=arrow&dates=date`;
    const table = tableFromIPC(await bytesOf(path, changed));
    expect(table.schema.fields.map(({ name, type }) => `${name} ${String(type)}`)).toEqual([
      ...["change Utf8", "ts_code Utf8", "trade_date Date32<DAY>", "column Utf8", "before Utf8", "after Utf8"],
    ]);
    expect(table.getChild("trade_date")!.get(0)).toBe(Date.UTC(2024, 0, 5));
  });
});

describe("dates=date", () => {
  const DAILY = "/api/v1/entities/daily";

  test.each(["json", "ndjson", "csv"] as const)("is refused for %s, which has no dates", async (format) => {
    const { mediaType } = FORMATS[format];
    for (const response of [
      await server.get(`${DAILY}?dates=date&format=${format}`),
      await server.get(`${DAILY}?dates=date`, { Accept: mediaType }),
      await server.get("/api/v1/panel?entities=daily:close&dates=date", { Accept: mediaType }),
    ]) {
      expect([response.status, await response.json()]).toEqual([
        400,
        expect.objectContaining({
          code: "contradictory_parameters",
          parameter: "dates",
          detail: `${format} has no type for dates, so dates=date is not possible`,
          hint: "add format=arrow or format=parquet, or leave dates out: they are then YYYYMMDD text",
        }),
      ]);
    }
  });

  test("works with the Accept header and in a body, and does not apply to Tushare", async () => {
    const expected = await bytesOf(`${DAILY}?dates=date&format=arrow&limit=5`);
    const accept = { Accept: "application/vnd.apache.arrow.stream" };
    const negotiated = await server.get(`${DAILY}?dates=date&limit=5`, accept);
    expect(Buffer.from(await negotiated.arrayBuffer()).equals(expected)).toBe(true);
    const posted = await fetch(`${server.url}${DAILY}/query`, {
      method: "POST",
      headers: { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json", ...accept },
      body: JSON.stringify({ dates: "date", limit: 5 }),
    });
    expect(Buffer.from(await posted.arrayBuffer()).equals(expected)).toBe(true);
    const tushare = await fetch(`${server.url}/tushare`, {
      method: "POST",
      body: JSON.stringify({ api_name: "daily", token: TOKEN, params: { dates: "date" } }),
    });
    expect(await tushare.json()).toMatchObject({ code: 400, msg: expect.stringContaining("no parameter") as string });
  });

  test("has its own ETag, cursor and cached rows", async () => {
    const etagOf = async (query: string) => (await server.get(`${DAILY}?format=arrow${query}`)).headers.get("ETag");
    const [usual, text, date] = [await etagOf(""), await etagOf("&dates=text"), await etagOf("&dates=date")];
    expect(text).toBe(usual);
    expect(date).not.toBe(usual);
    const page = await server.get(`${DAILY}?format=arrow&limit=5`);
    const cursor = page.headers.get("X-Next-Cursor")!;
    const other = await server.get(`${DAILY}?format=arrow&limit=5&dates=date&cursor=${cursor}`);
    expect([other.status, ((await other.json()) as { code: string }).code]).toEqual([400, "invalid_cursor"]);
    const dated = (await server.get(`${DAILY}?format=arrow&limit=5&dates=date`)).headers.get("X-Next-Cursor")!;
    const next = tableFromIPC(await bytesOf(`${DAILY}?format=arrow&limit=5&dates=date&cursor=${dated}`));
    const rows = await server.json(`${DAILY}?limit=10`);
    expect([...next.getChild("ts_code")!]).toEqual(rows.rows.slice(5).map(([code]) => code));
  });

  test("is served from cached rows only as it was cached", async () => {
    const root = await temporaryFolder();
    await publishRows(root, {
      adj_factor: `SELECT printf('%06d.SZ', i % 5000) AS ts_code, DATE '2023-01-01' + (i // 5000)::INT AS trade_date,
                   i / 8 AS adj_factor FROM range(120000) t(i)`,
    });
    const [cached, without] = [await serve(root), await serve(root, { cache: "none" })];
    const path = "/api/v1/entities/adj_factor?format=arrow";
    const queries = ["", "&dates=date", "", "&dates=date"];
    for (const query of queries) {
      const expected = await bytesOf(path + query, without);
      expect((await bytesOf(path + query, cached)).equals(expected)).toBe(true);
    }
    expect(cached.context.segments.figures().hits).toBe(2);
  });

  test("lets DuckDB window by days instead of rows", async () => {
    const file = join(folder, "daily.parquet");
    await writeFile(file, await bytesOf(`${DAILY}?format=parquet&dates=date&ts_code=600519.SH`));
    const window = "ORDER BY trade_date RANGE BETWEEN INTERVAL 6 DAYS PRECEDING AND CURRENT ROW";
    const sql = `SELECT trade_date::VARCHAR, count(*) OVER (${window}) FROM '${file}' ORDER BY trade_date`;
    const counted = (await duckdb.connection.runAndReadAll(sql)).getRowsJson() as [string, string][];
    const days = (await server.json(`${DAILY}?ts_code=600519.SH&fields=trade_date`)).rows.map(([day]) => String(day));
    const iso = days.map((day) => `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`);
    const within = iso.map((day) =>
      iso.filter((one) => one <= day && Date.parse(day) - Date.parse(one) <= 6 * 86_400_000),
    );
    expect(counted).toEqual(iso.map((day, i) => [day, String(within[i]!.length)]));
    expect(new Set(counted.map(([, count]) => count)).size).toBeGreaterThan(2);
  });
});
