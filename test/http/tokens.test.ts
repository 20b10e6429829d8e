// Requests while the token file is damaged, edited manually, or in a directory other than the one opened.
import { cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { hashToken } from "../../src/lake/tokens.js";
import { createToken, revokeToken } from "../../src/store/tokens.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, type TestServer } from "../support/server.js";

const WEEKLY = "/api/v1/entities/weekly";

let root: string;
let file: string;

beforeEach(async () => {
  root = await temporaryFolder();
  file = join(root, "state/tokens.json");
  await mkdir(join(root, "state"));
});

const bearer = (secret: string) => ({ Authorization: `Bearer ${secret}` });
const statusOf = async ({ get }: TestServer, secret: string, path = WEEKLY): Promise<number> =>
  (await get(path, bearer(secret))).status;
const healthOf = async ({ url }: TestServer) => (await fetch(`${url}/health`)).json() as Promise<object>;
const publish = (folder = root, day = 5) =>
  publishRows(folder, { weekly: `SELECT '000001.SZ' AS ts_code, DATE '2024-01-0${day}' AS trade_date` });
const create = (folder: string, name: string) =>
  createToken(folder, name, { entities: null, expires: null }, new Date());

test("a malformed record authorizes no request, and the log names it once", async () => {
  const record = (name: string, change: object) => ({
    ...{ name, sha256: hashToken(name), entities: null, expires: null, created: "2026-01-01T00:00:00Z" },
    ...change,
  });
  await writeFile(
    file,
    JSON.stringify([
      record("no-end", { expires: "garbage" }),
      record("words", { entities: "daily weekly" }),
      record("no-list", { entities: undefined }),
      record("turned\u202e", { expires: 0 }),
      record("good", { entities: ["weekly"] }),
    ]),
  );
  const server = await serve(root);
  for (const name of ["no-end", "words", "no-list", "turned\u202e"]) {
    expect(await statusOf(server, encodeURIComponent(name))).toBe(401);
    if (!name.endsWith("\u202e")) expect(await statusOf(server, name)).toBe(401);
  }
  expect(await statusOf(server, "good")).toBe(200);
  expect(await statusOf(server, "good", "/api/v1/entities/daily")).toBe(403);
  const told = server.logged.map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(told).toEqual([
    expect.stringMatching(/^record 1 \(no-end\) of the token file is not a valid token: .* expires/),
    expect.stringMatching(/^record 2 \(words\) .* entities/),
    expect.stringMatching(/^record 3 \(no-list\) .* entities/),
    expect.stringMatching(/^record 4 \("turned\\u202e"\) .* expires/),
  ]);
  expect(server.logged.join("")).not.toContain("\u202e");
});

test("while the file is damaged its tokens stay valid, health is degraded, and the log says so once", async () => {
  await publish();
  const alice = await create(root, "alice");
  const server = await serve(root);
  expect(await healthOf(server)).toMatchObject({ status: "ok" });
  const text = await readFile(file, "utf8");
  await writeFile(file, text.slice(0, -20));
  await vi.waitFor(async () =>
    expect(await healthOf(server)).toMatchObject({ status: "degraded", databases: { state: false } }),
  );
  for (let i = 0; i < 3; i++) await server.context.tokens.refresh().catch(() => undefined);
  expect(await statusOf(server, alice)).toBe(200);
  expect(await statusOf(server, "wrong")).toBe(401);
  await vi.waitFor(() => expect(server.logged).toHaveLength(1));
  expect(JSON.parse(server.logged[0]!)).toMatchObject({ level: "error", msg: "cannot read the token file" });
  await writeFile(file, text);
  await vi.waitFor(async () => expect(await healthOf(server)).toMatchObject({ status: "ok" }));
  await revokeToken(root, "alice");
  await vi.waitFor(async () => expect(await statusOf(server, alice)).toBe(401));
  expect(server.logged).toHaveLength(1);
});

test("if tokens cannot be checked the response is 503, and the static token and public routes work", async () => {
  await publish();
  await writeFile(file, '{"name": "alice"}');
  const server = await serve(root);
  for (const path of [WEEKLY, "/api/v1/meta", "/metrics"]) {
    const answer = await server.get(path, bearer("any"));
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "10"]);
    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({ code: "tokens_unavailable", status: 503 });
    expect(text).not.toContain(root);
    expect((await server.get(path)).status).toBe(200);
  }
  expect((await server.get(WEEKLY, { Authorization: "" })).status).toBe(401);
  const body = JSON.stringify({ api_name: "weekly", token: "any" });
  const asked = await fetch(`${server.url}/tushare`, { method: "POST", body });
  expect(await asked.json()).toMatchObject({ code: 503, data: null });
  expect((await fetch(`${server.url}/openapi.json`)).status).toBe(200);
});

test("a damaged pointer hides neither a damaged token file nor a revoked token", async () => {
  await publish();
  const alice = await create(root, "alice");
  const server = await serve(root);
  await writeFile(join(root, "state/current"), "garbage");
  await vi.waitFor(() => expect(server.logged).toHaveLength(1));
  await revokeToken(root, "alice");
  await vi.waitFor(async () => expect(await statusOf(server, alice)).toBe(401));
  await writeFile(file, "[{");
  await vi.waitFor(() => expect(server.logged).toHaveLength(2));
  expect(server.logged.join("\n")).toContain("tokens.json is damaged");
});

/** Directories that are not the one opened, each made at `folder`; resolves to the secret of a token that it holds. */
const STRANGERS: Readonly<Record<string, (folder: string) => Promise<string>>> = {
  async "another lake"(folder) {
    for (const day of [2, 3, 4]) await publish(folder, day);
    return create(folder, "mallory");
  },
  async "another lake with a damaged pointer"(folder) {
    await publish(folder, 2);
    await writeFile(join(folder, "state/current"), "garbage");
    return create(folder, "mallory");
  },
  async "an older backup"(folder) {
    const mallory = await create(root, "mallory");
    await cp(root, folder, { recursive: true });
    await revokeToken(root, "mallory");
    await publish(root, 4);
    return mallory;
  },
};

describe.each(Object.entries(STRANGERS))("if %s replaces the data directory", (_name, make) => {
  const META = "/api/v1/meta";
  let base: string;
  let alice: string;
  let mallory: string;

  beforeEach(async () => {
    base = await temporaryFolder();
    root = join(base, "data");
    await publish();
    alice = await create(root, "alice");
    mallory = await make(join(base, "other"));
  });
  const replace = async (): Promise<void> => {
    await rename(root, join(base, "aside"));
    await rename(join(base, "other"), root);
  };
  const bringBack = async (): Promise<void> => {
    await rm(root, { recursive: true });
    await rename(join(base, "aside"), root);
  };
  const expectWell = async (server: TestServer): Promise<void> => {
    await vi.waitFor(async () => expect(await healthOf(server)).toMatchObject({ status: "ok" }), 10_000);
    expect([await statusOf(server, alice, META), await statusOf(server, mallory, META)]).toEqual([200, 401]);
    const bob = await create(root, "bob");
    expect(await statusOf(server, bob, META)).toBe(200);
    await revokeToken(root, "alice");
    await vi.waitFor(async () => expect(await statusOf(server, alice, META)).toBe(401), 10_000);
  };

  test("its tokens are refused, the earlier ones stay valid, and the file is followed again when it is back", async () => {
    const server = await serve(root);
    expect([await statusOf(server, alice, META), await statusOf(server, mallory, META)]).toEqual([200, 401]);
    await replace();
    const expectRefused = async (): Promise<void> => {
      expect([401, 503]).toContain(await statusOf(server, mallory, META));
      expect(await statusOf(server, alice, META)).toBe(200);
    };
    await expectRefused();
    await expect(server.context.tokens.refresh()).rejects.toThrow("the data directory holds");
    expect(server.context.tokens.isSound()).toBe(false);
    await expectRefused();
    await bringBack();
    await expectWell(server);
  });

  test("a server that starts then and continues from the lake accepts no token until it is back", async () => {
    const first = await serve(root);
    const after = first.context.lake.mark();
    await replace();
    const server = await serve(root, {}, {}, { lake: { after, waits: true }, tokens: { wasThere: true } });
    for (const secret of [alice, mallory]) {
      expect(await (await server.get(META, bearer(secret))).json()).toMatchObject({ code: "tokens_unavailable" });
    }
    await bringBack();
    await expectWell(server);
  });
});
