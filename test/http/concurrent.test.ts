// Memory is used again while responses are sent: none may hold bytes of another one.
import { get } from "node:http";
import * as zlib from "node:zlib";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeCopies } from "../../src/copier/copier.js";
import { ENCODINGS } from "../../src/segments/packer.js";
import { hasZstd } from "../../src/zstd.js";
import { temporaryFolder } from "../support/folders.js";
import { factors, publishRows } from "../support/lake.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";
import { size } from "../support/size.js";

const ROWS = 120_000;
const { zstdDecompressSync } = zlib as unknown as { readonly zstdDecompressSync?: (bytes: Uint8Array) => Buffer };
const UNPACK = { gzip: zlib.gunzipSync, zstd: zstdDecompressSync!, identity: (bytes: Buffer) => bytes };

const FORMATS = ["json", "ndjson", "csv", "arrow", "parquet", ...(hasZstd ? ["arrow&compression=zstd"] : [])];
const PATHS = FORMATS.flatMap((format) => [
  `?format=${format}`,
  `?format=${format}&fields=adj_factor,ts_code`,
  `?format=${format}&ts_code=000001.SZ,000007.SZ,004999.SZ`,
  `?format=${format}&start_date=20230105&end_date=20230118&order=desc`,
]);

/** The unpacked body; null for a client that hangs up after some bytes. */
const ask = (
  server: TestServer,
  path: string,
  encoding: keyof typeof UNPACK,
  patience = Infinity,
): Promise<Buffer | null> =>
  new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${TOKEN}`, "Accept-Encoding": encoding };
    const request = get(`${server.url}/api/v1/entities/adj_factor${path}`, { headers, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      response.on("data", (piece: Buffer) => {
        pieces.push(piece);
        bytes += piece.length;
        if (bytes < patience) return;
        request.destroy();
        resolve(null);
      });
      response.on("error", (error) => (bytes >= patience ? undefined : reject(error)));
      response.on("end", () => {
        const sent = (response.headers["content-encoding"] ?? "identity") as keyof typeof UNPACK;
        resolve(UNPACK[sent](Buffer.concat(pieces)));
      });
    }).on("error", (error) => (patience < Infinity ? resolve(null) : reject(error)));
  });

const SETTINGS = [
  { cache: "0", encoders: "0" },
  { cache: "100MB", encoders: "0" },
  { cache: "0", encoders: "2" },
  { cache: "100MB", encoders: "1" },
];

test.each(SETTINGS)("with %o, concurrent responses hold their own bytes only", async (settings) => {
  const root = await temporaryFolder();
  // Every value is another one, so that rows in a wrong place show.
  const rows = factors(ROWS).replace("1.5 AS", "i + 0.25 AS");
  await publishRows(root, { adj_factor: rows }, { codeCopy: true });
  const calm = await serve(root, { cache: "0", copies: "0" });
  const wanted = new Map<string, Buffer>();
  for (const path of PATHS) wanted.set(path, (await ask(calm, path, "identity"))!);
  const { signal } = new AbortController();
  await makeCopies(root, { folder: join(root, "copies"), size: "auto", log: () => undefined, signal });
  const server = await serve(root, settings);
  let asked = 0;
  const client = async (): Promise<void> => {
    while (asked < size("CONCURRENT", 60, 400)) {
      const i = asked++;
      const path = PATHS[(i * 7) % PATHS.length]!;
      const encoding = ENCODINGS[i % ENCODINGS.length]!;
      const body = await ask(server, path, encoding, i % 5 === 0 ? 100_000 : Infinity);
      if (body !== null) expect([path, encoding, body.equals(wanted.get(path)!)]).toEqual([path, encoding, true]);
    }
  };
  await Promise.all(Array.from({ length: 12 }, client));
});
