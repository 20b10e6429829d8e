// Writers that share a bucket: each has a mirror of its own, and creating the object of a version is the commit.
import { describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import { checkLake } from "../../src/store/check-lake.js";
import { importFiles } from "../../src/store/import.js";
import { addGap } from "../../src/store/gaps.js";
import { readRecordedGaps } from "../../src/lake/gaps.js";
import { createToken, revokeToken } from "../../src/store/tokens.js";
import { readTokens } from "../../src/lake/tokens.js";
import { mirrorAt, newAddress, newMirror, pull, STORES } from "../support/mirrors.js";
import { publishRows } from "../support/lake.js";
import { csvFile, dropFactors, MEMORY, servedRows } from "../support/upkeep.js";

describe.each(STORES)("writers that share a lake in a %s", (store) => {
  async function mirrorsOf(count: number): Promise<readonly string[]> {
    const address = await newAddress(store);
    return Promise.all(Array.from({ length: count }, () => newMirror(address)));
  }

  test("what one writer publishes, another mirror of the bucket reads", async () => {
    const [one, other] = await mirrorsOf(2);
    const { version } = await dropFactors(one!, ["000001.SZ,20240102,1.5", "000002.SZ,20240102,2.5"]);
    await pull(other!);
    expect((await openLake(other!)).current().version).toEqual(version);
    expect(await servedRows(other!)).toEqual(await servedRows(one!));
    expect(await servedRows(other!)).toHaveLength(2);
  });

  test("a mirror that is made later has all kept versions", async () => {
    const address = await newAddress(store);
    const one = await newMirror(address);
    for (const day of [2, 3, 4]) await dropFactors(one, [`000001.SZ,2024010${day},1`]);
    const late = await newMirror(address);
    await pull(late);
    const [lake, first] = [await openLake(late), await openLake(one)];
    expect(await lake.versions()).toEqual(await first.versions());
    const [oldest] = await lake.versions();
    const found = await lake.at(oldest!.data_version);
    expect(typeof found === "string" ? found : found.files("adj_factor").rows).toBe(1);
  });

  test("a new mirror fetches the rows with which a drop is compared", async () => {
    const address = await newAddress(store);
    const days = "range(DATE '2024-01-01', DATE '2024-03-01', INTERVAL 1 DAY) d(day)";
    const codes = `SELECT '000001.SZ' AS ts_code, day::DATE AS trade_date`;
    await publishRows(await newMirror(address), {
      trade_cal: `SELECT 'SSE' AS exchange, day::DATE AS cal_date, (weekday(day) BETWEEN 1 AND 5)::INT AS is_open FROM ${days}`,
      stock_list: `SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS snapshot_date, DATE '1991-04-03' AS list_date`,
      stk_limit: `${codes}, 12 AS up_limit, 8 AS down_limit FROM ${days}`,
      daily: `${codes}, 10 AS close FROM ${days} WHERE day < DATE '2024-02-20'`,
    });
    const columns = "ts_code,trade_date,open,high,low,close,pre_close,vol,amount";
    for (const { close, strict } of [
      { close: 10, strict: true },
      { close: 99, strict: false },
    ]) {
      const root = await newMirror(address);
      await pull(root);
      const file = await csvFile(columns, [`000001.SZ,20240301,10,10,10,${close},10,1,1`]);
      const imported = await importFiles(root, entityNamed("daily")!, [file], { ...MEMORY, map: {}, set: {}, strict });
      expect(imported.version).not.toBeNull();
    }
    const calendar = await newMirror(address);
    await pull(calendar);
    const file = await csvFile("exchange,cal_date,is_open", ["SSE,20240301,1"]);
    await importFiles(calendar, entityNamed("trade_cal")!, [file], { ...MEMORY, map: {}, set: {} });
    const reader = await newMirror(address);
    await pull(reader);
    const options = { ...MEMORY, from: null, to: null, severity: null };
    const [found] = (await checkLake(reader, [entityNamed("daily")!], options)).entities;
    expect(found!.findings.map(({ check }) => check)).toContain("outside-high-low");
  });

  test("writers of different entities publish on top of each other", async () => {
    const roots = await mirrorsOf(4);
    const entities = ["adj_factor", "stk_limit", "daily_basic", "suspend_d"];
    const day = (i: number): string => `DATE '2024-01-02' + ${i}`;
    for (let i = 0; i < 3; i++) {
      await Promise.all(
        roots.map((root, at) =>
          publishRows(root, { [entities[at]!]: `SELECT '000001.SZ' AS ts_code, ${day(i)} AS trade_date` }),
        ),
      );
    }
    const [reader] = roots;
    await pull(reader!);
    const lake = await openLake(reader!);
    expect(lake.current().version.sequence).toBe(12);
    for (const entity of entities) expect(lake.current().files(entity).rows).toBe(3);
  });

  test("writers of one entity lose no row, and no version is published twice", async () => {
    const roots = await mirrorsOf(4);
    const publishes = 5;
    await Promise.all(
      roots.map(async (root, writer) => {
        for (let i = 0; i < publishes; i++) await dropFactors(root, [`00000${writer}.SZ,2024010${i + 1},1`]);
      }),
    );
    await pull(roots[0]!);
    const lake = await openLake(roots[0]!);
    const versions = await lake.versions();
    expect(lake.current().files("adj_factor").rows).toBe(roots.length * publishes);
    expect(versions.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    expect([...versions].sort((a, b) => (a.data_version < b.data_version ? -1 : 1))).toEqual(versions);
  });

  test("tokens and gaps that several mirrors change are all kept", async () => {
    const roots = await mirrorsOf(3);
    const now = new Date();
    const forAll = { entities: null, expires: null };
    await Promise.all(roots.map((root, i) => createToken(root, `token ${i}`, forAll, now)));
    const gap = { start: "20240102", end: "20240102", code: null };
    await Promise.all(roots.map((root, i) => addGap(root, entityNamed("daily")!, { ...gap, kind: `kind_${i}` }, now)));
    await revokeToken(roots[2]!, "token 0");
    const layout = layoutOf(roots[1]!);
    const mirror = await mirrorAt(roots[1]!);
    await mirror.pull.files(layout.tokens, layout.gaps);
    expect((await readTokens(layout.tokens)).tokens.map(({ name }) => name).sort()).toEqual(["token 1", "token 2"]);
    const gaps = await readRecordedGaps(layout.gaps);
    expect(gaps.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(gaps.map(({ kind }) => kind).sort()).toEqual(["kind_0", "kind_1", "kind_2"]);
  });

  test("nothing but the lake and its state is sent to the bucket", async () => {
    const root = await newMirror(await newAddress(store));
    await dropFactors(root, ["000001.SZ,20240102,1.5"]);
    const keys: string[] = [];
    for await (const { key } of (await mirrorAt(root)).objects.list("")) keys.push(key);
    const folders = keys.map((key) => key.split("/").slice(0, -1).join("/"));
    expect([...new Set(folders)].sort()).toEqual(["lake/adj_factor", "state", "state/lists", "state/versions"]);
  });
});
