// Two replicas of a lake in a bucket behind nginx, as docs/object-storage.md puts them.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { bucketProxy, newAddress, newMirror, pull } from "../support/mirrors.js";
import { AUTHORIZED, serveInProcess, until } from "../support/processes.js";
import { freePort, serve, TOKEN, type TestServer } from "../support/server.js";
import { hasVersitygw } from "../support/versitygw.js";

const FILES = join(import.meta.dirname, "../../deploy/kubernetes/components/routing");
const isPossible = hasVersitygw && spawnSync("nginx", ["-v"]).status === 0;

let nginx: ChildProcess | undefined;
let replicas: readonly TestServer[] = [];
let address = "";
let url = "";

/** Our files, with these replicas. Debian's nginx is too old to follow names. */
function configurationFor(port: number, folder: string): string {
  const servers = replicas.map((one) => `server ${new URL(one.url).host};`).join("\n");
  const ours = readFileSync(join(FILES, "replicas.conf"), "utf8")
    .replace(/^resolver .*$/m, "")
    .replace(/( *server \S+ resolve;\n)+/, `${servers}\n`)
    .replace("listen 8080;", `listen 127.0.0.1:${port};\n add_header X-Replica $upstream_addr;`);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/temp/${name};`,
  );
  const http = `access_log off; ${temporary.join(" ")}\n${readFileSync(join(FILES, "route.conf"), "utf8")}\n${ours}`;
  return `daemon off; pid ${folder}/pid; error_log stderr; events {} http { ${http} }`;
}

/** The first digits of codes. */
const PARTS = ["0000", "0020", "0023", "3000", "3007", "6000", "6005", "6010", "6018", "6880"];
const codeOf = (part: string, rest: string): string => `${part}${rest}.${part.startsWith("6") ? "SH" : "SZ"}`;

beforeAll(async () => {
  if (!isPossible) return;
  address = await newAddress("bucket");
  const codes = PARTS.flatMap((part) => ["01", "02", "57"].map((rest) => `('${codeOf(part, rest)}')`)).join(",");
  const rows = `SELECT code AS ts_code, day::DATE AS trade_date, 1.5 AS close FROM (VALUES ${codes}) c(code),
    range(DATE '2024-01-01', DATE '2024-12-31', INTERVAL 7 DAY) d(day)`;
  await publishRows(await newMirror(address), { daily: rows, weekly: rows });
  const mirrors = [await newMirror(address), await newMirror(address)];
  for (const mirror of mirrors) await pull(mirror);
  replicas = await Promise.all(mirrors.map((mirror) => serve(mirror)));
  const [folder, port] = [await temporaryFolder(), await freePort()];
  mkdirSync(join(folder, "temp"));
  writeFileSync(join(folder, "nginx.conf"), configurationFor(port, folder));
  nginx = spawn("nginx", ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")], { stdio: "ignore" });
  url = `http://127.0.0.1:${port}`;
  await until("nginx answers", () => fetch(`${url}/health`).then(({ ok }) => ok, () => undefined)); // prettier-ignore
}, 240_000);
afterAll(async () => {
  const ended = new Promise((resolve) => nginx?.once("close", resolve));
  if (nginx?.kill("SIGQUIT")) await ended;
});

/** The replica that answered, and the status. */
async function ask(
  path: string,
  init: RequestInit = {},
): Promise<{ readonly replica: string; readonly status: number }> {
  const answer = await fetch(`${url}/api/v1/${path}`, {
    ...init,
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
  });
  await answer.arrayBuffer();
  return { replica: answer.headers.get("x-replica")!, status: answer.status };
}

const replicasOf = async (...paths: readonly string[]): Promise<ReadonlySet<string>> =>
  new Set((await Promise.all(paths.map((path) => ask(path)))).map(({ replica }) => replica));

const title = isPossible ? "behind nginx" : "behind nginx (skipped: nginx or the S3 server is not here)";

describe.skipIf(!isPossible)(title, () => {
  test("requests for neighbouring stocks go to the same replica, those for others to any", async () => {
    for (const part of PARTS) {
      const paths = [codeOf(part, "01"), `${codeOf(part, "02")}&limit=1`, `${codeOf(part, "57")},000001.SZ`].map(
        (codes) => `entities/daily?ts_code=${codes}`,
      );
      expect((await replicasOf(...paths, `entities/daily?fields=close&ts_code=${codeOf(part, "01")}`)).size).toBe(1);
    }
    expect((await replicasOf(...PARTS.map((part) => `entities/daily?ts_code=${codeOf(part, "01")}`))).size).toBe(2);
  });

  test("requests for days of a month go to the same replica, however the date is written", async () => {
    for (const month of ["01", "05", "09"]) {
      const paths = [
        `entities/weekly?trade_date=2024${month}01`,
        `entities/weekly?trade_date=2024-${month}-15`,
        `entities/weekly?start_date=2024${month}03&end_date=20241231`,
      ];
      expect((await replicasOf(...paths)).size).toBe(1);
    }
    const months = Array.from({ length: 12 }, (_, i) => String(i + 1).padStart(2, "0"));
    expect((await replicasOf(...months.map((month) => `entities/weekly?trade_date=2024${month}01`))).size).toBe(2);
  });

  test("requests that name neither, and those with a body, are spread", async () => {
    expect((await replicasOf(...Array.from({ length: 20 }, () => "meta"))).size).toBe(2);
    const body = JSON.stringify({ ts_code: "000001.SZ", limit: 1 });
    const asked = Array.from({ length: 20 }, () => ask("entities/daily/query", { method: "POST", body }));
    const answers = await Promise.all(asked);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(new Set(answers.map(({ replica }) => replica)).size).toBe(2);
  });

  test("when a replica ends, the others answer for it", async () => {
    const [gone, left] = replicas;
    await gone!.close();
    const answers = await Promise.all(PARTS.map((part) => ask(`entities/daily?ts_code=${codeOf(part, "01")}`)));
    expect(answers.map(({ status }) => status)).toEqual(PARTS.map(() => 200));
    expect(answers.every(({ replica }) => replica.endsWith(new URL(left!.url).host))).toBe(true);
  });
});

test.skipIf(!hasVersitygw)(
  "while the bucket is away, a replica serves what it has, and its health has status 200",
  async () => {
    const place = await newAddress("bucket");
    await publishRows(await newMirror(place), {
      daily: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date",
    });
    const options = [
      "--no-watch",
      "--mirror",
      join(await temporaryFolder(), "mirror"),
      "--temp",
      await temporaryFolder(),
    ];
    const replica = await serveInProcess(place, ...options);
    const rows = async (): Promise<number> =>
      (await fetch(`${replica.url}/api/v1/entities/daily`, { headers: AUTHORIZED })).status;
    const healthOnce = (status: string): Promise<object> =>
      until(`its health is ${status}`, async () => {
        const answer = await fetch(`${replica.url}/health`);
        const found = (await answer.json()) as { readonly status: string };
        return found.status === status ? { http: answer.status, ...found } : undefined;
      });
    expect(await rows()).toBe(200);
    await bucketProxy().leave();
    expect(await healthOnce("degraded")).toMatchObject({ http: 200, bucket: false });
    expect(await rows()).toBe(200);
    await bucketProxy().comeBack();
    expect(await healthOnce("ok")).toMatchObject({ http: 200 });
  },
);
