// The rows of one request, in every format.
import { tableFromIPC } from "apache-arrow";
import { expect } from "vitest";
import type { TestServer } from "./server.js";

/** Compares the columns and rows of a JSON response, whose values have no comma, with the other formats. */
export async function expectSameInEveryFormat(
  server: TestServer,
  query: string,
  names: readonly string[],
): Promise<void> {
  const { columns, rows, next_cursor } = await server.json(query);
  expect(columns.map(({ name }) => name)).toEqual(names);
  const body = async (format: string): Promise<Buffer> => {
    const response = await server.get(`${query}&format=${format}`);
    expect(response.headers.get("x-next-cursor")).toBe(next_cursor);
    return Buffer.from(await response.arrayBuffer());
  };
  const table = tableFromIPC(await body("arrow"));
  expect(table.toArray().map((row) => Object.values(row as object))).toEqual(rows);
  const [head, ...lines] = (await body("csv")).toString().trim().split(/\r?\n/);
  expect(head).toBe(names.join());
  expect(lines).toEqual(rows.map((row) => row.join()));
  const objects = (await body("ndjson")).toString().trim().split("\n");
  expect(objects.map((line) => Object.values(JSON.parse(line) as object))).toEqual(rows);
  expect((await body("parquet")).toString("latin1", 0, 4)).toBe("PAR1");
}
