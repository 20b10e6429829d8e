// Rows are in order whatever the filters are: DuckDB uses a join for many values, which does not keep the order.
import { beforeAll, expect, test } from "vitest";
import { pagesOf } from "../support/filters.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, type TestServer } from "../support/server.js";

const DAYS = 20;
/** Two or three days lie in each 2,048 rows, so that these give now few and now many rows of some codes. */
const CODES = 900;
let server: TestServer;

const codeAt = (i: number): string => `${String(i).padStart(6, "0")}.SZ`;
const dayAt = (i: number): string => `202401${String(i + 1).padStart(2, "0")}`;
const upTo = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

beforeAll(async () => {
  const root = await temporaryFolder();
  const rows = `SELECT printf('%06d.SZ', i % ${CODES}) AS ts_code, DATE '2024-01-01' + (i // ${CODES})::INT AS`;
  const range = `FROM range(${DAYS * CODES}) t(i)`;
  await publishRows(root, {
    adj_factor: `${rows} trade_date, 1.5 AS adj_factor ${range}`,
    daily: `${rows} trade_date, i AS close ${range}`,
    stock_list: `${rows} snapshot_date, 'name' AS name ${range}`,
  });
  server = await serve(root);
});

const expectedOf = (days: number, codes: number): string[][] =>
  upTo(days, dayAt).flatMap((day) => upTo(codes, (i) => [day, codeAt(i)]));

test.each([1, 3, 4, 5, 6, 30, 90])("rows of %i codes come in order, whole and in pages", async (count) => {
  const query = new URLSearchParams({ fields: "trade_date,ts_code", ts_code: upTo(count, codeAt).join() });
  const path = `/api/v1/entities/adj_factor?${query.toString()}`;
  const expected = expectedOf(DAYS, count);
  expect((await server.json(path)).rows).toEqual(expected);
  expect((await server.json(`${path}&order=desc`)).rows).toEqual(expected.toReversed());
  const pages = await pagesOf(server, "adj_factor", query, Math.ceil(expected.length / 4));
  expect(pages.flatMap(({ rows }) => rows)).toEqual(expected);
});

test.each([4, 5, 12])("rows of %i days come in order", async (count) => {
  const days = upTo(count, dayAt).join();
  const { rows } = await server.json(`/api/v1/entities/adj_factor?fields=trade_date,ts_code&trade_date=${days}`);
  expect(rows).toEqual(expectedOf(count, CODES));
});

test("the prices of many codes are all adjusted", async () => {
  const codes = upTo(30, codeAt).join();
  const { rows } = await server.json(`/api/v1/entities/daily?fields=close&adjust=backward&ts_code=${codes}`);
  expect(rows).toEqual(upTo(DAYS, (day) => upTo(30, (i) => [(day * CODES + i) * 1.5])).flat());
});

test("many codes of the snapshot before a day come in order", async () => {
  const codes = upTo(90, codeAt).join();
  const { rows } = await server.json(`/api/v1/entities/stock_list?fields=ts_code&as_of=20240112&ts_code=${codes}`);
  expect(rows).toEqual(upTo(90, (i) => [codeAt(i)]));
});
