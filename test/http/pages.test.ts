import { beforeAll, describe, expect, test } from "vitest";
import { ENTITY_NAMES } from "../../src/catalog/index.js";
import type { Catalog } from "../../src/web/types.js";
import { temporaryFolder } from "../support/folders.js";
import { serve, type TestServer } from "../support/server.js";

let server: TestServer;

beforeAll(async () => {
  server = await serve(await temporaryFolder());
});

const ask = (path: string, init: RequestInit = {}): Promise<Response> => fetch(server.url + path, init);

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

describe("the page and the reference", () => {
  test.each([
    ["/", "text/html; charset=utf-8", `${POLICY}; require-trusted-types-for 'script'; trusted-types 'none'`],
    ["/docs", "text/html; charset=utf-8", POLICY],
    ["/web/main.js", "text/javascript; charset=utf-8", null],
    ["/web/styles/page.css", "text/css; charset=utf-8", null],
    ["/web/icon.svg", "image/svg+xml", null],
    ["/web/vendor/lightweight-charts.js", "text/javascript; charset=utf-8", null],
    ["/web/vendor/swagger-ui.LICENSE.txt", "text/plain; charset=utf-8", null],
  ])("are public: %s, by GET, by HEAD and by its validator", async (path, contentType, policy) => {
    const answer = await ask(path);
    const body = await answer.text();
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, contentType]);
    expect(answer.headers.get("content-security-policy")).toBe(
      policy ?? "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("cache-control")).toBe("no-cache");
    const head = await ask(path, { method: "HEAD" });
    expect([head.status, Number(head.headers.get("content-length"))]).toEqual([200, Buffer.byteLength(body)]);
    const validator = { "If-None-Match": answer.headers.get("etag")!, "Cache-Control": "max-age=0" };
    const again = await ask(path, { headers: validator });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  test.each([
    ["If-Match", '"other"'],
    ["If-Unmodified-Since", "Thu, 01 Jan 1970 00:00:00 GMT"],
    ["Range", "bytes=5-9"],
    ["Range", "bytes=99999999-"],
  ])("are never sent in ranges, whatever %s says: %s", async (name, value) => {
    const answer = await ask("/", { headers: { [name]: value } });
    expect([answer.status, await answer.text()]).toEqual([200, await (await ask("/")).text()]);
  });

  test("load nothing from another host, and contain nothing inline", async () => {
    for (const path of ["/", "/docs"]) {
      const html = await (await ask(path)).text();
      expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
      expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=/);
    }
  });

  test("know every entity without a token, and no data", async () => {
    const answer = await ask("/web/catalog.json");
    const { entities, units, problems } = (await answer.json()) as Catalog;
    expect(entities.map(({ name }) => name)).toEqual(ENTITY_NAMES);
    expect(entities[0]!.parameters).toEqual(expect.arrayContaining(["start_date", "end_date", "adjust", "limit"]));
    expect(entities[0]!.columns.find(({ name }) => name === "vol")).toEqual({
      ...{ name: "vol", type: "float64", nullable: true, meaning: "Volume", chinese: "成交量", unit: "lots" },
    });
    expect([units.lots, problems["unknown_entity"]]).toEqual(["手", "没有这个数据表"]);
  });
});

describe("a slash at the end", () => {
  test.each(["/health/", "/openapi.json/", "/web/catalog.json/"])("changes nothing at %s", async (path) => {
    expect((await ask(path)).status).toBe(200);
  });

  test("of /docs/ leads to /docs, below any path of a proxy, by GET and by HEAD", async () => {
    for (const method of ["GET", "HEAD"]) {
      const answer = await ask("/docs/", { method, redirect: "manual" });
      expect([answer.status, answer.headers.get("location")]).toEqual([308, "../docs"]);
    }
    const found = await ask("/docs/");
    expect([found.status, found.url]).toEqual([200, `${server.url}/docs`]);
  });
});

describe("beside them", () => {
  test.each([
    "/web/",
    "/web/nothing.js",
    "/web/../package.json",
    "/web/%2e%2e/main.js",
    "/docs/x",
    "/web/main.js/",
    "/page",
    "/web/.built",
  ])("%s is no route", async (path) => {
    const answer = await ask(path);
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([404, "unknown_route"]);
  });

  test.each(["/", "/docs", "/web/main.js"])("%s takes no other method", async (path) => {
    const answer = await ask(path, { method: "POST" });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});
