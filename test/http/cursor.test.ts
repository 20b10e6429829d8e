// Forged cursors: anyone can make one that passes the check, but it gives access to no other rows.
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { createToken } from "../../src/store/tokens.js";
import { encodeCursor, type Position } from "../../src/query/cursor.js";
import { parseRequest } from "../../src/query/request.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, type Envelope, type TestServer } from "../support/server.js";

let server: TestServer;
let version: string;
let headers: Record<string, string>;

const ROWS = `SELECT printf('%06d.SZ', i % 5) AS ts_code, DATE '2024-01-01' + (i // 5)::INT AS trade_date, i`;

beforeAll(async () => {
  const root = await temporaryFolder();
  await publishRows(root, {
    daily: `${ROWS} AS close FROM range(50) t(i)`,
    adj_factor: `${ROWS} AS adj_factor FROM range(50) t(i)`,
  });
  const secret = await createToken(root, "daily alone", { entities: ["daily"], expires: null }, new Date());
  headers = { Authorization: `Bearer ${secret}` };
  server = await serve(root);
  version = (await server.json("/api/v1/entities/daily?limit=1")).data_version;
});

function forged(entity: string, query: string, position: Position, dataVersion = version): string {
  const request = parseRequest(entityNamed(entity)!, new URLSearchParams(query), {
    defaultLimit: null,
    maxLimit: null,
  });
  return encodeCursor(request, { dataVersion, position });
}

const ask = (entity: string, query: string, cursor: string): Promise<Response> =>
  server.get(`/api/v1/entities/${entity}?${query}&cursor=${cursor}`, headers);

const POSITION: fc.Arbitrary<Position> = fc.record({
  date: fc.option(fc.constantFrom("20000101", "20231231", "20240101", "20240103", "20240110", "99991231")),
  code: fc.option(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("000001.SZ", "000004.SZ", "' OR 1=1 --"))),
  row: fc.oneof(fc.nat(60), fc.constant(Number.MAX_SAFE_INTEGER)),
});

describe("a forged cursor", () => {
  test.each(["order=asc", "order=desc", "ts_code=000001.SZ", "start_date=20240104&limit=3"])(
    "returns only rows that the same query returns without it: %s",
    async (query) => {
      const whole = query.replace("&limit=3", "");
      const { rows } = (await (await server.get(`/api/v1/entities/daily?${whole}`, headers)).json()) as Envelope;
      const known = new Set(rows.map((row) => JSON.stringify(row)));
      await fc.assert(
        fc.asyncProperty(POSITION, async (position) => {
          const answer = await ask("daily", query, forged("daily", query, position));
          expect(answer.status).toBe(200);
          const page = (await answer.json()) as Envelope;
          for (const row of page.rows) expect(known).toContain(JSON.stringify(row));
        }),
        { numRuns: 30 },
      );
    },
  );

  test("opens no other entity, and no version that does not exist", async () => {
    const position = { date: "20240103", code: "000001.SZ", row: 0 };
    expect((await ask("adj_factor", "limit=1", forged("adj_factor", "limit=1", position))).status).toBe(403);
    expect((await ask("daily", "limit=1", forged("adj_factor", "limit=1", position))).status).toBe(400);
    const adjusted = "limit=1&adjust=backward";
    expect((await ask("daily", adjusted, forged("daily", adjusted, position))).status).toBe(403);
    const never = forged("daily", "limit=1", position, "2020-01-01T00:00:00.000+08:00");
    expect((await ask("daily", "limit=1", never)).status).toBe(404);
    const long = forged("daily", "limit=1", position, "x".repeat(100_000));
    const refused = await ask("daily", "limit=1", long);
    expect(refused.status).toBe(400);
    expect((await refused.text()).length).toBeLessThan(1_000);
  });
});
