// SQL over HTTP: real statements in real processes, compared with the rows of the endpoints.
import { beforeAll, describe, expect, test } from "vitest";
import { demoLake } from "../support/demo.js";
import { serve, type Envelope, type TestServer, TOKEN } from "../support/server.js";

let server: TestServer;

beforeAll(async () => {
  server = await serve(await demoLake({ days: 500 }));
});

const ask = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${server.url}/api/v1/sql`, {
    method: "POST",
    headers: { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

const rowsOf = async (sql: string, params: object = {}): Promise<Envelope["rows"]> => {
  const response = await ask({ sql, params });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return (JSON.parse(text) as Envelope).rows;
};

test("a statement is answered over one version", async () => {
  const response = await ask({ sql: "SELECT count(*) AS n, avg(close) AS mean FROM daily" });
  const body = (await response.json()) as Envelope;
  console.log(JSON.stringify(body), response.headers);
  expect(body.count).toBe(1);
});

describe("the functions of the field", () => {
  test.each([
    ["known(income, '20240501')", "income?as_of=20240501"],
    ["latest(income)", "income?latest=true"],
    ["adjusted(daily, 'backward')", "daily?adjust=backward"],
    ["adjusted(daily, 'forward')", "daily?adjust=forward"],
    ["adjusted(daily, 'forward', volume := true)", "daily?adjust=forward&adjust_volume=true"],
    ["adjusted(weekly, 'forward')", "weekly?adjust=forward"],
    ["adjusted(weekly, 'backward')", "weekly?adjust=backward"],
    ["bars(daily, 'week')", "weekly?"],
    ["daily", "daily?"],
  ])("%s has the rows of %s", async (table, path) => {
    const { rows } = await server.json(`/api/v1/entities/${path}`);
    expect(rows.length).toBeGreaterThan(0);
    const own = await rowsOf(`SELECT * FROM ${table}`);
    expect([...own].map((row) => JSON.stringify(row)).sort()).toEqual(rows.map((row) => JSON.stringify(row)).sort());
  });
});
