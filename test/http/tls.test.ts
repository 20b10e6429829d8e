import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { get, type RequestOptions } from "node:https";
import { connect as connectTcp, createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { connect, TLSSocket, type ConnectionOptions } from "node:tls";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { exposureOf } from "../../src/http/port.js";
import { temporaryFolder } from "../support/folders.js";
import { factors, publishRows } from "../support/lake.js";
import { noPython, PYTHON } from "../support/python.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";

const hasOpenssl = (() => {
  try {
    return execFileSync("openssl", ["version"]).length > 0;
  } catch {
    return false;
  }
})();

const REQUESTS = `
import sys, warnings, requests
warnings.simplefilter("ignore")
url, token, encoding = sys.argv[1:]
headers = {"Authorization": "Bearer " + token, "Accept-Encoding": encoding}
requests.get(url, headers=headers, verify=False, timeout=60).raise_for_status()
`;

let root: string;
let folder: string;

/** A new self-signed certificate. */
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
  test("is served with the given files, and browsers are told to keep using it", async () => {
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

  test("loads a certificate that changed on disk, and keeps the old one if the new one is broken", async () => {
    const files = certificate("current", "first");
    const server = await serve(root, files);
    expect((await ask(server, "/health")).subject).toBe("first");
    const next = certificate("next", "second");
    renameSync(next.tlsKey, files.tlsKey);
    renameSync(next.tlsCert, files.tlsCert);
    await vi.waitFor(async () => expect((await ask(server, "/health")).subject).toBe("second"), { timeout: 5_000 });
    writeFileSync(files.tlsCert, "broken");
    await vi.waitFor(() => expect(server.logged.join()).toContain("cannot be used for TLS"), { timeout: 5_000 });
    expect((await ask(server, "/health")).subject).toBe("second");
  });

  test("with unusable files is reported at the start, by the name of the option", async () => {
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
        name: "OperatorError",
        message: expect.stringMatching(/^--tls-cert .* and --tls-key .* cannot be used for TLS: /) as string,
      });
    }
  });
});

/** Bytes on a TCP connection to the server, and how the connection ended. */
function bareConnection({ url }: TestServer, ...pieces: readonly (string | Buffer)[]) {
  const socket = connectTcp(Number(new URL(url).port), "127.0.0.1");
  let received = "";
  socket.on("error", () => undefined);
  socket.on("data", (bytes: Buffer) => (received += bytes.toString("latin1")));
  for (const piece of pieces) socket.write(piece);
  const closed = new Promise<string>((resolve) => socket.on("close", () => resolve(received)));
  return { socket, closed };
}

/** What a client says first. */
async function clientHello(): Promise<Buffer> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = connect({
    port: (server.address() as AddressInfo).port,
    host: "127.0.0.1",
    rejectUnauthorized: false,
  });
  client.on("error", () => undefined);
  const [accepted] = (await once(server, "connection")) as [Socket];
  const [hello] = (await once(accepted, "data")) as [Buffer];
  accepted.destroy();
  client.destroy();
  server.close();
  return hello;
}

function handshake({ url }: TestServer, options: ConnectionOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      port: Number(new URL(url).port),
      host: "127.0.0.1",
      rejectUnauthorized: false,
      ...options,
    });
    socket.on("error", reject).on("secureConnect", () => resolve(socket));
  });
}

describe.skipIf(!hasOpenssl)("a handshake", () => {
  test("needs no name of the server, and takes any", async () => {
    const server = await serve(root, certificate("names"));
    for (const servername of ["", "localhost", "other.example", "x".repeat(200), "a_b..c", "*"]) {
      const socket = await handshake(server, servername === "" ? {} : { servername });
      expect(socket.getPeerCertificate().subject.CN).toBe("localhost");
      socket.destroy();
    }
  });

  test("agrees on HTTP/1.1, and on nothing with a client that speaks HTTP/2 only", async () => {
    const server = await serve(root, certificate("alpn"));
    const socket = await handshake(server, { ALPNProtocols: ["h2", "http/1.1"] });
    expect(socket.alpnProtocol).toBe("http/1.1");
    socket.destroy();
    await expect(handshake(server, { ALPNProtocols: ["h2"] })).rejects.toThrow(/no application protocol/i);
  });

  test.each(["TLSv1", "TLSv1.1"] as const)("by %s is refused", async (version) => {
    const server = await serve(root, certificate(`old ${version}`));
    const old = { minVersion: version, maxVersion: version, ciphers: "DEFAULT@SECLEVEL=0" } as const;
    await expect(handshake(server, old)).rejects.toThrow(/version/i);
    const socket = await handshake(server, { minVersion: "TLSv1.2", maxVersion: "TLSv1.2" });
    expect(socket.getProtocol()).toBe("TLSv1.2");
    socket.destroy();
  });

  test("can be renegotiated by a client only a few times", async () => {
    const server = await serve(root, certificate("again"));
    const socket = await handshake(server, { maxVersion: "TLSv1.2" });
    let times = 0;
    const ended = new Promise((resolve) =>
      socket
        .removeAllListeners("error")
        .on("error", () => resolve(times))
        .on("close", () => resolve(times)),
    );
    const again = (): void =>
      void socket.renegotiate({ rejectUnauthorized: false }, (error) => {
        if (error || ++times > 100) socket.destroy();
        else again();
      });
    again();
    expect(await ended).toBeLessThan(10);
    expect((await ask(server, "/health")).status).toBe(200);
  });

  test("that fails in any way leaves no connection and no log line, and the server keeps running", async () => {
    const server = await serve(root, certificate("failing"));
    const hello = await clientHello();
    const alert = Buffer.from([21, 3, 1, 0, 2, 2, 40]);
    const failing = [
      ["GET / HTTP/1.1\r\nHost: a\r\n\r\n"],
      ["\x16\x03\x01"],
      [hello.subarray(0, 20), "garbage".repeat(100)],
      [hello, "garbage".repeat(100)],
      [hello, hello],
      [alert],
      [Buffer.from([22, 3, 1, 255, 255]), Buffer.alloc(70_000)],
      [Buffer.alloc(10_000, 0xff)],
    ] as const;
    const attempts = Array.from({ length: 40 }, (_, i) => failing[i % failing.length]!);
    const connections = attempts.map((pieces) => bareConnection(server, ...pieces));
    for (const { socket } of connections) socket.end();
    const answers = await Promise.all(connections.map(({ closed }) => closed));
    expect(answers.join()).not.toContain("HTTP/");
    // Those that leave in the middle.
    for (let i = 0; i < 200; i++) {
      const { socket } = bareConnection(server, hello.subarray(0, 1 + (i % hello.length)));
      if (i % 2) socket.once("connect", () => socket.resetAndDestroy());
      else socket.once("connect", () => socket.destroy());
    }
    expect((await ask(server, "/health")).status).toBe(200);
    expect(server.logged).toEqual([]);
  });

  test("that is not begun or not finished ends after a while and releases its connection", async () => {
    const server = await serve(root, { ...certificate("silent"), connections: "2" });
    const hello = await clientHello();
    // As many as there is room for, with those beyond the limit that are told so.
    const silent = Array.from({ length: 30 }, (_, i) =>
      bareConnection(server, ...(i % 2 ? [hello.subarray(0, 50)] : [])),
    );
    await Promise.all(silent.map(({ closed }) => closed));
    expect((await ask(server, "/health")).status).toBe(200);
    expect(server.logged).toEqual([]);
  }, 60_000);
});

describe.skipIf(!hasOpenssl)("an answer over TLS that is cut without a word of TLS", () => {
  const WIDE = "/api/v1/entities/adj_factor";

  /** A wire that ends cleanly, for TCP, after so many bytes of what the server sends. */
  async function wireTo({ url }: TestServer, bytes: number): Promise<string> {
    const wire = createTcpServer((client) => {
      const upstream = connectTcp(Number(new URL(url).port), "127.0.0.1");
      let left = bytes;
      client.on("error", () => undefined).pipe(upstream);
      upstream
        .on("error", () => undefined)
        .on("data", (piece: Buffer) => {
          client.write(piece.subarray(0, left));
          left -= piece.length;
          if (left > 0) return;
          client.end();
          upstream.destroy();
          wire.close();
        });
    });
    await new Promise<void>((resolve) => wire.listen(0, "127.0.0.1", resolve));
    return `https://127.0.0.1:${(wire.address() as AddressInfo).port}${WIDE}`;
  }

  test.each(["identity", "gzip"] as const)("is seen as cut by curl, Node and requests: %s", async (encoding) => {
    const wide = await temporaryFolder();
    await publishRows(wide, { adj_factor: factors(300_000) });
    const server = await serve(wide, certificate(`cut-${encoding}`));
    const token = TOKEN;
    const packed = encoding === "gzip" ? ["--compressed"] : [];
    const run = (file: string, args: readonly string[]) => promisify(execFile)(file, args);
    const clients: Record<string, (url: string) => Promise<unknown>> = {
      curl: (url) => run("curl", ["-ksSf", "-o", "/dev/null", ...packed, "-H", `Authorization: Bearer ${token}`, url]),
      node: (url) =>
        new Promise((resolve, reject) => {
          const headers = { Authorization: `Bearer ${token}`, "Accept-Encoding": encoding };
          get(url, { headers, rejectUnauthorized: false, agent: false }, (response) => {
            response
              .on("error", reject)
              .on("end", () => resolve(true))
              .resume();
          }).on("error", reject);
        }),
      ...(noPython === null ? { requests: (url) => run(PYTHON, ["-c", REQUESTS, url, token, encoding]) } : {}),
    };
    for (const [name, read] of Object.entries(clients)) {
      await expect(read(server.url + WIDE), name).resolves.toBeDefined();
      for (const bytes of [20_000, 200_000]) {
        await expect(wireTo(server, bytes).then(read), name).rejects.toBeDefined();
      }
    }
  });
});

describe.skipIf(!hasOpenssl)("a certificate that changes", () => {
  test("in two steps, partly, to nothing or to one of another key is loaded when both files match again", async () => {
    const files = certificate("steps", "first");
    const server = await serve(root, files);
    const next = certificate("steps-next", "second");
    const [cert, key] = [readFileSync(next.tlsCert), readFileSync(next.tlsKey)];
    const tell = (): string[] => server.logged.filter((line) => line.includes("cannot be used for TLS"));
    const expectRefused = async (change: () => void): Promise<void> => {
      const before = tell().length;
      change();
      await vi.waitFor(() => expect(tell().length).toBeGreaterThan(before), { timeout: 20_000 });
      expect((await ask(server, "/health")).subject).toBe("first");
    };
    // Messages differ from one to the next: one that stays the same is logged once.
    await expectRefused(() => writeFileSync(files.tlsCert, cert));
    await expectRefused(() => writeFileSync(files.tlsCert, cert.subarray(0, 200)));
    await expectRefused(() => {
      writeFileSync(files.tlsCert, cert);
      writeFileSync(files.tlsKey, key.subarray(0, 100));
    });
    await expectRefused(() => {
      writeFileSync(files.tlsCert, "");
      writeFileSync(files.tlsKey, key);
    });
    writeFileSync(files.tlsCert, cert);
    writeFileSync(files.tlsKey, key);
    await vi.waitFor(async () => expect((await ask(server, "/health")).subject).toBe("second"), { timeout: 20_000 });
  });
});

describe("a warning that tokens would cross a network unencrypted", () => {
  const tls = { cert: "c", key: "k" };

  test.each(["127.0.0.1", "127.1.2.3", "::1", "localhost"])("is not given for %s", (host) => {
    expect(exposureOf({ host, tls: null })).toBeNull();
  });

  test.each(["0.0.0.0", "::", "192.0.2.1", "2001:db8::1", "market.example"])("is given for %s", (host) => {
    expect(exposureOf({ host, tls: null })).toContain("--tls-cert");
    expect(exposureOf({ host, tls })).toBeNull();
  });
});
