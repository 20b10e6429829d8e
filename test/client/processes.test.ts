// The client in worker threads and in the processes of a cluster.
import cluster from "node:cluster";
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../src/client/index.js";
import { demoLake } from "../support/demo.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";
import { isLong } from "../support/size.js";

const SCRIPT = join(import.meta.dirname, "../support/ask-codes.mjs");

describe.runIf(isLong)("the client in", () => {
  let server: TestServer;
  let codes: string[];

  beforeAll(async () => {
    server = await serve(await demoLake({ days: 60 }));
    const rows = await createClient({ url: server.url, token: TOKEN }).daily({ order: "desc", limit: 8 }).all();
    codes = rows.map((row) => row.ts_code);
  });

  /** Each of them asks for all codes, in an order of its own. */
  const orders = (): readonly (readonly string[])[] =>
    [0, 2, 4, 6].map((i) => [...codes.slice(i), ...codes.slice(0, i)]);

  test("four worker threads get the rows that they asked for", async () => {
    const asked = orders();
    const found = await Promise.all(
      asked.map(async (some) => {
        const worker = new Worker(SCRIPT, { workerData: { url: server.url, token: TOKEN, codes: some } });
        const [message] = (await once(worker, "message")) as [string[]];
        await worker.terminate();
        return message;
      }),
    );
    expect(found).toEqual(asked);
  });

  test("four processes of a cluster get the rows that they asked for", async () => {
    const asked = orders();
    cluster.setupPrimary({ exec: SCRIPT, execArgv: [] });
    const found = await Promise.all(
      asked.map(async (some) => {
        const ASKED = JSON.stringify({ url: server.url, token: TOKEN, codes: some });
        const worker = cluster.fork({ ASKED });
        const [message] = (await once(worker, "message")) as [string[]];
        return message;
      }),
    );
    expect(found).toEqual(asked);
  });
});
