// Fuzz: requests and malformed files. Nothing crashes, nothing but 503, 504 and 505 is answered above 499, no row changes.
import { connect } from "node:net";
import { readdirSync, readFileSync } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ENTITIES, entityNamed } from "../../src/catalog/index.js";
import { SQL_TYPES } from "../../src/catalog/types.js";
import { OperatorError, Problem } from "../../src/errors.js";
import { searchOf } from "../../src/http/lookup.js";
import { openLake } from "../../src/lake/lake.js";
import { importFiles } from "../../src/store/import.js";
import { fileList } from "../../src/lake/manifest.js";
import { decodeCursor } from "../../src/query/cursor.js";
import { parseCalendarRequest, parseShiftRequest } from "../../src/query/calendar.js";
import { parseGapRequest } from "../../src/query/gap-request.js";
import { planRead } from "../../src/query/plan.js";
import { FORMAT_NAMES } from "../../src/catalog/formats.js";
import { parameterNames } from "../../src/catalog/parameters.js";
import { parseRequest } from "../../src/query/request.js";
import { openStaging } from "../intake/staging.js";
import { demoLake } from "../support/demo.js";
import { memoryOf } from "../support/figures.js";
import { temporaryFolder } from "../support/folders.js";
import { hasRealData, realFile } from "../support/realdata.js";
import { serve, TOKEN } from "../support/server.js";
import { size } from "../support/size.js";
import { pick, seeded, type Random } from "../support/traffic-questions.js";
import { dropFactors, MEMORY, servedRows } from "../support/upkeep.js";

const REQUESTS = size("REQUESTS", 5_000, 20_000);
const RAW = size("RAW", 500);
const IMPORTS = size("IMPORTS", 100, 400);
const SEED = size("SEED", 1);
const LONG = 5 * 3_600_000;

const below = (random: Random, most: number): number => Math.floor(random() * most);

/** Bytes with a few of them flipped, cut, repeated, moved, or replaced by bytes of another text. */
function mutated(random: Random, bytes: Buffer, other: Buffer): Buffer {
  let found = Buffer.from(bytes);
  for (let i = pick(random, [1, 1, 1, 2, 4]); i > 0; i--) {
    const [at, length] = [below(random, found.length + 1), below(random, 64)];
    const kind = below(random, 6);
    if (kind === 0 && found.length > 0) found[Math.min(at, found.length - 1)]! ^= 1 << below(random, 8);
    else if (kind === 1) found = found.subarray(0, at);
    else if (kind === 2) found = Buffer.concat([found.subarray(0, at), found.subarray(at + length)]);
    else if (kind === 3) found = Buffer.concat([found.subarray(0, at), found.subarray(Math.max(0, at - length))]);
    else if (kind === 4) {
      const from = below(random, other.length + 1);
      found = Buffer.concat([found.subarray(0, at), other.subarray(from, from + length), found.subarray(at)]);
    } else found = Buffer.concat([found.subarray(0, at), Buffer.from(pick(random, ODD)), found.subarray(at)]);
  }
  return found;
}

const ODD = [
  ...[
    "",
    ",",
    ",,",
    "&",
    "=",
    "%",
    "%00",
    "%ff",
    "%u0041",
    "\0",
    "\u{1F600}",
    "北京",
    "'",
    '"',
    ";--",
    "NaN",
    "-0",
    "1e309",
  ],
  ...[
    "99999999999999999999",
    "-1",
    "null",
    "20240230",
    "00000000",
    "2024-13-01",
    "..",
    "/",
    "//",
    "\r\n",
    "\n",
    "\t",
    "[]",
    "{}",
  ],
  ...[
    "true",
    "ts_code",
    "__row",
    "__proto__",
    "constructor",
    "limit",
    "cursor",
    "as_of",
    "data_version",
    "\ufeff",
    "%ed%a0%80",
  ],
];

const VALUES = [
  ...["600519.SH", "000001.SZ,600519.SH", "600519", "20240102", "2024-01-02", "null", "1", "0", "100", "asc", "desc"],
  ...["json", "csv", "forward", "backward", "SSE", "2024-01-02T03:04:05.678+08:00", "close", "ts_code,close"],
];

/** A query string: mostly of known names and sound values, then mutated. */
function randomQuery(random: Random, names: readonly string[]): string {
  const pairs = Array.from({ length: below(random, 5) }, () => {
    const [name, value] = [pick(random, random() < 0.9 ? names : ODD), pick(random, random() < 0.7 ? VALUES : ODD)];
    return random() < 0.8 ? `${encodeURIComponent(name)}=${encodeURIComponent(value)}` : `${name}=${value}`;
  });
  const text = pairs.join("&");
  return random() < 0.5 ? text : mutated(random, Buffer.from(text), Buffer.from(VALUES.join("&"))).toString("latin1");
}

const OTHER_NAMES = ["exchange", "start_date", "end_date", "is_open", "date", "n", "data_version", "ts_code"];

describe("malformed requests", () => {
  test(
    `are understood or refused with a problem by the parser, ${REQUESTS} of them`,
    () => {
      const random = seeded(SEED);
      const names = ENTITIES.map((entity) => parameterNames(entity));
      const list = fileList("daily", []);
      let understood = 0;
      const began = performance.now();
      for (let i = 0; i < REQUESTS; i++) {
        const which = below(random, ENTITIES.length);
        const entity = ENTITIES[which]!;
        const query = randomQuery(random, random() < 0.85 ? names[which]! : OTHER_NAMES);
        try {
          const search = searchOf({ originalUrl: `/x?${query}` });
          const kind = below(random, 10);
          if (kind === 0) parseCalendarRequest(search);
          else if (kind === 1) parseShiftRequest(search);
          else if (kind === 2) parseGapRequest(entity, search);
          else {
            const request = parseRequest(entity, search, { defaultLimit: null, maxLimit: null });
            const cursor = request.cursor === null ? null : decodeCursor(request, request.cursor);
            planRead(request, list, cursor?.position ?? null);
          }
          understood++;
        } catch (error) {
          if (error instanceof Problem && error.status < 500) continue;
          throw new Error(`${entity.name}?${query}`, { cause: error });
        }
      }
      const seconds = (performance.now() - began) / 1000;
      console.log(
        `${REQUESTS} requests parsed in ${seconds.toFixed(0)} s: ${understood} understood, the others refused`,
      );
      expect(understood).toBeGreaterThan(REQUESTS / 100);
      expect(understood).toBeLessThan(REQUESTS);
    },
    LONG,
  );

  test(
    `meet no fault of the server, ${RAW} of them as raw bytes, and it goes on`,
    async () => {
      const root = await demoLake({ days: 40 });
      const server = await serve(root, { wrongTokens: "1000000" });
      const port = Number(new URL(server.url).port);
      const before = await servedRows(root, "daily");
      const random = seeded(SEED + 1);
      const statuses = new Map<string, number>();
      const one = async (): Promise<void> => {
        const entity = pick(random, ENTITIES);
        const paths = [
          `entities/${entity.name}`,
          `entities/${entity.name}/gaps`,
          "calendar",
          "calendar/shift",
          "meta",
          "versions",
        ];
        const query = randomQuery(random, parameterNames(entity)).replaceAll(/[\r\n]/g, "");
        const head = [
          `${pick(random, ["GET", "GET", "GET", "HEAD", "POST", "OPTIONS"])} /api/v1/${pick(random, paths)}?${query} HTTP/1.1`,
          "Host: a",
          `Authorization: Bearer ${TOKEN}`,
          `Accept-Encoding: ${pick(random, ["gzip", "identity", "br;q=1, *;q=0", "\u00ff"])}`,
          `Accept: ${pick(random, ["*/*", "text/csv", "application/json;q=0.1", "x"])}`,
        ];
        const text = Buffer.from(`${head.join("\r\n")}\r\nConnection: close\r\n\r\n`, "latin1");
        const sent = random() < 0.5 ? text : mutated(random, text, text);
        const answer = await rawAnswer(port, sent);
        const status = /^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? "none";
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (/^5/.test(status) && !["503", "504", "505"].includes(status))
          throw new Error(`${status} for ${sent.toString("latin1")}`);
      };
      for (let i = 0; i < RAW; i += 8) await Promise.all(Array.from({ length: 8 }, one));
      console.log(`raw requests by status: ${JSON.stringify(Object.fromEntries([...statuses].sort()))}`);
      expect(server.logged).toEqual([]);
      expect((await server.json("/api/v1/entities/daily")).count).toBe(before.length);
      expect(await servedRows(root, "daily")).toEqual(before);
    },
    LONG,
  );
});

/** All that comes back; empty where the connection is closed without an answer. What waits for more is left after a second. */
const rawAnswer = (port: number, bytes: Buffer): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.setTimeout(1000, () => socket.destroy());
    socket.on("data", (data) => (answer += data.toString("latin1")));
    socket.on("error", () => undefined).on("close", () => resolve(answer));
    socket.end(bytes);
  });

interface Seed {
  readonly entity: string;
  readonly extension: string;
  readonly bytes: Buffer;
}

const ENTITY_OF_FOLDER: Readonly<Record<string, string>> = { stock_basic: "stock_list" };
const SMALL = 20_000;

/** Small real files, and one of each format of each entity of a demo market. */
async function seeds(): Promise<readonly Seed[]> {
  const found: Seed[] = [];
  if (hasRealData) {
    for (const entry of readdirSync(realFile(""), { recursive: true, withFileTypes: true })) {
      const extension = /\.(csv|json|parquet)$/.exec(entry.name)?.[1];
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile() || extension === undefined) continue;
      const folder = path.slice(realFile("").length).split("/")[0]!;
      const bytes = readFileSync(path);
      // Of a large text its first lines, of a large Parquet nothing can be taken.
      if (bytes.length > SMALL && extension !== "csv") continue;
      const end = bytes.length > SMALL ? bytes.lastIndexOf(10, SMALL) + 1 : bytes.length;
      found.push({ entity: ENTITY_OF_FOLDER[folder] ?? folder, extension, bytes: bytes.subarray(0, end) });
    }
  }
  const root = await demoLake({ days: 40 });
  const server = await serve(root);
  for (const { name } of ENTITIES) {
    for (const format of FORMAT_NAMES.filter((one) => one !== "arrow" && one !== "json")) {
      const response = await server.get(`/api/v1/entities/${name}?format=${format}&limit=40`);
      found.push({ entity: name, extension: format, bytes: Buffer.from(await response.arrayBuffer()) });
    }
    const { columns, rows } = await server.json(`/api/v1/entities/${name}?limit=40`);
    const records = rows.map((row) => Object.fromEntries(columns.map((column, i) => [column.name, row[i]])));
    found.push({ entity: name, extension: "json", bytes: Buffer.from(JSON.stringify(records)) });
  }
  return found;
}

describe("malformed files", () => {
  test(
    `are taken as rows that fit the types, or refused with a reason, ${IMPORTS} of them; memory stays bounded`,
    async () => {
      const all = await seeds();
      const random = seeded(SEED + 2);
      const staging = await openStaging();
      const [counts, began] = [{ taken: 0, refused: 0 }, performance.now()];
      const slow: string[] = [];
      let settled = 0;
      for (let i = 0; i < IMPORTS; i++) {
        const seed = pick(random, all);
        const bytes = mutated(random, seed.bytes, pick(random, all).bytes);
        const path = staging.put(`fuzz.${seed.extension}`, bytes);
        const entity = entityNamed(seed.entity)!;
        const start = performance.now();
        try {
          const staged = await staging.stage(
            seed.entity,
            path,
            seed.entity === "stock_list" ? { set: { snapshot_date: "20260106" } } : {},
          );
          counts.taken++;
          const types = await staging.writer.rows(`DESCRIBE ${staged.table}`);
          const wanted = entity.columns.map(({ name, type }) => `${name} ${SQL_TYPES[type]}`);
          const shown = types.map((column) => `${String(column["column_name"])} ${String(column["column_type"])}`);
          expect(shown.filter((column) => !column.startsWith("__"))).toEqual(wanted);
          const floats = entity.columns
            .filter(({ type }) => type === "float64")
            .map(({ name }) => `isfinite("${name}")`);
          const required = entity.columns
            .filter(({ nullable }) => !nullable)
            .map(({ name }) => `"${name}" IS NOT NULL`);
          const sound = [...floats.map((test) => `${test} IS NOT FALSE`), ...required].join(" AND ") || "true";
          const [bad] = await staging.writer.rows(`SELECT count(*) AS n FROM ${staged.table} WHERE NOT (${sound})`);
          expect(bad).toEqual({ n: 0 });
          await staging.writer.run(`DROP TABLE ${staged.table}`);
        } catch (error) {
          if (!(error instanceof OperatorError) || /\n/.test(error.message)) {
            const kept = join(await temporaryFolder(), `case-${i}.${seed.extension}`);
            await writeFile(kept, bytes);
            throw new Error(`file ${i} of seed ${SEED}, ${seed.entity} as ${seed.extension}`, { cause: error });
          }
          counts.refused++;
        }
        if (performance.now() - start > 5_000) slow.push(`${i}: ${seed.entity} ${seed.extension}`);
        if (i % 10_000 === 9_999) console.log(`${i + 1} files: ${counts.taken} taken, ${counts.refused} refused`);
        if (i === Math.floor(IMPORTS / 4)) settled = memoryOf([process.pid]);
      }
      const [seconds, grown] = [(performance.now() - began) / 1000, memoryOf([process.pid]) - settled];
      console.log(
        `${IMPORTS} files in ${seconds.toFixed(0)} s: ${counts.taken} taken, ${counts.refused} refused; ` +
          `memory grew by ${Math.round(grown / 1e6)} MB after the first quarter`,
      );
      if (slow.length > 0) console.log(`slow: ${slow.join(", ")}`);
      expect(await staging.leftovers()).toEqual([]);
      staging.close();
      expect(counts.taken).toBeGreaterThan(0);
      expect(counts.refused).toBeGreaterThan(0);
      expect(grown).toBeLessThan(500e6);
    },
    LONG,
  );

  test(
    "change no row of the lake where they are refused",
    async () => {
      const root = await temporaryFolder();
      await dropFactors(root, ["000001.SZ,20240102,1"]);
      const [rows, version] = [await servedRows(root), (await openLake(root)).current().version.data_version];
      const random = seeded(SEED + 3);
      const sound = Buffer.from("ts_code,trade_date,adj_factor\n000001.SZ,20240102,2\n600519.SH,20240103,3\n");
      const path = join(await temporaryFolder(), "drop.csv");
      let refused = 0;
      for (let i = 0; refused < Math.min(50, IMPORTS / 20); i++) {
        await writeFile(path, mutated(random, sound, Buffer.from('"\xff,\n000001', "latin1")));
        const options = { map: {}, set: {}, ...MEMORY, dryRun: true };
        const isRefused = await importFiles(root, entityNamed("adj_factor")!, [path], options).then(
          () => false,
          (error: unknown) => error instanceof OperatorError,
        );
        if (!isRefused) continue;
        await expect(
          importFiles(root, entityNamed("adj_factor")!, [path], { ...options, dryRun: false }),
        ).rejects.toThrow();
        refused++;
      }
      expect(refused).toBeGreaterThan(0);
      expect(await servedRows(root)).toEqual(rows);
      expect((await openLake(root)).current().version.data_version).toBe(version);
      expect((await stat(path)).isFile()).toBe(true);
    },
    LONG,
  );
});
