// Damaged files of the state folder other than the manifest are reported and not read, and drops keep their order.
import { mkdir, readFile, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { openLake } from "../../src/lake/lake.js";
import { readRecordedGaps } from "../../src/lake/gaps.js";
import { layoutOf, type Layout } from "../../src/lake/layout.js";
import { inspectLedger, readLedger } from "../../src/lake/ledger.js";
import { readDrops } from "../../src/lake/status.js";
import { addGap } from "../../src/store/gaps.js";
import { withLock } from "../../src/lock.js";
import { repair } from "../../src/repair/repair.js";
import { vacuum } from "../../src/store/vacuum.js";
import { verify } from "../../src/repair/verify.js";
import { copyOf, temporaryFolder } from "../support/folders.js";
import { drop, factors, ingester } from "../support/ingest.js";
import { publishRows } from "../support/lake.js";
import { serve } from "../support/server.js";
import { dropFactors, MEMORY, servedRows } from "../support/upkeep.js";
import { someOf } from "../support/size.js";

const REPAIR = { ...MEMORY, deep: false, giveUp: false };
let root: string;
let layout: Layout;

beforeEach(async () => {
  root = await temporaryFolder();
  layout = layoutOf(root);
});

/** Changes one bit of the last place of `text` in a file. */
async function flip(path: string, text: string): Promise<void> {
  const bytes = await readFile(path);
  const at = bytes.lastIndexOf(text);
  expect(at).toBeGreaterThanOrEqual(0);
  bytes[at]! ^= 1;
  await writeFile(path, bytes);
}

const faults = async (): Promise<readonly string[]> =>
  (await verify(root, { ...MEMORY, deep: false })).faults.map(({ path, problem }) => `${path}: ${problem}`);

describe("a damaged ledger", () => {
  let taken: string;

  /** Three drops; the last one corrects a row of the first. */
  beforeAll(async () => {
    taken = await temporaryFolder();
    const one = await ingester(taken);
    const drops = [
      ["000001.SZ,20240102,1", "000001.SZ,20240103,1"],
      ["000001.SZ,20240104,2"],
      ["000001.SZ,20240103,3"],
    ];
    for (const [i, lines] of drops.entries()) {
      const path = await drop(taken, `adj_factor/${i + 1}.csv`, factors(...lines));
      await utimes(path, 1_700_000_000 + i, 1_700_000_000 + i);
      await one.settle();
    }
  });

  async function takeThree(): Promise<void> {
    root = await copyOf(taken);
    layout = layoutOf(root);
  }

  const ROWS = ['["000001.SZ","2024-01-02",1]', '["000001.SZ","2024-01-03",3]', '["000001.SZ","2024-01-04",2]'];

  const PLACES = [
    ["its content", "adj_factor/1.csv"],
    ["the checksum of the content", '"sha256":"'],
    ["a number", '"rows":'],
    ["the name of the checksum", '"checksum"'],
    ["the end of a line", "\n{"],
  ] as const;

  test.each(someOf(PLACES, 2))(
    "keeps an old drop from being taken over its correction, where %s changed",
    async (_, place) => {
      await takeThree();
      await flip(layout.ledger, place);
      await expect(ingester(root)).rejects.toThrow(/line \d of .* is damaged, .* tapehouse verify --repair/);
      expect(await servedRows(root)).toEqual(ROWS);
      expect(await faults()).toEqual([expect.stringMatching(/^state\/ledger.ndjson: line \d is damaged/)]);
      expect((await readDrops(await openLake(root))).damagedLines).toBe(1);

      const before = await readFile(layout.ledger);
      const { faults: left, manifest } = await repair(root, REPAIR);
      expect(left).toEqual([]);
      expect(manifest.join()).toContain("a copy of the damaged file is state/ledger.ndjson.damaged");
      expect(await readFile(`${layout.ledger}.damaged`)).toEqual(before);
      await (await ingester(root)).settle();
      expect(await servedRows(root)).toEqual(ROWS);
      expect(await faults()).toEqual([]);
    },
  );

  const LOSSES = [
    ["empty", (path: string) => truncate(path, 0)],
    ["gone", (path: string) => rm(path)],
  ] as const;

  test.each(someOf(LOSSES))(
    "that is %s stops the drops until it is repaired; then the inbox is taken again, the oldest first",
    async (_, harm) => {
      await takeThree();
      await harm(layout.ledger);
      await expect(ingester(root)).rejects.toThrow(/ledger\.ndjson is empty or missing, .* tapehouse verify --repair/);
      expect(await faults()).toEqual([expect.stringMatching(/^state\/ledger.ndjson: it is empty or missing /)]);
      expect(await readDrops(await openLake(root))).toMatchObject({ isLedgerLost: true });

      const { faults: left, manifest } = await repair(root, REPAIR);
      expect(left).toEqual([]);
      expect(manifest).toContain("state/ledger.ndjson was empty or missing: a new one was created");
      await (await ingester(root)).settle();
      expect(await servedRows(root)).toEqual(ROWS);
      expect(await faults()).toEqual([]);
      expect(await readDrops(await openLake(root))).toMatchObject({ isLedgerLost: false, imported: 3 });
    },
  );

  test("that is emptied or removed while the inbox is watched is restored with the next drop", async () => {
    await takeThree();
    const one = await ingester(root);
    for (const [i, harm] of [(path: string) => truncate(path, 0), (path: string) => rm(path)].entries()) {
      const before = await readLedger(layout.ledger);
      await harm(layout.ledger);
      await drop(root, `adj_factor/more${i}.csv`, factors(`00000${i}.SZ,20240105,4`));
      await one.settle();
      expect((await readLedger(layout.ledger)).slice(0, -1)).toEqual(before);
    }
  });

  test("that does not exist yet is not a fault, however the first version was made", async () => {
    expect(await faults()).toEqual([]);
    await publishRows(root, {
      adj_factor: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, 1.0 AS adj_factor",
    });
    await (await ingester(root)).settle();
    expect(await faults()).toEqual([]);
  });

  test("is not repaired while it is in use", async () => {
    await takeThree();
    await flip(layout.ledger, "adj_factor/1.csv");
    const { faults: left, manifest } = await withLock(layout.ingestLock, () => repair(root, REPAIR));
    expect(manifest.join()).toContain("stop the process that watches the inbox");
    expect(left.map(({ path }) => path)).toEqual(["state/ledger.ndjson"]);
  });

  test("is not one with a line that a crash cut short: its drop is imported again", async () => {
    await takeThree();
    const { size } = await stat(layout.ledger);
    for (const cut of [2, 20, 40, 200]) {
      await truncate(layout.ledger, size - cut);
      expect((await inspectLedger(layout.ledger)).damaged).toEqual([]);
    }
    await (await ingester(root)).settle();
    expect((await inspectLedger(layout.ledger)).entries.map(({ path }) => path)).toEqual(
      [1, 2, 3].map((i) => `adj_factor/${i}.csv`),
    );
    expect(await servedRows(root)).toEqual(ROWS);
  });

  test("of an earlier release, without checksums, is read; lines that are not entries are damage", async () => {
    await takeThree();
    const text = await readFile(layout.ledger, "utf8");
    await writeFile(layout.ledger, text.replaceAll(/,"checksum":"\w+"|"span":\{[^}]*\},/g, ""));
    const { entries, damaged } = await inspectLedger(layout.ledger);
    expect([entries.length, damaged]).toEqual([3, []]);
    await writeFile(layout.ledger, '{"path":"a"}\n[1]\n');
    expect((await inspectLedger(layout.ledger)).damaged).toEqual([1]);
  });
});

describe("damaged gaps", () => {
  test("are not served, and every command reports them; gaps of an earlier release are served", async () => {
    await dropFactors(root, ["000001.SZ,20240102,1"]);
    const gap = { start: "20240103", end: "20240104", code: null, kind: "timeout" };
    const added = await addGap(root, entityNamed("adj_factor")!, gap, new Date());
    await writeFile(layout.gaps, JSON.stringify([added], null, 2));
    expect(await readRecordedGaps(layout.gaps)).toEqual([added]);
    await addGap(root, entityNamed("daily")!, gap, new Date());
    const server = await serve(root);
    const ask = async (): Promise<unknown> => {
      const response = await server.get("/api/v1/entities/adj_factor/gaps");
      const { code, gaps } = (await response.json()) as { code?: string; gaps?: readonly unknown[] };
      return code ?? gaps?.length;
    };
    expect(await ask()).toBe(1);
    await flip(layout.gaps, "20240103");
    expect(await ask()).toBe("data_damaged");
    for (const content of ["", "{}", "null", "[1]", '[{"id":1}]', "\0\0"]) {
      await writeFile(layout.gaps, content);
      expect(await ask()).toBe("data_damaged");
      expect(await faults()).toEqual([
        expect.stringMatching(
          /^state\/gaps.json: it is damaged.*: restore it from a backup, or move it away and start a new one$/,
        ),
      ]);
      await expect(addGap(root, entityNamed("daily")!, gap, new Date())).rejects.toThrow("is damaged");
    }
  });
});

describe("a damaged list of removed versions", () => {
  test("never silently makes a removed version unknown, and a vacuum or a repair restores it", async () => {
    for (let i = 1; i <= 9; i++) await dropFactors(root, [`000001.SZ,20240102,${i}`]);
    const later = (ms: number): Date => new Date(Date.now() + ms);
    const { removed } = await vacuum(root, { olderThan: 0, keep: 2, now: later(3_600_000) });
    expect(removed).toHaveLength(7);
    const whole = await readFile(layout.removed, "utf8");
    const lake = await openLake(root);
    for (const damaged of [
      `x${whole}`,
      whole.slice(0, -5),
      whole.replace(":", ";"),
      whole.replaceAll("\n", "\v"),
      "\0".repeat(58),
    ]) {
      await writeFile(layout.removed, damaged);
      for (const version of removed) {
        const found = await lake.at(version).catch((error: unknown) => (error as Error).message);
        expect(found).toMatch(/^removed$|the list of removed versions is damaged; see: tapehouse verify/);
      }
      expect(await faults()).toEqual(["state/removed.txt: the list of removed versions is damaged"]);
    }
    await writeFile(layout.removed, `x${whole}`);
    await vacuum(root, { olderThan: 0, keep: 1, now: later(3_600_000) });
    expect(await faults()).toEqual([]);
    await writeFile(layout.removed, whole.slice(0, -5));
    expect((await repair(root, REPAIR)).faults).toEqual([]);
    expect(await lake.at(removed[5]!)).toBe("removed");
  });
});

test.each(["pointer", "ledger", "gaps", "removed"] as const)(
  "a folder in the place of the %s is reported by verify and by a repair",
  async (name) => {
    await dropFactors(root, ["000001.SZ,20240102,1"]);
    await rm(layout[name], { force: true });
    await mkdir(layout[name]);
    expect((await faults()).join()).toContain("it is a folder: move it away");
    const message = await repair(root, REPAIR).then(
      ({ faults: left }) => left.map(({ problem }) => problem).join(),
      (error: unknown) => (error as Error).message,
    );
    expect(message).toContain(
      name === "pointer" ? `a folder is in the place of a file (${layout.pointer})` : "it is a folder",
    );
  },
);
