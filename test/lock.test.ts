import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { layoutOf } from "../src/lake/layout.js";
import { lookAtLock, withLock } from "../src/lock.js";
import { withWriteSession } from "../src/store/session.js";
import { temporaryFolder } from "./support/folders.js";
import { dropFactors, MEMORY, servedRows } from "./support/upkeep.js";

const lockPath = async (): Promise<string> => join(await temporaryFolder(), "write.lock");
const nothing = async (): Promise<string> => "done";
const age = (path: string, seconds: number): Promise<void> => {
  const moment = new Date(Date.now() - seconds * 1000);
  return utimes(path, moment, moment);
};
const foreign = JSON.stringify({ id: "someone", pid: 1, host: "elsewhere" });

describe("the write lock", { timeout: 120_000 }, () => {
  test("is held by one process at a time, and then by the next", async () => {
    const path = await lockPath();
    let inside = 0;
    const seen = await Promise.all(
      Array.from({ length: 8 }, () =>
        withLock(path, async () => {
          const before = inside++;
          await readdir(".");
          inside--;
          return before;
        }),
      ),
    );
    expect(seen).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    expect(await readdir(join(path, ".."))).toEqual([]);
  });

  test("is released if the work fails", async () => {
    const path = await lockPath();
    await expect(withLock(path, () => Promise.reject(new Error("no luck")))).rejects.toThrow("no luck");
    expect(await withLock(path, nothing, 10_000)).toBe("done");
  });

  test("of a dead process on this host is taken over at once", async () => {
    const path = await lockPath();
    const { pid } = spawnSync(process.execPath, ["--version"]);
    const host = await withLock(path, async () => (JSON.parse(await readFile(path, "utf8")) as { host: string }).host);
    expect(host).toContain(hostname());
    await writeFile(path, JSON.stringify({ id: "someone", pid, host }));
    expect(await withLock(path, nothing, 10_000)).toBe("done");
  });

  test.concurrent(
    "of another host is respected while it is touched, and taken over if it was not for a minute",
    async ({ expect }) => {
      const path = await lockPath();
      await writeFile(path, foreign);
      await age(path, 50);
      await expect(withLock(path, nothing, 0)).rejects.toThrow("another writer (process 1) holds the lake");
      await age(path, 70);
      expect(await withLock(path, nothing, 10_000)).toBe("done");
    },
  );

  test.concurrent("without a readable holder is taken over after a minute too", async ({ expect }) => {
    const path = await lockPath();
    await writeFile(path, "");
    await expect(withLock(path, nothing, 0)).rejects.toThrow("process unknown");
    await age(path, 70);
    expect(await withLock(path, nothing, 10_000)).toBe("done");
  });

  test.concurrent("that is still touched is respected, however old it is by a clock that jumps", async ({ expect }) => {
    const path = await lockPath();
    for (const jump of [3_600, -3_600, 73 * 365 * 86_400]) {
      await writeFile(path, foreign);
      await age(path, jump);
      let beats = 0;
      const beating = setInterval(() => void age(path, jump - ++beats), 500);
      await expect(withLock(path, nothing, 2_000)).rejects.toThrow("another writer (process 1) holds the lake");
      clearInterval(beating);
      expect(beats).toBeGreaterThan(1);
    }
  });

  test.concurrent("of a dead holder is taken over even if a wrong clock put it in the future", async ({ expect }) => {
    const path = await lockPath();
    await writeFile(path, foreign);
    await age(path, -73 * 365 * 86_400);
    expect(await withLock(path, nothing, 1_000)).toBe("done");
  });

  test("of a living process on this host is not reported as dead after a jump of the clock", async () => {
    const path = await lockPath();
    await withLock(path, async () => {
      await age(path, 3_600);
      expect(await lookAtLock(path)).toEqual({ pid: process.pid, isDead: false });
    });
  });

  test("that is not a file is named in the error, with the way out", async () => {
    const path = await lockPath();
    await mkdir(path);
    await expect(withLock(path, nothing, 100)).rejects.toThrow(`remove ${path} if no command is running`);
  });

  test("is touched by its holder every few seconds", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const path = await lockPath();
    try {
      await withLock(path, async () => {
        await age(path, 3_600);
        await vi.advanceTimersByTimeAsync(5_000);
        await vi.waitFor(async () => expect(Date.now() - (await stat(path)).mtimeMs).toBeLessThan(60_000));
      });
    } finally {
      vi.useRealTimers();
    }
  });

  test("that was taken over prevents its former holder from publishing, and the new holder's files stay", async () => {
    const root = await temporaryFolder();
    await dropFactors(root, ["000001.SZ,20240102,1"]);
    const { writeLock } = layoutOf(root);
    const slow = withWriteSession(root, MEMORY, async (session) => {
      // As a process does that considers this one dead.
      await rm(writeLock);
      await dropFactors(root, ["000001.SZ,20240103,2"]);
      const [list] = [session.base.files("adj_factor")];
      return session.publish([{ ...list, rows: 0 }], "too late");
    });
    await expect(slow).rejects.toThrow("another writer took over the lake; nothing was changed");
    expect(await servedRows(root)).toEqual(['["000001.SZ","2024-01-02",1]', '["000001.SZ","2024-01-03",2]']);
  });

  test("leaves no claims of processes that died while they waited", async () => {
    const path = await lockPath();
    const { pid } = spawnSync(process.execPath, ["--version"]);
    const host = await withLock(path, async () => (JSON.parse(await readFile(path, "utf8")) as { host: string }).host);
    await writeFile(`${path}.dead`, JSON.stringify({ id: "dead", pid, host }));
    await writeFile(`${path}.alive`, foreign);
    await withLock(path, nothing);
    expect(await readdir(join(path, ".."))).toEqual(["write.lock.alive"]);
  });
});
