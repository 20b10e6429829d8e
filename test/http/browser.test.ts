// How a browser applies our CORS headers.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeInBrowser, openPage } from "../support/browser.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, TOKEN } from "../support/server.js";

/** A web site of another origin, without content. */
let site: Server;
let origin: string;
let root: string;

beforeAll(async () => {
  root = await temporaryFolder();
  await publishRows(root, {
    weekly: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-05' + d::INT AS trade_date FROM range(3) t(d)",
  });
  site = createServer((_req, res) => res.setHeader("Content-Type", "text/html").end("<!doctype html><title>a</title>"));
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});

afterAll(() => void site.close());

describeInBrowser("a page of another origin", () => {
  const pull = async (url: string): Promise<unknown> => {
    const { page } = await openPage(origin);
    await page.goto(origin);
    return page.evaluate(
      async ([address, token]) => {
        try {
          const answer = await fetch(address!, { headers: { Authorization: `Bearer ${token!}` } });
          const { rows } = (await answer.json()) as { rows: unknown[] };
          return [answer.status, rows.length, answer.headers.get("X-Data-Version") !== null];
        } catch (error) {
          return String(error);
        }
      },
      [`${url}/api/v1/entities/weekly`, TOKEN],
    );
  };

  test("reads rows and their headers if its origin is listed", async () => {
    expect(await pull((await serve(root, { corsOrigin: origin })).url)).toEqual([200, 3, true]);
  });

  test("sees nothing if it is not", async () => {
    expect(await pull((await serve(root)).url)).toContain("TypeError");
  });
});
