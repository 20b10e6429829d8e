import { execFileSync } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import { get, type RequestOptions } from "node:https";
import { join } from "node:path";
import { connect, TLSSocket } from "node:tls";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { exposureOf } from "../../src/http/exposure.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";

const hasOpenssl = (() => {
  try {
    return execFileSync("openssl", ["version"]).length > 0;
  } catch {
    return false;
  }
})();

let root: string;
let folder: string;

/** A certificate of its own signing, made anew. */
function certificate(name: string, subject = "localhost"): { tlsCert: string; tlsKey: string } {
  const [tlsCert, tlsKey] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  const key = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const args = ["req", ...key, "-days", "2", "-subj", `/CN=${subject}`, "-keyout", tlsKey, "-out", tlsCert];
  execFileSync("openssl", args, { stdio: "ignore" });
  return { tlsCert, tlsKey };
}

beforeAll(async () => {
  root = await temporaryFolder();
  folder = await temporaryFolder();
  await publishRows(root, { weekly: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-05' AS trade_date" });
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly subject: string;
}

function ask({ url }: TestServer, path: string, options: RequestOptions = {}): Promise<Answer> {
  const given = { headers: { Authorization: `Bearer ${TOKEN}` }, rejectUnauthorized: false, agent: false, ...options };
  return new Promise((resolve, reject) => {
    get(url + path, given, (response) => {
      if (!(response.socket instanceof TLSSocket)) throw new Error("no TLS");
      const subject = response.socket.getPeerCertificate().subject.CN as string;
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => (body += text));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body, subject }));
    }).on("error", reject);
  });
}

describe.skipIf(!hasOpenssl)(hasOpenssl ? "TLS" : "TLS (skipped: there is no openssl)", () => {
  test("is served with the files given, and browsers are told to stay with it", async () => {
    const server = await serve(root, certificate("plain"));
    expect(server.url).toMatch(/^https:/);
    const answer = await ask(server, "/api/v1/entities/weekly");
    expect([answer.status, answer.subject, (JSON.parse(answer.body) as { count: number }).count]).toEqual([
      200,
      "localhost",
      1,
    ]);
    expect(answer.headers["strict-transport-security"]).toBe("max-age=31536000");
  });

  test("is refused to old protocols, and plain HTTP gets nothing", async () => {
    const server = await serve(root, certificate("old"));
    const { port } = new URL(server.url);
    const old = connect({ port: Number(port), maxVersion: "TLSv1.1", minVersion: "TLSv1", rejectUnauthorized: false });
    await expect(
      new Promise((resolve, reject) => old.on("error", reject).on("secureConnect", resolve)),
    ).rejects.toThrow();
    await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
    expect((await ask(server, "/health")).status).toBe(200);
  });

  test("takes up a certificate that changed on the disk, and keeps the old one where the new one is broken", async () => {
    const files = certificate("current", "first");
    const server = await serve(root, files);
    expect((await ask(server, "/health")).subject).toBe("first");
    const next = certificate("next", "second");
    renameSync(next.tlsKey, files.tlsKey);
    renameSync(next.tlsCert, files.tlsCert);
    await vi.waitFor(async () => expect((await ask(server, "/health")).subject).toBe("second"), { timeout: 5_000 });
    writeFileSync(files.tlsCert, "broken");
    await vi.waitFor(() => expect(server.logged.join()).toContain("do not make a TLS server"), { timeout: 5_000 });
    expect((await ask(server, "/health")).subject).toBe("second");
  });

  test("with files that do not serve is told at the start, by the name of the option", async () => {
    const [good, other] = [certificate("good"), certificate("other")];
    const absent = join(folder, "absent.pem");
    const broken = join(folder, "broken.pem");
    writeFileSync(broken, "no certificate");
    const refused = (tlsCert: string, tlsKey: string) => expect(serve(root, { tlsCert, tlsKey })).rejects;
    await refused(absent, good.tlsKey).toMatchObject({ message: `--tls-cert ${absent} cannot be read: ENOENT` });
    await refused(good.tlsCert, absent).toMatchObject({ message: `--tls-key ${absent} cannot be read: ENOENT` });
    await refused(good.tlsCert, folder).toMatchObject({ message: `--tls-key ${folder} cannot be read: EISDIR` });
    for (const [cert, key] of [
      [broken, good.tlsKey],
      [good.tlsCert, broken],
      [good.tlsCert, other.tlsKey],
    ] as const) {
      await refused(cert, key).toMatchObject({
        name: "CommandError",
        message: expect.stringMatching(/^--tls-cert .* and --tls-key .* do not make a TLS server: /) as string,
      });
    }
  });
});

describe("a warning that tokens would cross a network in the clear", () => {
  const tls = { cert: "c", key: "k" };

  test.each(["127.0.0.1", "127.1.2.3", "::1", "localhost"])("is not given for %s", (host) => {
    expect(exposureOf({ host, tls: null })).toBeNull();
  });

  test.each(["0.0.0.0", "::", "192.0.2.1", "2001:db8::1", "market.example"])("is given for %s", (host) => {
    expect(exposureOf({ host, tls: null })).toContain("--tls-cert");
    expect(exposureOf({ host, tls })).toBeNull();
  });
});
