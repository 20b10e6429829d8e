import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { ENTITIES, ENTITY_NAMES } from "../../src/catalog/index.js";
import { run } from "../../src/cli/program.js";
import { PROBLEMS } from "../../src/errors.js";
import { createApp } from "../../src/http/app.js";
import { FORMATS } from "../../src/catalog/formats.js";
import { openApi } from "../../src/http/openapi/index.js";
import { parameterNames } from "../../src/catalog/parameters.js";
import { demoLake } from "../support/demo.js";
import { exampleQuery, readDescription, type DescribedOperation, type Json } from "../support/openapi.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";

const document: Json = openApi();
const description = readDescription(document);
const { operations } = description;
const queryNames = ({ parameters }: DescribedOperation): string[] =>
  parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);

let server: TestServer;

beforeAll(async () => {
  server = await serve(await demoLake({ days: 500 }));
});

/** Fails where an answer is not what the operation says: status, content type, headers, body. */
async function expectDescribed({ path, responses }: DescribedOperation, response: Response): Promise<Json> {
  const status = String(response.status);
  expect(Object.keys(responses), `${path}: ${status}`).toContain(status);
  for (const [name, reference] of Object.entries<Json>(responses[status].headers ?? {})) {
    const header = description.resolve(reference);
    const value = response.headers.get(name);
    if (value === null) expect(header.required, `${path}: ${status} without ${name}`).not.toBe(true);
    else if (header.schema.type !== "integer") expectValid(header.schema, value, `${path}: ${status} ${name}`);
  }
  const text = await response.text();
  const mediaType = response.headers.get("content-type")?.split(";")[0] ?? "";
  if (responses[status].content === undefined) return null;
  expect(Object.keys(responses[status].content), path).toContain(mediaType);
  if (!mediaType.endsWith("json") || mediaType === FORMATS.ndjson.mediaType) return text;
  const body = JSON.parse(text);
  expectValid(responses[status].content[mediaType].schema, body, `${path}: ${status}`);
  return body;
}

function expectValid(schema: Json, value: Json, what: string): void {
  const check = description.checker(schema);
  check(value);
  expect(check.errors ?? [], what).toEqual([]);
}

describe("the description", () => {
  test("is valid OpenAPI 3.1", async () => {
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
    for (const name of Object.keys(document.components.schemas)) {
      expect(description.checker({ $ref: `#/components/schemas/${name}` }), name).toBeTypeOf("function");
    }
  });

  test("has every route of the server, and no other", () => {
    const { stack } = createApp(server.context).router;
    const pathsOf = (layers: Json[], prefix: string): string[] =>
      layers.flatMap((layer) =>
        layer.route ? [`${prefix}${layer.route.path}`] : pathsOf(layer.handle.stack ?? [], "/api/v1"),
      );
    const routes = pathsOf(stack, "").flatMap((path) =>
      path.includes(":entity") ? ENTITY_NAMES.map((name) => path.replace(":entity", name)) : [path],
    );
    expect(routes.length).toBeGreaterThan(2 * ENTITIES.length);
    const named = routes.map((path) => path.replace("//", "/").replace(/:(\w+)/, "{$1}"));
    expect(description.paths.toSorted()).toEqual([...new Set(named)].sort());
  });

  test("has the parameters of every entity that the parser knows", () => {
    for (const entity of ENTITIES) {
      const operation = operations.find(({ path }) => path === `/api/v1/entities/${entity.name}`)!;
      expect(queryNames(operation), entity.name).toEqual(parameterNames(entity));
    }
  });

  test("has the parameters that every route accepts", async () => {
    for (const operation of operations) {
      const response = await server.get(`${operation.path}?no_such_parameter=1`);
      const problem = await expectDescribed(operation, response);
      expect([problem.code, problem.allowed.toSorted()]).toEqual(["unknown_parameter", queryNames(operation).sort()]);
    }
  });

  test("contains the operator's limits", () => {
    const { limit } = (openApi({ defaultLimit: 3, maxLimit: 4 }) as Json).components.parameters;
    expect(limit).toMatchObject({ schema: { default: 3, maximum: 4 }, example: 4 });
  });

  test("is served without a token, and printed by the command", async () => {
    for (const encoding of ["gzip", "identity", "gzip", "identity"]) {
      const served = await fetch(`${server.url}/openapi.json`, { headers: { "Accept-Encoding": encoding } });
      expect(served.headers.get("Content-Encoding") ?? "identity").toBe(encoding);
      expect(await served.json()).toEqual(document);
    }
    const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const exitCode = await run(["openapi"]);
    const printed = write.mock.calls.map(([text]) => String(text)).join("");
    write.mockRestore();
    expect([exitCode, JSON.parse(printed)]).toEqual([0, document]);
  });
});

/** Entities of which so small a market may lack the rows of the examples. */
const RARE = ["suspend_d", "index_member", "dividend"];

/** No example in the description can name a version of this server. */
const withExample = (parameter: DescribedOperation["parameters"][number]): typeof parameter =>
  parameter.name === "from" ? { ...parameter, example: server.context.lake.mark().data_version } : parameter;

describe("an answer is as described", () => {
  test.each(operations)("$path with its examples", async (operation) => {
    const parameters = operation.parameters.map(withExample);
    const { path } = operation;
    const body = await expectDescribed(operation, await server.get(path + exampleQuery(parameters)));
    const mayLackRows = path.endsWith("/changes") || RARE.includes(body?.entity);
    if (typeof body === "object" && "rows" in body && !mayLackRows) expect(body.rows).not.toEqual([]);
    const limit = parameters.find(({ name }) => name === "limit");
    for (const parameter of limit ? parameters.filter(({ example }) => example !== undefined) : []) {
      const others = parameters.filter(({ name, required }) => required && name !== parameter.name);
      const query = exampleQuery([...others, ...(parameter === limit ? [limit] : [parameter, limit!])]);
      const response = await server.get(path + query);
      expect(response.status, query).toBe(200);
      await expectDescribed(operation, response);
    }
  });

  test("to a query in a body, and the same as to one in the URL", async () => {
    const queries = Object.entries<Json>(document.paths).filter(([path]) => path.endsWith("/query"));
    expect(queries).toHaveLength(2 * ENTITIES.length + 1);
    for (const [path, { post }] of queries) {
      const get = operations.find((operation) => `${operation.path}/query` === path)!;
      const { example, schema } = post.requestBody.content["application/json"];
      expect(Object.keys(schema.properties), path).toEqual(queryNames(get));
      const asked = path.endsWith("/changes/query")
        ? { ...example, from: server.context.lake.mark().data_version }
        : example;
      expectValid(schema, asked, path);
      const answer = await fetch(server.url + path, {
        method: "POST",
        headers: { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" },
        body: JSON.stringify(asked),
      });
      const described = Object.entries<Json>(post.responses).map(([status, value]) => [
        status,
        description.resolve(value),
      ]);
      const body = await expectDescribed({ ...get, path, responses: Object.fromEntries(described) }, answer);
      const search = new URLSearchParams(
        Object.entries(asked).map(([name, value]): [string, string] => [name, String(value)]),
      );
      expect(body, path).toEqual(await server.json(`${get.path}?${search.toString()}`));
    }
  });

  test("in every format", async () => {
    const operation = operations.find(({ path }) => path === "/api/v1/entities/daily")!;
    const path = `${operation.path}?limit=3`;
    for (const [format, { mediaType }] of Object.entries(FORMATS)) {
      const response = await server.get(`${path}&format=${format}`);
      expect([response.status, response.headers.get("content-type")!.split(";")[0]]).toEqual([200, mediaType]);
      if (format !== "json") expect(response.headers.get("x-truncated")).toBe("true");
      await expectDescribed(operation, response);
    }
  });

  test("if it is requested again, or with HEAD", async () => {
    for (const operation of operations) {
      const path = operation.path + exampleQuery(operation.parameters.map(withExample));
      const first = await server.get(path);
      const etag = first.headers.get("etag");
      expect(etag !== null, path).toBe("304" in operation.responses);
      if (etag === null) continue;
      const again = await server.get(path, { "If-None-Match": etag });
      expect(again.status, path).toBe(304);
      await expectDescribed(operation, again);
      const head = await fetch(server.url + path, { method: "HEAD", headers: { Authorization: `Bearer ${TOKEN}` } });
      expect([head.status, head.headers.get("etag")]).toEqual([200, etag]);
    }
  });

  test.each([
    ["/api/v1/entities/daily", "?start_date=20240230", "invalid_parameter"],
    ["/api/v1/entities/daily", "?as_of=20240102", "as_of_not_supported"],
    ["/api/v1/entities/daily", "?cursor=abc&limit=1", "invalid_cursor"],
    ["/api/v1/entities/daily", "?data_version=2001-01-01T00:00:00.000%2B08:00", "unknown_version"],
    ["/api/v1/entities/daily/gaps", "?start_date=20240202&end_date=20240201", "contradictory_parameters"],
    ["/api/v1/calendar", "?is_open=1&is_open=0", "duplicate_parameter"],
    ["/api/v1/calendar/shift", "?n=1", "invalid_parameter"],
    ["/api/v1/calendar/shift", "?date=20240101&n=1", "not_a_trading_day"],
    ["/api/v1/calendar/shift", "?date=20240102&n=99999", "outside_calendar"],
  ] as const)("%s%s is refused: %s", async (path, query, code) => {
    const operation = operations.find((candidate) => candidate.path === path)!;
    const response = await server.get(path + query);
    expect(response.status).toBe(PROBLEMS[code].status);
    expect((await expectDescribed(operation, response)).code).toBe(code);
  });

  test("with a method that a path does not take, and the response names those that it takes", async () => {
    const taken = (path: string): string =>
      Object.keys(document.paths[path] as object)
        .map((method) => (method === "get" ? "GET, HEAD" : method.toUpperCase()))
        .join(", ");
    for (const path of description.paths) {
      const url = server.url + path.replaceAll(/\{\w+\}/g, "daily");
      for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]) {
        const { status, headers } = await fetch(url, { method });
        if (taken(path).split(", ").includes(method)) expect([method, path, status]).not.toContain(405);
        else expect([method, path, status, headers.get("Allow")]).toEqual([method, path, 405, taken(path)]);
      }
    }
  });

  test("without a token, with an unknown format, or with another method", async () => {
    for (const operation of operations) {
      const url = server.url + operation.path;
      const method = "post" in (document.paths[operation.path] as object) ? "PUT" : "POST";
      const other = await fetch(url, { method, headers: { Authorization: `Bearer ${TOKEN}` } });
      expect(other.status, operation.path).toBe(405);
      await expectDescribed(operation, other);
      const stranger = await fetch(url);
      expect(stranger.status, operation.path).toBe(operation.security.length === 0 ? 200 : 401);
      if (operation.security.length > 0) await expectDescribed(operation, stranger);
    }
    const daily = operations.find(({ path }) => path === "/api/v1/entities/daily")!;
    const refused = await server.get(daily.path, { Accept: "image/png" });
    expect((await expectDescribed(daily, refused)).code).toBe("not_acceptable");
  });
});
