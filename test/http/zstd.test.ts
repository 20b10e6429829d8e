// Responses compressed with zstd, where Node can do that: 22.15 and later.
import { execFile } from "node:child_process";
import { get } from "node:http";
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { ENCODINGS } from "../../src/segments/packer.js";
import { temporaryFolder } from "../support/folders.js";
import { factors, publishRows } from "../support/lake.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";

/** More than a segment needs to be cached, in several blocks. */
const ROWS = 120_000;
const WIDE = "/api/v1/entities/adj_factor";
const SHORT = `${WIDE}?limit=3`;

const { zstdDecompressSync } = zlib as unknown as { readonly zstdDecompressSync?: (bytes: Uint8Array) => Buffer };
const canUnpack = zstdDecompressSync !== undefined;

let server: TestServer;

beforeAll(async () => {
  const root = await temporaryFolder();
  await publishRows(root, { adj_factor: factors(ROWS) });
  server = await serve(root, { cache: "100MB" });
});

interface Answer {
  readonly encoding: string;
  readonly vary: string;
  readonly body: Buffer;
}

/** The body as it is sent; fetch would unpack it. */
const ask = (path: string, accepted: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${TOKEN}`, "Accept-Encoding": accepted };
    get(server.url + path, { headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("error", reject);
      response.on("end", () => {
        const { "content-encoding": encoding = "identity", vary = "" } = response.headers;
        resolve({ encoding, vary, body: Buffer.concat(pieces) });
      });
    }).on("error", reject);
  });

test("zstd is offered where Node has it", () => {
  expect(ENCODINGS.includes("zstd")).toBe(canUnpack);
});

test.runIf(!canUnpack)("a client that takes only zstd gets plain bytes elsewhere", async () => {
  expect((await ask(SHORT, "zstd")).encoding).toBe("identity");
});

describe.runIf(canUnpack)("a client that takes zstd", () => {
  test.each([
    ["zstd", "zstd"],
    ["zstd;q=0.5, gzip;q=0.9", "gzip"],
    ["gzip;q=0.5, zstd;q=0.9", "zstd"],
    ["gzip, zstd", "gzip"],
    ["zstd, gzip", "zstd"],
    ["zstd;q=0, gzip", "gzip"],
    ["zstd;q=0, *", "gzip"],
    ["identity, zstd;q=0.5", "identity"],
    ["br", "identity"],
  ])("and sends Accept-Encoding: %s gets %s", async (accepted, encoding) => {
    const answer = await ask(SHORT, accepted);
    expect([answer.encoding, answer.vary]).toEqual([encoding, expect.stringContaining("Accept-Encoding")]);
  });

  test.each(["json", "ndjson", "csv", "arrow"])(
    "gets the bytes of %s in one frame, also from the cache",
    async (format) => {
      const path = `${WIDE}?format=${format}`;
      const packed = [await ask(path, "zstd"), await ask(path, "zstd")];
      const { body: plain } = await ask(path, "identity");
      const { body: gzipped } = await ask(path, "gzip");
      expect(zlib.gunzipSync(gzipped).equals(plain)).toBe(true);
      for (const { encoding, body } of [...packed, await ask(path, "zstd")]) {
        expect(encoding).toBe("zstd");
        expect(body.length).toBeLessThan(plain.length / 2);
        // Node stops after the first frame.
        expect(zstdDecompressSync!(body).equals(plain)).toBe(true);
      }
    },
  );

  test("gets Parquet and small documents without it", async () => {
    expect((await ask(`${WIDE}?format=parquet&limit=3`, "zstd")).encoding).toBe("identity");
    expect((await ask("/api/v1/meta", "zstd")).encoding).toBe("identity");
  });

  test("may be curl", async () => {
    const args = ["-sSf", "--compressed", "-H", "Accept-Encoding: zstd", "-H", `Authorization: Bearer ${TOKEN}`];
    const { stdout } = await promisify(execFile)("curl", [...args, server.url + WIDE], { maxBuffer: 1 << 28 });
    expect(stdout).toBe((await ask(WIDE, "identity")).body.toString());
  });
});
