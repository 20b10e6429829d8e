// Looking at the inbox: what is seen, when, and what it costs.
import { statSync } from "node:fs";
import { appendFile, mkdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { QUIET, watchInbox, type Inbox } from "../../src/inbox/watch.js";
import { temporaryFolder } from "../support/folders.js";

let root: string;
let now: number;
let inbox: Inbox;

beforeEach(async () => {
  root = await temporaryFolder();
  now = 0;
  inbox = watchInbox(root, () => now);
});

async function put(path: string, content = "x", mtime?: number): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), content);
  if (mtime !== undefined) await utimes(join(root, path), mtime, mtime);
}

const after = (milliseconds: number): readonly string[] => {
  now += milliseconds;
  return inbox.scan().map(({ path }) => path);
};

/** Marks a file as handled, as it is now. */
function settle(path: string): void {
  const { size, mtimeMs: mtime } = statSync(join(root, path));
  inbox.settle({ path, size, mtime });
}

describe("the inbox", () => {
  test("returns files that have stopped changing, the oldest first, until they are handled", async () => {
    await put("daily/b.csv", "x", 1_700_000_000);
    await put("daily/a/c.csv", "x", 1_600_000_000);
    await put("daily/a.csv", "x", 1_700_000_000);
    expect(after(0)).toEqual([]);
    expect(after(QUIET - 1)).toEqual([]);
    expect(after(1)).toEqual(["daily/a/c.csv", "daily/a.csv", "daily/b.csv"]);
    settle("daily/a.csv");
    inbox.defer("daily/b.csv", 1_000);
    expect(after(1)).toEqual(["daily/a/c.csv"]);
    expect(after(1_000)).toEqual(["daily/a/c.csv", "daily/b.csv"]);
  });

  test("waits again whenever a file changes", async () => {
    await put("daily/a.csv");
    after(0);
    for (let i = 0; i < 5; i++) {
      await appendFile(join(root, "daily/a.csv"), "x");
      expect(after(QUIET - 1)).toEqual([]);
    }
    expect(after(QUIET)).toEqual(["daily/a.csv"]);
  });

  test("forgets removed files and folders, and finds them again if they come back", async () => {
    await put("daily/a/b.csv");
    after(0);
    await rm(join(root, "daily/a"), { recursive: true });
    expect(after(QUIET)).toEqual([]);
    await put("daily/a/b.csv");
    after(1);
    expect(after(QUIET)).toEqual(["daily/a/b.csv"]);
  });

  test("reports which file replaced a known one", async () => {
    await put("daily/a.csv");
    after(0);
    now += QUIET;
    expect(inbox.scan()).toMatchObject([{ path: "daily/a.csv", isReplaced: false }]);
    settle("daily/a.csv");
    // Another size: within one tick of the file system's clock nothing else would tell the two apart.
    await put("daily/.a.csv", "another");
    await rename(join(root, "daily/.a.csv"), join(root, "daily/a.csv"));
    after(1);
    now += QUIET;
    expect(inbox.scan()).toMatchObject([{ path: "daily/a.csv", isReplaced: true }]);
  });

  test("returns a file again that changed while it was handled, however late the outcome is recorded", async () => {
    await put("daily/a.csv", "1");
    after(0);
    now += QUIET;
    const [handled] = inbox.scan();
    await put("daily/a.csv", "2", 1_700_000_000);
    expect(after(1)).toEqual([]);
    inbox.settle(handled!);
    expect(after(QUIET)).toEqual(["daily/a.csv"]);
    settle("daily/a.csv");
    expect(after(QUIET)).toEqual([]);
  });

  test("finds a change to an old file in a full scan", async () => {
    await put("daily/a.csv", "x", 1_600_000_000);
    after(0);
    after(QUIET);
    settle("daily/a.csv");
    now += 2 * 3_600_000;
    inbox.scan();
    await writeFile(join(root, "daily/a.csv"), "other");
    const found: string[] = [];
    for (let i = 0; i < 1_000 && found.length === 0; i++) found.push(...after(100));
    expect(found).toEqual(["daily/a.csv"]);
  });

  test("is scanned when a file becomes complete, and otherwise ten times a second", async () => {
    await put("daily/a.csv");
    inbox.scan();
    expect(inbox.untilNextScan()).toBeLessThanOrEqual(100);
    now += QUIET - 30;
    inbox.scan();
    expect(inbox.untilNextScan()).toBeLessThanOrEqual(30);
  });

  test("may be missing and appear later", async () => {
    inbox = watchInbox(join(root, "not/yet"), () => now);
    expect(after(0)).toEqual([]);
    await put("not/yet/daily/a.csv");
    after(1);
    expect(after(QUIET)).toEqual(["daily/a.csv"]);
  });
});

test("with thousands of old files a scan costs a small part of a full scan, and finds a new file at once", async () => {
  for (let i = 0; i < 40; i++) await mkdir(join(root, `daily/year=${i}`), { recursive: true });
  const writes = Array.from({ length: 4_000 }, (_, i) => put(`daily/year=${i % 40}/${i}.csv`, "x", 1_600_000_000));
  await Promise.all(writes);
  const time = (): number => {
    const began = performance.now();
    inbox.scan();
    return performance.now() - began;
  };
  const first = time();
  now += QUIET;
  for (const file of inbox.scan()) inbox.settle(file);
  now += 1;
  inbox.scan();
  // The next full scan is due after a hundred times the duration of the last one.
  const rest = Math.min(...[1, 2, 3].map(() => ((now += 1), time())));
  expect(rest).toBeLessThan(first / 3);
  await put("daily/year=7/new.csv");
  after(1);
  expect(after(QUIET)).toEqual(["daily/year=7/new.csv"]);
});
