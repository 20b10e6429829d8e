// A server with a mirror, and imports, while the bucket answers late, half, with errors or not at all: every response is
// right, a clear error or visibly cut, and afterwards all is served.
import { afterEach, describe, expect, test, vi } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import type { Fault } from "../support/bucket-proxy.js";
import { publishRows } from "../support/lake.js";
import { bucketProxy, newAddress, newMirror, pull, STORES } from "../support/mirrors.js";
import { serve, type TestServer } from "../support/server.js";
import { size, someOf } from "../support/size.js";
import { dropFactors } from "../support/upkeep.js";

vi.setConfig({ testTimeout: 600_000 });

const MONTHS = size("FAULT_MONTHS", 6, 24);
const CODES = 3_000;

/** What a request of the server to the bucket meets while a fault lasts: nothing, or a fault. */
type Meets = (request: number) => Fault | undefined;

const every = (nth: number, fault: Fault): Meets => {
  return (request) => (request % nth === 0 ? fault : undefined);
};

const FAULTS: Readonly<Record<string, Meets>> = {
  "cuts answers": every(2, { cutAfter: 1_000 }),
  "refuses with 503": every(2, { status: 503, body: "" }),
  "fails with 500": every(3, { status: 500, body: "<Error><Code>InternalError</Code></Error>" }),
  "is slow": every(1, { delay: 60, bandwidth: 4_000_000 }),
  "loses answers": every(3, { isLost: true }),
  "refuses everything": every(1, { status: 503, body: "" }),
};

/** The rows of a month: 3,000 codes on one day, with the number of the month as their value. */
const month = (number: number): string => {
  const date = `DATE '2020-01-01' + INTERVAL ${number} MONTH`;
  return `SELECT printf('%06d.SZ', i) AS ts_code, (${date})::DATE AS trade_date, ${number + 1} AS adj_factor FROM range(${CODES}) t(i)`;
};

const dayOf = (number: number): string =>
  `${2020 + Math.floor(number / 12)}-${String((number % 12) + 1).padStart(2, "0")}-01`;

type Outcome = "right" | "error" | "cut";

/** Reads some months as CSV. Throws if the response is short but whole, wrong, or an error that is not clear. */
async function read(server: TestServer, months: readonly number[]): Promise<Outcome> {
  const [first, last] = [dayOf(months[0]!), dayOf(months.at(-1)!)];
  const response = await server.get(
    `/api/v1/entities/adj_factor?start_date=${first}&end_date=${last}&format=csv&limit=1000000`,
  );
  if (response.status !== 200) {
    expect([response.status, await response.json()]).toMatchObject([503, { code: "data_unavailable" }]);
    return "error";
  }
  const text = await response.text().catch(() => null);
  if (text === null) return "cut";
  const values = text
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => Number(line.split(",")[2]));
  expect(values).toEqual(months.flatMap((number) => Array.from({ length: CODES }, () => number + 1)));
  return "right";
}

describe.skipIf(!STORES.includes("bucket"))("while the bucket", () => {
  afterEach(() => {
    bucketProxy().fault = () => undefined;
  });

  test.each(someOf(Object.keys(FAULTS), 3))(
    "%s, no response is short but whole, and then all is served",
    async (kind) => {
      const address = await newAddress("bucket");
      const writer = await newMirror(address);
      for (let number = 0; number < MONTHS; number++) await publishRows(writer, { adj_factor: month(number) });
      const reader = await newMirror(address);
      await pull(reader);
      const server = await serve(reader, { copies: "none", cache: "none" });
      let requests = 0;
      bucketProxy().fault = () => FAULTS[kind]!(requests++);
      const numbers = Array.from({ length: MONTHS }, (_, i) => i);
      const reads = [numbers, ...numbers.map((number) => [number])];
      const outcomes = await Promise.all(reads.map((months) => read(server, months)));
      expect(requests).toBeGreaterThan(0);
      if (kind === "refuses everything") expect(new Set(outcomes)).toEqual(new Set(["error"]));
      bucketProxy().fault = () => undefined;
      for (const months of reads) expect(await read(server, months)).toBe("right");
      await server.close();
    },
  );

  test.each(someOf(Object.keys(FAULTS), 3))(
    "%s, an import is published once or fails, and is then served",
    async (kind) => {
      const address = await newAddress("bucket");
      const writer = await newMirror(address);
      await dropFactors(writer, ["000001.SZ,20200101,1"]);
      const reader = await newMirror(address);
      await pull(reader);
      const server = await serve(reader, { copies: "none", cache: "none" });
      let requests = 0;
      bucketProxy().fault = () => FAULTS[kind]!(requests++);
      const drops = [2, 3, 4].map((day) => `000001.SZ,2020010${day},${day}`);
      const failed: string[] = [];
      for (const line of drops) {
        await dropFactors(writer, [line]).catch((error: unknown) => {
          expect(String(error)).toMatch(/does not answer|not known whether|503|500/);
          failed.push(line);
        });
        const { rows } = await server.json("/api/v1/entities/adj_factor?ts_code=000001.SZ").catch(() => ({ rows: [] }));
        expect(rows.length).toBeLessThanOrEqual(4);
      }
      bucketProxy().fault = () => undefined;
      for (const line of failed) await dropFactors(writer, [line]);
      await pull(reader);
      const versions = await (await openLake(reader)).versions();
      expect(versions.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
      const { data_version } = versions.at(-1)!;
      const { rows } = await server.json(
        `/api/v1/entities/adj_factor?ts_code=000001.SZ&data_version=${encodeURIComponent(data_version)}`,
      );
      expect(rows.map((row) => row[2])).toEqual([1, 2, 3, 4]);
      await server.close();
    },
  );
});
