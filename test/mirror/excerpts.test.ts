// Excerpts: of a large file that is not here, a read fetches only the row groups that it needs, and each is checked.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createIntegrity } from "../../src/lake/integrity.js";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import type { DataFile } from "../../src/lake/manifest.js";
import type { MirrorSize } from "../../src/lake/mirror/room.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { bucketProxy, mirrorAt, newAddress, newMirror, pull, STORES } from "../support/mirrors.js";
import { until } from "../support/processes.js";
import { serve, type Envelope } from "../support/server.js";
import { size } from "../support/size.js";

const STOCKS = 4_000;
const DAYS = 180;
/** Numbers that do not compress, so that files are large. */
const ROWS = `SELECT printf('%06d.SZ', i % ${STOCKS}) AS ts_code, DATE '2023-01-01' + (i // ${STOCKS})::INT AS trade_date,
    hash(i) / 3 AS adj_factor FROM range(${STOCKS * DAYS}) t(i)`;

const dayOf = (n: number): string => new Date(Date.UTC(2023, 0, 1 + n)).toISOString().slice(0, 10).replaceAll("-", "");
const codeOf = (n: number): string => `${String(n).padStart(6, "0")}.SZ`;

const excerptsIn = async (root: string): Promise<readonly string[]> =>
  (await readdir(layoutOf(root).excerpts, { recursive: true }).catch((): string[] => []))
    .filter((name) => name.endsWith(".parquet"))
    .sort();

const wholeIn = async (root: string): Promise<readonly string[]> =>
  (await readdir(layoutOf(root).lake, { recursive: true })).filter(
    (name) => name.endsWith(".parquet") && !name.startsWith("."),
  );

const filesOf = async (root: string): Promise<readonly DataFile[]> =>
  (await openLake(root)).current().files("adj_factor").byDate;

describe.each(STORES)("a mirror of a %s", (store) => {
  let address: string;
  /** The same lake in a folder. */
  let folder: string;
  beforeAll(async () => {
    address = await newAddress(store);
    folder = await temporaryFolder();
    await publishRows(await newMirror(address), { adj_factor: ROWS }, { codeCopy: true });
    await publishRows(folder, { adj_factor: ROWS }, { codeCopy: true });
  }, 120_000);
  afterEach(() => {
    if (store === "bucket") bucketProxy().fault = () => undefined;
  });

  const newReader = async (mirrorSize: MirrorSize = "auto"): Promise<string> => {
    const root = await newMirror(address, mirrorSize);
    await pull(root);
    return root;
  };

  test("has the row groups of large files in its lists, and a folder has none", async () => {
    const [file] = await filesOf(await newReader());
    const { by, groups } = file!.rowGroups!;
    expect(by).toBe("trade_date");
    expect(groups).toHaveLength(Math.ceil((STOCKS * DAYS) / 122_880));
    expect([groups[0]!.first, groups.at(-1)!.last]).toEqual([file!.first, file!.last]);
    expect((await filesOf(folder)).some((one) => one.rowGroups !== undefined)).toBe(false);
  });

  test("fetches a part of a file for a day, and the whole file for all days", async () => {
    const root = await newReader();
    const { json } = await serve(root);
    const [file] = await filesOf(root);
    const before = store === "bucket" ? bucketProxy().requests.length : 0;
    const { count } = await json(`/api/v1/entities/adj_factor?trade_date=${dayOf(40)}`);
    expect(count).toBe(STOCKS);
    expect(await wholeIn(root)).toEqual([]);
    const [excerpt] = await excerptsIn(root);
    const { size: bytes, blocks } = await stat(join(layoutOf(root).excerpts, excerpt!));
    expect(bytes).toBe(file!.bytes);
    expect(blocks * 512).toBeLessThan(file!.bytes / 3);
    if (store === "bucket") {
      const ranges = bucketProxy()
        .requests.slice(before)
        .filter(({ path }) => path.includes(".parquet"));
      const asked = ranges.map(({ headers }) => /bytes=(\d+)-(\d+)/.exec(headers.range!)!);
      expect(asked.reduce((sum, [, from, to]) => sum + Number(to) - Number(from) + 1, 0)).toBeLessThan(file!.bytes / 3);
    }
    expect((await json("/api/v1/entities/adj_factor?fields=trade_date")).count).toBe(STOCKS * DAYS);
    expect(await wholeIn(root)).toEqual([file!.path]);
  });

  test("answers like a folder, whatever is asked", async () => {
    const mirror = await newReader();
    const servers = [await serve(folder), await serve(mirror)];
    const day = fc.integer({ min: -5, max: DAYS + 5 }).map(dayOf);
    const code = fc.integer({ min: 0, max: STOCKS + 50 }).map(codeOf);
    const query = fc
      .record(
        {
          ts_code: fc.array(code, { minLength: 1, maxLength: 6 }).map((codes) => codes.join(",")),
          trade_date: fc.array(day, { minLength: 1, maxLength: 3 }).map((days) => days.join(",")),
          start_date: day,
          limit: fc.constantFrom("1", "100", "5000"),
          order: fc.constantFrom("asc", "desc"),
          fields: fc.constantFrom("ts_code", "trade_date,adj_factor"),
        },
        { requiredKeys: [] },
      )
      .filter((one) => one.ts_code !== undefined || one.trade_date !== undefined || one.limit !== undefined);
    await fc.assert(
      fc.asyncProperty(query, async (parameters) => {
        const path = `/api/v1/entities/adj_factor?${new URLSearchParams(parameters).toString()}`;
        const answers = await Promise.all(
          servers.map(async ({ get }) => {
            const response = await get(path);
            return [response.status, ((await response.json()) as Partial<Envelope>).rows] as const;
          }),
        );
        expect(answers[1]).toEqual(answers[0]);
        // So that the next read needs an excerpt, and not the whole file.
        await rm(join(layoutOf(mirror).lake, "adj_factor"), { recursive: true, force: true });
      }),
      {
        numRuns: size("EXCERPTS", 25, 200),
        // DuckDB reads all row groups to fetch the columns of no row at all.
        examples: [[{ trade_date: dayOf(44), limit: "1", order: "desc" }]],
      },
    );
  });

  test("fetches an excerpt that is damaged or cut short again, and serves no row of it", async () => {
    const root = await newReader();
    const path = `/api/v1/entities/adj_factor?trade_date=${dayOf(90)}`;
    const server = await serve(root);
    const { rows } = await server.json(path);
    const excerpt = join(layoutOf(root).excerpts, (await excerptsIn(root))[0]!);
    const bytes = await readFile(excerpt);
    const { groups } = (await filesOf(root))[0]!.rowGroups!;
    const place = groups.find(({ last }) => last! >= dayOf(90))!.end - 1_000;
    for (const spoil of [
      () => writeFile(excerpt, Buffer.from(bytes).fill(7, place, place + 8)),
      () => writeFile(excerpt, Buffer.from(bytes).fill(0, bytes.length - 50, bytes.length - 40)),
      () => truncate(excerpt, bytes.length - 1),
      () => rm(excerpt),
      () => rm(layoutOf(root).excerpts, { recursive: true }),
    ]) {
      await spoil();
      expect((await server.json(path)).rows).toEqual(rows);
      expect((await readFile(excerpt)).equals(bytes)).toBe(true);
    }
  });

  test("fetches the whole file once excerpts of it have most of its bytes", async () => {
    const root = await newReader();
    const server = await serve(root);
    for (const day of [10, 50, 90, 130, 170]) {
      await server.json(`/api/v1/entities/adj_factor?trade_date=${dayOf(day)}&fields=ts_code`);
    }
    await until("the whole file is there", async () => ((await wholeIn(root)).length === 1 ? true : undefined));
    expect((await server.json(`/api/v1/entities/adj_factor?trade_date=${dayOf(30)}`)).count).toBe(STOCKS);
  });

  test("removes excerpts that were used least recently, and none that is being read", async () => {
    const [file] = await filesOf(await newReader());
    const group = file!.rowGroups!.groups[0]!.end;
    const root = await newReader(Math.floor(2.5 * group));
    const [own] = await filesOf(root);
    const integrity = createIntegrity(layoutOf(root));
    const first = await integrity.hold([own!], () => [0]);
    for (const number of [1, 2, 3]) (await integrity.hold([own!], () => [number])).leave();
    const left = await excerptsIn(root);
    expect(left).toHaveLength(2);
    expect(left.map((name) => /\.(.*)\.parquet$/.exec(name)![1])).toEqual(["0", "3"]);
    await first.checkAgain();
    first.leave();
  });

  test("asks for each row group once, however many readers and processes want it", async () => {
    const root = await newReader();
    const before = store === "bucket" ? bucketProxy().requests.length : 0;
    const [file] = await filesOf(root);
    const integrities = Array.from({ length: 4 }, () => createIntegrity(layoutOf(root)));
    await Promise.all(integrities.map((integrity) => integrity.check([file!], () => [1])));
    const asked = store === "bucket" ? bucketProxy().requests.slice(before) : [];
    const ranges = asked.filter(({ path }) => path.includes(".parquet")).map(({ headers }) => headers.range);
    expect(new Set(ranges).size).toBe(ranges.length);
    expect(await excerptsIn(root)).toHaveLength(1);
  });

  test("fetches the files of the next scan while the client has not read the rows of the first", async () => {
    const more = await newAddress(store);
    const writer = await newMirror(more);
    await publishRows(writer, { adj_factor: ROWS });
    await publishRows(writer, { adj_factor: ROWS.replace("2023-01-01", "2024-01-01") });
    const root = await newMirror(more);
    await pull(root);
    expect(await filesOf(root)).toHaveLength(2);
    const server = await serve(root);
    const { body, status } = await server.get("/api/v1/entities/adj_factor");
    expect(status).toBe(200);
    await until("both files are there", async () => ((await wholeIn(root)).length === 2 ? true : undefined));
    await body!.cancel();
  });

  test("removes what a process that died long ago was fetching", async () => {
    const root = await newReader();
    const { fetching } = layoutOf(root);
    const longAgo = new Date(Date.now() - 7_200_000);
    for (const name of ["old", "new"]) await writeFile(join(fetching, name), "part of a file");
    await utimes(join(fetching, "old"), longAgo, longAgo);
    await createIntegrity(layoutOf(root)).check(await filesOf(root), () => [1]);
    expect((await readdir(fetching)).filter((name) => !name.includes(".lock"))).toEqual(["new"]);
  });

  test("refuses row groups that are damaged in the store, and serves no row of them", async () => {
    const root = await newReader();
    const { objects } = await mirrorAt(root);
    const server = await serve(root);
    const [file] = await filesOf(root);
    const key = `lake/${file!.path}`;
    const bytes = (await objects.get(key))!.bytes;
    const { groups } = file!.rowGroups!;
    const last = `/api/v1/entities/adj_factor?trade_date=${dayOf(DAYS - 1)}`;
    const first = `/api/v1/entities/adj_factor?trade_date=${dayOf(0)}`;
    try {
      await objects.put(key, Buffer.from(bytes).fill(7, groups[0]!.end - 1_000, groups[0]!.end - 900));
      expect((await server.get(first)).status).toBe(500);
      expect((await server.json(last)).count).toBe(STOCKS);
      await objects.put(key, Buffer.from(bytes).fill(7, bytes.length - 400, bytes.length - 300));
      expect((await server.get(first)).status).toBe(500);
      await objects.put(key, bytes.subarray(0, bytes.length - 5_000));
      expect((await server.get(first)).status).toBe(500);
      expect(await wholeIn(root)).toEqual([]);
    } finally {
      await objects.put(key, bytes);
    }
    expect((await server.json(first)).count).toBe(STOCKS);
  });
});

const fetchElsewhere = (root: string): ChildProcess =>
  fork(join(import.meta.dirname, "../support/excerpt-process.ts"), [root], { execArgv: ["--import", "tsx"] });

describe.skipIf(!STORES.includes("bucket"))("several processes", () => {
  test("that want the same row group ask for it once", async () => {
    const address = await newAddress("bucket");
    await publishRows(await newMirror(address), { adj_factor: ROWS });
    const root = await newMirror(address);
    await pull(root);
    const before = bucketProxy().requests.length;
    bucketProxy().fault = ({ path }) => (path.includes(".parquet") ? { delay: 2_000 } : undefined);
    const children = [fetchElsewhere(root), fetchElsewhere(root)];
    const codes = await Promise.all(children.map(async (child) => ((await once(child, "exit")) as [number])[0]));
    bucketProxy().fault = () => undefined;
    expect(codes).toEqual([0, 0]);
    const asked = bucketProxy()
      .requests.slice(before)
      .filter(({ path }) => path.includes(".parquet"));
    const ranges = asked.map(({ headers }) => headers.range);
    expect(new Set(ranges).size).toBe(ranges.length);
    expect(await excerptsIn(root)).toHaveLength(1);
  }, 120_000);
});

describe.skipIf(!STORES.includes("bucket"))("a bucket that goes away", () => {
  afterEach(() => {
    bucketProxy().fault = () => undefined;
  });

  test("in the middle of an excerpt leaves nothing, and the read succeeds when it is back", async () => {
    const address = await newAddress("bucket");
    await publishRows(await newMirror(address), { adj_factor: ROWS });
    const root = await newMirror(address);
    await pull(root);
    const server = await serve(root);
    const path = `/api/v1/entities/adj_factor?trade_date=${dayOf(60)}`;
    let passed = 0;
    bucketProxy().fault = ({ path: asked }) =>
      asked.includes(".parquet") && ++passed > 1 ? { status: 503, body: "" } : undefined;
    expect((await server.get(path)).status).toBe(503);
    expect(await excerptsIn(root)).toEqual([]);
    expect((await readdir(layoutOf(root).fetching)).filter((name) => !name.includes(".lock"))).toEqual([]);
    bucketProxy().fault = () => undefined;
    expect((await server.json(path)).count).toBe(STOCKS);
  }, 60_000);

  test("while a process dies leaves no half excerpt", async () => {
    const address = await newAddress("bucket");
    await publishRows(await newMirror(address), { adj_factor: ROWS });
    const root = await newMirror(address);
    await pull(root);
    bucketProxy().fault = ({ path, headers }) =>
      path.includes(".parquet") && headers.range?.startsWith("bytes=0-") ? { hangs: true } : undefined;
    const child = fetchElsewhere(root);
    const isFetched = async (): Promise<true | undefined> => {
      const names = await readdir(layoutOf(root).fetching);
      for (const name of names.filter((one) => !one.includes(".lock"))) {
        if ((await stat(join(layoutOf(root).fetching, name))).size > 0) return true;
      }
      return undefined;
    };
    await until("some bytes are there", isFetched);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await excerptsIn(root)).toEqual([]);
    bucketProxy().fault = () => undefined;
    const server = await serve(root);
    expect((await server.json(`/api/v1/entities/adj_factor?trade_date=${dayOf(0)}`)).count).toBe(STOCKS);
  }, 120_000);
});
