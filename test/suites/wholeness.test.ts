// Every fault after the first byte × points of the stream × formats × encodings × clients: none accepts the body as complete.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ReadSession } from "../../src/engine/reader.js";
import { hasBrowser, openPage } from "../support/browser.js";
import {
  browserFetch,
  closingUndici,
  curl,
  hasPython,
  requests,
  undici,
  type Ask,
  type Client,
} from "../support/clients.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { endAll, isGone, serveInProcess, until, workersOf } from "../support/processes.js";
import { openWire, type Wire } from "../support/proxy.js";
import { serve, TOKEN } from "../support/server.js";
import { isLong, size } from "../support/size.js";

/** Each fault is combined with one of this many forms in turn. With 1 it is combined with all forms, clients and points. */
const EVERY = size("WHOLENESS", 8, 2);
const ALL = EVERY === 1;

/** So many that buffers hold only a small part: numbers that do not compress. */
const ROWS = 2_000_000;
const RANDOM = `SELECT printf('%06d.SZ', i % 5000) AS ts_code, DATE '2020-01-01' + (i // 5000)::INT AS trade_date,
  (hash(i) % 1000000007) / 1000.0 AS adj_factor FROM range(${ROWS}) t(i)`;

interface Form {
  readonly format: "json" | "ndjson" | "csv" | "arrow" | "parquet";
  readonly encoding: Ask["encoding"];
}

const FORMS: readonly Form[] = [
  ...(["json", "ndjson", "csv", "arrow"] as const).flatMap((format) => [
    { format, encoding: "identity" } as const,
    { format, encoding: "gzip" } as const,
  ]),
  { format: "parquet", encoding: "identity" },
];
/** Bytes of the answer after which the fault happens. */
const POINTS = [1, 300_000, 1_500_000];

const CLIENTS = ["curl", "undici", "closingUndici", "requests", "browser"] as const;

/** A browser always asks for gzip. */
const canAsk = (client: (typeof CLIENTS)[number], { encoding, format }: Form): boolean =>
  (client !== "requests" || hasPython) &&
  (client !== "browser" || (hasBrowser && (encoding === "gzip" || format === "parquet")));

interface Case extends Form {
  readonly client: (typeof CLIENTS)[number];
  readonly point: number;
}

/** The cases of a fault: all of them, or one for every so many forms. `turn` shifts who comes first. */
function casesOf(turn: number, points: readonly number[] = POINTS): readonly Case[] {
  return FORMS.flatMap((form, i) => {
    const cases = CLIENTS.filter((client) => canAsk(client, form)).flatMap((client) =>
      points.map((point) => ({ ...form, client, point })),
    );
    if (ALL) return cases;
    return points.length === 1 || (i + turn) % EVERY === 0 ? [cases[(i * 5 + turn * 7) % cases.length]!] : [];
  });
}

/** Each client once, each time with another form. */
const oneOfEachClient = (): readonly Case[] =>
  CLIENTS.map((client, i) => ({ ...FORMS[2 * i + (i % 2)]!, client, point: 1 })).filter((one) =>
    canAsk(one.client, one),
  );

const nameOf = ({ format, encoding, client, point }: Case): string => `${client} ${format} ${encoding} at ${point}`;

let root: string;
const wires: Wire[] = [];

beforeAll(async () => {
  root = await temporaryFolder();
  await publishRows(root, { adj_factor: RANDOM });
});

afterAll(async () => {
  for (const wire of wires) wire.close();
  await endAll();
});

const pages = new Map<string, Client>();

/** The browser's page is one of the origin that it asks. */
async function clientNamed(name: Case["client"], url: string): Promise<Client> {
  if (name !== "browser") return { curl, undici, closingUndici, requests }[name];
  const known = pages.get(url);
  if (known) return known;
  const { page } = await openPage(url, { bypassCSP: true });
  await page.goto(`${url}/health`);
  pages.set(url, browserFetch(page));
  return pages.get(url)!;
}

/** What the client makes of the answer; `fault` is what happens when the bytes of the case have passed. */
async function outcomeOf(wire: Wire, one: Case, token = TOKEN, fault?: () => Promise<void>): Promise<string> {
  const client = await clientNamed(one.client, wire.url);
  let happening = fault ? undefined : Promise.resolve();
  wire.arm(fault ? one.point : Infinity, async () => {
    happening = fault?.();
    await happening?.catch(() => undefined);
  });
  const url = `${wire.url}/api/v1/entities/adj_factor?format=${one.format}`;
  const outcome = await client({ url, token, encoding: one.encoding });
  await happening;
  return happening ? outcome : `${outcome} before anything happened`;
}

async function wireTo(url: string): Promise<Wire> {
  const wire = await openWire(url);
  wires.push(wire);
  return wire;
}

async function expectCut(cases: readonly Case[], ask: (one: Case) => Promise<string>): Promise<void> {
  for (const one of cases) expect([nameOf(one), await ask(one)]).toEqual([nameOf(one), "cut"]);
}

const LONG = ALL ? 3_600_000 : 600_000;

describe("no client accepts a response as complete", () => {
  test(
    "whose query fails; and without a fault each takes it for whole",
    async () => {
      const server = await serve(root, { cache: "none" });
      const wire = await wireTo(server.url);
      for (const one of isLong ? casesOf(0, [1]) : oneOfEachClient())
        expect([nameOf(one), await outcomeOf(wire, one)]).toEqual([nameOf(one), "whole"]);
      expect(wire.passed()).toBeGreaterThan(15_000_000);

      const { reader } = server.context;
      const open = reader.open.bind(reader);
      let rowsLeft = 0;
      async function* failingAfter<B extends { readonly numRows: number }>(batches: AsyncIterable<B>) {
        for await (const batch of batches) {
          if ((rowsLeft -= batch.numRows) < 0) throw new Error("the query failed");
          yield batch;
        }
      }
      const failing = async (...given: Parameters<typeof open>): Promise<ReadSession> => {
        const session = await open(...given);
        return {
          close: () => session.close(),
          read: (scans, columns, wanted) => failingAfter(session.read(scans, columns, wanted)),
          readEncoded: (scans, columns, form) => failingAfter(session.readEncoded(scans, columns, form)),
        };
      };
      Object.assign(reader, { open: failing });
      await expectCut(casesOf(1, [100_000, 1_100_000, 1_900_000]), async (one) => {
        rowsLeft = one.point;
        return outcomeOf(wire, one);
      });
    },
    LONG,
  );

  test(
    "that meets a damaged file",
    async () => {
      const server = await serve(root, { cache: "none" });
      const wire = await wireTo(server.url);
      const { layout, current } = server.context.lake;
      const files = current().files("adj_factor").byDate;
      await expectCut(casesOf(2, [1, files.length - 1]), async (one) => {
        const path = join(layout.lake, files[one.point]!.path);
        const bytes = await readFile(path);
        const damaged = Buffer.from(bytes);
        damaged[5000]! ^= 0x10;
        await writeFile(path, damaged);
        const outcome = await outcomeOf(wire, one);
        await writeFile(path, bytes);
        return outcome;
      });
    },
    LONG,
  );

  test(
    "that takes longer than its deadline",
    async () => {
      const deadline = 4000;
      const server = await serve(root, { cache: "none" }, { deadline });
      const wire = await wireTo(server.url);
      await expectCut(casesOf(3), async (one) => {
        return outcomeOf(wire, one, TOKEN, () => sleep(deadline + 500));
      });
    },
    LONG,
  );

  test(
    "whose worker is killed",
    async () => {
      const temp = await temporaryFolder();
      const start = () => serveInProcess(root, "--temp", temp, "--workers", "1", "--cache", "none", "--no-watch");
      let server = await start();
      let wire = await wireTo(server.url);
      let kills = 0;
      await expectCut(casesOf(4), async (one) => {
        // A server whose workers die again and again gives up.
        if (++kills % 5 === 0) {
          await endAll();
          server = await start();
          wire = await wireTo(server.url);
        }
        const worker = await until("it has a worker", () => workersOf(server)[0]);
        return outcomeOf(wire, one, "t", async () => {
          process.kill(worker, "SIGKILL");
          await until("it is gone", () => isGone(worker) || undefined);
        });
      });
      await endAll();
    },
    LONG,
  );

  test(
    "whose server is killed as a whole",
    async () => {
      const temp = await temporaryFolder();
      await expectCut(casesOf(5), async (one) => {
        const server = await serveInProcess(root, "--temp", temp, "--workers", "1", "--cache", "none", "--no-watch");
        const wire = await wireTo(server.url);
        const outcome = await outcomeOf(wire, one, "t", async () => {
          const [worker] = workersOf(server);
          server.child.kill("SIGKILL");
          await until("all is gone", () => isGone(worker!) || undefined);
        });
        await server.ended;
        return outcome;
      });
    },
    LONG,
  );
});
