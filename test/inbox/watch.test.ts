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
  inbox = watchInbox(
    root,
    () => now,
    () => 0,
  );
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
    inbox = watchInbox(
      join(root, "not/yet"),
      () => now,
      () => 0,
    );
    expect(after(0)).toEqual([]);
    await put("not/yet/daily/a.csv");
    after(1);
    expect(after(QUIET)).toEqual(["daily/a.csv"]);
  });
});

describe("an inbox of which one entity's folder holds a lot", () => {
  /** What scans have cost so far: each look at the timer adds a millisecond. */
  let spent: number;
  const timer = (): number => spent++;

  beforeEach(() => {
    spent = 0;
    inbox = watchInbox(root, () => now, timer);
  });

  const many = async (folder: string, count: number): Promise<void> => {
    await mkdir(join(root, folder), { recursive: true });
    await Promise.all(Array.from({ length: count }, (_, i) => writeFile(join(root, folder, `${i}.csv`), "x")));
  };

  /** Scans as often as the inbox asks until `path` is returned. Gives everything that was returned. */
  const until = (path: string): ReadonlySet<string> => {
    const found = new Set<string>();
    for (let i = 0; i < 20_000 && !found.has(path); i++) for (const one of after(inbox.untilNextScan())) found.add(one);
    return found;
  };

  /** Scans until every file is returned and handled. */
  const settleAll = (count: number): void => {
    const settled = new Set<string>();
    for (let i = 0; i < 20_000 && settled.size < count; i++) {
      now += inbox.untilNextScan();
      for (const file of inbox.scan()) {
        inbox.settle(file);
        settled.add(file.path);
      }
    }
    expect(settled.size).toBe(count);
  };

  test("returns a file of another entity before the first scan of that folder ends", async () => {
    await many("stk_limit/m", 2_000);
    await put("daily/a.csv");
    expect([...until("daily/a.csv")]).toEqual(["daily/a.csv"]);
    await put("daily/b.csv");
    expect([...until("daily/b.csv")].filter((path) => path.startsWith("stk_limit"))).toEqual([]);
    expect(until("stk_limit/m/7.csv")).toContain("stk_limit/m/7.csv");
  });

  test("returns the files of one entity by age, however many scans it takes to find them", async () => {
    await many("stk_limit/m", 500);
    await put("stk_limit/m/old.csv", "x", 1_600_000_000);
    const returned: (readonly string[])[] = [];
    while (returned.length === 0) {
      const paths = after(100);
      if (paths.length > 0) returned.push(paths);
    }
    expect(returned[0]![0]).toBe("stk_limit/m/old.csv");
    expect(returned[0]).toHaveLength(501);
  });

  test("scans the other folders at the same pace while that one is scanned rarely, and reports it", async () => {
    await many("stk_limit/m", 2_000);
    await put("daily/a.csv");
    settleAll(2_001);
    await put("stk_limit/m/late.csv");
    for (let i = 0; i < 3; i++) {
      await put(`daily/b${i}.csv`);
      expect([...until(`daily/b${i}.csv`)]).toEqual([`daily/b${i}.csv`]);
      settle(`daily/b${i}.csv`);
    }
    expect(inbox.crowded()).toMatchObject([{ path: "stk_limit", isFull: false }]);
    expect(inbox.crowded()[0]!.names).toBeGreaterThan(2_000);
    expect(until("stk_limit/m/late.csv")).toContain("stk_limit/m/late.csv");
  });

  test("spends a small part of the time on scans while nothing changes", async () => {
    await many("stk_limit/m", 1_000);
    await many("daily/m", 1_000);
    settleAll(2_000);
    const [began, before] = [now, spent];
    while (now < began + 1_000_000) after(inbox.untilNextScan());
    expect(spent - before).toBeLessThan((now - began) / 4);
  });

  test("watches a limited number of names for each entity, reports the excess, and finds the rest after a removal", async () => {
    inbox = watchInbox(
      root,
      () => now,
      () => 0,
      10,
    );
    await many("stk_limit", 15);
    await put("daily/a.csv");
    after(0);
    const first = after(QUIET);
    expect(first).toContain("daily/a.csv");
    expect(first).toHaveLength(11);
    expect(inbox.crowded()).toEqual([{ path: "stk_limit", names: 10, seconds: 0, isFull: true }]);
    for (const path of first) await rm(join(root, path));
    after(100);
    expect(after(QUIET)).toHaveLength(5);
    expect(inbox.crowded()).toEqual([]);
  });
});
