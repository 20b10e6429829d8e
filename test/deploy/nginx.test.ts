// deploy/nginx.conf before a real server: what passes through it is what the server sent, as it is sent.
import { execFile, execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request, Agent } from "node:https";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/folders.js";
import { factors, publishRows } from "../support/lake.js";
import { until } from "../support/processes.js";
import { freePort, serve, TOKEN, type TestServer } from "../support/server.js";

const ROOT = join(import.meta.dirname, "../..");
const WIDE = "/api/v1/entities/adj_factor";
const ROWS = 2_000_000;
const hasNginx = spawnSync("nginx", ["-v"]).status === 0 && spawnSync("openssl", ["version"]).status === 0;

let nginx: ChildProcess | undefined;
let server: TestServer;
let url: string;

beforeAll(async () => {
  if (!hasNginx) return;
  const [root, folder] = [await temporaryFolder(), await temporaryFolder()];
  await publishRows(root, { adj_factor: factors(ROWS) });
  server = await serve(root);
  const port = await freePort();
  url = `https://localhost:${port}`;
  const pair = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost"];
  const files = ["-keyout", join(folder, "tapehouse.key"), "-out", join(folder, "tapehouse.pem")];
  execFileSync("openssl", ["req", ...pair, ...files], { stdio: "ignore" });
  const ours = readFileSync(join(ROOT, "deploy/nginx.conf"), "utf8")
    .replace("127.0.0.1:8080", new URL(server.url).host)
    .replace("listen 443", `listen 127.0.0.1:${port}`)
    .replaceAll("/etc/ssl/", `${folder}/`);
  mkdirSync(join(folder, "temp"));
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (n) => `${n}_temp_path ${folder}/temp/${n};`,
  );
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${temporary.join(" ")}\n${ours} }`,
  );
  nginx = spawn("nginx", ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")], { stdio: "ignore" });
  await until(
    "nginx answers",
    () =>
      curl("-o", "/dev/null", `${url}/health`).then(
        () => true,
        () => undefined,
      ),
    30_000,
  );
});
afterAll(() => void nginx?.kill("SIGQUIT"));

const curl = async (...args: readonly string[]): Promise<string> => {
  const given = ["-sSk", "-H", `Authorization: Bearer ${TOKEN}`, ...args];
  return (await promisify(execFile)("curl", given, { maxBuffer: 1 << 30 })).stdout;
};

const name = "through nginx";

describe.skipIf(!hasNginx)(hasNginx ? name : `${name} (skipped: nginx or openssl is not installed)`, () => {
  test("a wide answer streams: the rest waits in the server while the client has read only the beginning", async () => {
    const agent = new Agent({ rejectUnauthorized: false });
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { Authorization: `Bearer ${TOKEN}` };
      request(`${url}${WIDE}?format=ndjson`, { agent, headers }, resolve).on("error", reject).end();
    });
    let lines = 0;
    let wasOpen = false;
    for await (const piece of answer as AsyncIterable<Buffer>) {
      wasOpen ||= server.context.reader.load().streams.active > 0;
      for (const byte of piece) if (byte === 10) lines++;
    }
    agent.destroy();
    expect([answer.statusCode, lines, wasOpen]).toEqual([200, ROWS, true]);
  });

  test("HEAD, ETag with 304, packed answers and problems are as the server sent them", async () => {
    const path = `${url}${WIDE}?limit=5`;
    const head = await curl("-I", path);
    expect(head).toMatch(/^HTTP\/2 200/);
    const etag = /etag: (.*)\r/i.exec(head)![1]!;
    expect(await curl("-o", "/dev/null", "-w", "%{http_code}", "-H", `If-None-Match: ${etag}`, path)).toBe("304");
    const packed = await curl("-D", "-", "-o", "/dev/null", "--compressed", `${url}${WIDE}?limit=5000`);
    expect(packed).toMatch(/content-encoding: gzip/i);
    expect(await curl("-w", "%{http_code}", `${url}/api/v1/entities/dayly`)).toMatch(/"unknown_entity".*404$/s);
    const codes = Array.from({ length: 5_000 }, (_, i) => `${String(i).padStart(6, "0")}.SZ`).join(",");
    expect(await curl("-o", "/dev/null", "-w", "%{http_code}", `${url}${WIDE}?limit=1&ts_code=${codes}`)).toBe("200");
  });

  test.each([
    ["HTTP/1.1", "--http1.1", 18],
    ["HTTP/2", "--http2", 92],
  ])("an answer that the server cuts is cut for a client of %s, packed or not", async (_name, version, code) => {
    const { lake } = server.context;
    const [, second] = lake.current().files("adj_factor").byDate;
    const path = join(lake.layout.lake, second!.path);
    const bytes = readFileSync(path);
    const before = Buffer.from(bytes);
    bytes[5000]! ^= 0x10;
    writeFileSync(path, bytes);
    for (const flags of [[], ["--compressed"]]) {
      await expect(curl(version, "-o", "/dev/null", ...flags, url + WIDE)).rejects.toMatchObject({ code });
    }
    writeFileSync(path, before);
  });
});
