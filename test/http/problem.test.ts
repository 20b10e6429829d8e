import type { AddressInfo } from "node:net";
import express from "express";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Problem, PROBLEMS, type ProblemCode } from "../../src/errors.js";
import { openLog } from "../../src/http/observe.js";
import { openApi } from "../../src/http/openapi/index.js";
import { onlyGet, problemHandler } from "../../src/http/problem.js";
import { readDescription, type Json } from "../support/openapi.js";

const document: Json = openApi();
const description = readDescription(document);

/** Fails at /<code> with that problem, and at /fault with an error that is no problem. */
const app = express();
const logged: string[] = [];
app.use(onlyGet);
app.get("/fault", () => {
  throw new TypeError("a secret of the server");
});
app.get("/:code", (req) => {
  throw new Problem(req.params.code as ProblemCode, "why", { parameter: "limit", allowed: ["1"], hint: "do this" });
});
app.use(problemHandler({ log: openLog("error", (line) => logged.push(line)) }));
const server = app.listen(0, "127.0.0.1");

beforeAll(async () => {
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
});
afterAll(() => server.close());

const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`, init);

async function expectDescribed(response: Response): Promise<Json> {
  const { headers, content } = document.components.responses[`Problem${response.status}`];
  for (const [name, { schema }] of Object.entries<Json>(headers)) {
    const value = response.headers.get(name);
    expect(description.checker(schema)(schema.type === "integer" ? Number(value) : value), `${name}: ${value}`).toBe(
      true,
    );
  }
  const body = await response.json();
  expect(description.checker(content["application/problem+json"].schema)(body)).toBe(true);
  return body;
}

describe("a problem document", () => {
  test.each(Object.keys(PROBLEMS).filter((code) => code !== "method_not_allowed"))(
    "of %s is as described",
    async (code) => {
      const response = await ask(code);
      expect(response.status).toBe(PROBLEMS[code as ProblemCode].status);
      expect(response.headers.get("content-type")).toContain("application/problem+json");
      expect(await expectDescribed(response)).toMatchObject({
        code,
        detail: "why",
        parameter: "limit",
        hint: "do this",
      });
    },
  );

  test("of another method says which methods there are", async () => {
    const response = await ask("unauthorized", { method: "DELETE" });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    await expectDescribed(response);
  });

  test("of an internal error has no details, which are only logged", async () => {
    const body = await expectDescribed(await ask("fault"));
    expect(body.code).toBe("internal_error");
    expect(JSON.stringify(body)).not.toContain("secret");
    expect(logged.join()).toContain("a secret of the server");
  });
});
