// Only regular files of the inbox are read, whatever else is put there.
import { execFileSync } from "node:child_process";
import { renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { chmod, link, mkdir, readFile, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { openDrop, UnreadableDrop } from "../../src/lake/drop-file.js";
import { layoutOf, type Layout } from "../../src/lake/layout.js";
import { openLake } from "../../src/lake/lake.js";
import { readDrops } from "../../src/lake/status.js";
import { linkOpenFile } from "../../src/inbox/stage-drops.js";
import { temporaryFolder } from "../support/folders.js";
import { drop, factors, ingester, ledgerOf, outcomesOf, servedRows } from "../support/ingest.js";

const SECRET = factors("SECRET.SZ,20240102,1");
const isLinux = process.platform === "linux";

let root: string;
let layout: Layout;
let inbox: string;
/** A file outside the inbox that would be taken if it were dropped. */
let secret: string;

beforeEach(async () => {
  root = await temporaryFolder();
  layout = layoutOf(root);
  inbox = join(root, "inbox/adj_factor");
  await mkdir(inbox, { recursive: true });
  await mkdir(layout.state);
  secret = join(layout.state, "tokens.json");
  await writeFile(secret, SECRET);
});

/** Path → reason of each refused drop. */
async function refusals(): Promise<Readonly<Record<string, string | null>>> {
  const refused = (await ledgerOf(root)).filter(({ outcome }) => outcome === "refused");
  expect(new Set(refused.map(({ path }) => path)).size).toBe(refused.length);
  return Object.fromEntries(refused.map(({ path, reason }) => [path, reason]));
}

async function expectNothingOfSecret(...watchers: readonly { readonly logged: readonly string[] }[]): Promise<void> {
  const rows = await servedRows(root, "adj_factor");
  const output = JSON.stringify([rows, await ledgerOf(root), watchers.flatMap(({ logged }) => logged)]);
  expect(output).not.toContain("SECRET");
}

describe("links in the inbox", () => {
  test("to files, devices, parents and each other are refused once each, and a good file beside them is taken", async () => {
    const watcher = await ingester(root);
    const links = {
      "state.csv": secret,
      "endless.csv": "/dev/zero",
      "root.csv": "/etc/hostname",
      "gone.csv": "/nowhere",
      again: ".",
      up: "../..",
      "all.parquet": "/",
    };
    for (const [name, target] of Object.entries(links)) await symlink(target, join(inbox, name));
    await symlink(layout.state, join(root, "inbox/daily"));
    await drop(root, "adj_factor/good.csv", factors("000001.SZ,20240102,1"));
    await watcher.settle();
    await watcher.settle();
    const reason = "links are not read from the inbox: copy the file, mount the folder, or run tapehouse import";
    const paths = [...Object.keys(links).map((name) => `adj_factor/${name}`), "daily"];
    expect(await refusals()).toEqual(Object.fromEntries(paths.map((path) => [path, reason])));
    expect((await outcomesOf(root))["adj_factor/good.csv"]).toBe("taken");
    await expectNothingOfSecret(watcher);
    const later = await ingester(root);
    await later.settle();
    expect(later.logged).toEqual([]);
    const { refused } = await readDrops(await openLake(root));
    expect(refused.map(({ path }) => path).sort()).toEqual([...paths].sort());
  });

  test("may be replaced by files, which are then taken", async () => {
    const watcher = await ingester(root);
    await symlink(secret, join(inbox, "a.csv"));
    await watcher.settle();
    await rm(join(inbox, "a.csv"));
    await drop(root, "adj_factor/a.csv", factors("000001.SZ,20240102,1"));
    await watcher.settle();
    expect(await outcomesOf(root)).toEqual({ "adj_factor/a.csv": "taken" });
  });

  test("are allowed above it: the data directory and the inbox itself may be links", async () => {
    const elsewhere = await temporaryFolder();
    await rename(join(root, "inbox"), join(elsewhere, "inbox"));
    await symlink(join(elsewhere, "inbox"), join(root, "inbox"));
    const linked = join(await temporaryFolder(), "data");
    await symlink(root, linked);
    await drop(linked, "adj_factor/a.csv", factors("000001.SZ,20240102,1"));
    await (await ingester(linked)).settle();
    expect(await outcomesOf(root)).toEqual({ "adj_factor/a.csv": "taken" });
  });
});

test.runIf(process.platform !== "win32")("pipes, sockets and devices are refused without opening them", async () => {
  const watcher = await ingester(root);
  execFileSync("mkfifo", [join(inbox, "pipe.csv")]);
  const server = createServer().listen(join(inbox, "socket.csv"));
  try {
    await drop(root, "adj_factor/good.csv", factors("000001.SZ,20240102,1"));
    await watcher.settle();
  } finally {
    server.close();
  }
  const reason = "it is a pipe, a socket or a device, not a file";
  expect(await refusals()).toEqual({ "adj_factor/pipe.csv": reason, "adj_factor/socket.csv": reason });
  expect((await outcomesOf(root))["adj_factor/good.csv"]).toBe("taken");
});

test.runIf(isLinux)("a file whose name is not UTF-8 is refused once, and listed until it is gone", async () => {
  const watcher = await ingester(root);
  const name = Buffer.concat([Buffer.from(`${inbox}/`), Buffer.from([0xb9, 0xc9]), Buffer.from(".csv")]);
  await writeFile(name, factors("000001.SZ,20240102,1"));
  await watcher.settle();
  await watcher.settle();
  expect(await refusals()).toEqual({ "adj_factor/\ufffd\ufffd.csv": "its name is not UTF-8; rename it" });
  const shown = async (): Promise<number> => (await readDrops(await openLake(root))).refused.length;
  expect(await shown()).toBe(1);
  await rm(name);
  expect(await shown()).toBe(0);
});

describe("a hard link to a file of the server's user", () => {
  test("is refused where others may write to the folder", async () => {
    const watcher = await ingester(root);
    await chmod(inbox, 0o777);
    await link(secret, join(inbox, "a.csv"));
    await drop(root, "adj_factor/good.csv", factors("000001.SZ,20240102,1"));
    await watcher.settle();
    expect((await refusals())["adj_factor/a.csv"]).toMatch(/^it has a second name \(a hard link\)/);
    expect((await outcomesOf(root))["adj_factor/good.csv"]).toBe("taken");
    await expectNothingOfSecret(watcher);
  });

  test("is taken if only that user can have made it, as cp -l and rsync --link-dest do", async () => {
    const watcher = await ingester(root);
    await chmod(inbox, 0o755);
    const own = join(await temporaryFolder(), "own.csv");
    await writeFile(own, factors("000001.SZ,20240102,1"));
    await link(own, join(inbox, "a.csv"));
    await watcher.settle();
    expect(await outcomesOf(root)).toEqual({ "adj_factor/a.csv": "taken" });
  });
});

describe("a file that is replaced by a link", () => {
  test("before it is opened, is not opened", async () => {
    await drop(root, "adj_factor/a.csv", factors());
    await rm(join(inbox, "a.csv"));
    await symlink(secret, join(inbox, "a.csv"));
    expect(await openDrop(layout, "adj_factor/a.csv")).toBeUndefined();
    await rm(join(inbox, "a.csv"));
    execFileSync("mkfifo", [join(inbox, "a.csv")]);
    expect(await openDrop(layout, "adj_factor/a.csv")).toBeUndefined();
  });

  test("is not opened if a folder above it became a link", async () => {
    await symlink(layout.state, join(inbox, "sub"));
    await expect(openDrop(layout, "adj_factor/sub/tokens.json")).rejects.toThrow(UnreadableDrop);
  });

  test.runIf(isLinux)("while it is read, is read to its end", async () => {
    const own = factors("000001.SZ,20240102,1");
    const file = await drop(root, "adj_factor/trade_date=20240102/a.csv", own);
    const opened = (await openDrop(layout, "adj_factor/trade_date=20240102/a.csv"))!;
    const linked = await linkOpenFile(opened, "adj_factor/trade_date=20240102/a.csv", await temporaryFolder());
    await rm(file);
    await symlink(secret, file);
    expect(await readFile(linked, "utf8")).toBe(own);
    expect(linked).toMatch(/\.csv$/);
    await opened.handle.close();
  });

  test("again and again, or whose folder is, never reveals the target of the link", async () => {
    const watcher = await ingester(root);
    const [file, folder, aside] = [join(inbox, "a.csv"), join(inbox, "sub"), await temporaryFolder()];
    await drop(root, "adj_factor/sub/tokens.csv", factors("000001.SZ,20240103,1"));
    await writeFile(join(layout.state, "tokens.csv"), SECRET);
    let turns = 0;
    const swap = (): void => {
      writeFileSync(join(aside, "a.csv"), factors(`000001.SZ,20240102,${++turns}`));
      renameSync(join(aside, "a.csv"), file);
      symlinkSync(secret, join(aside, "link"));
      renameSync(join(aside, "link"), file);
      renameSync(folder, join(aside, "sub"));
      symlinkSync(layout.state, folder);
      setImmediate(() => {
        unlinkSync(folder);
        renameSync(join(aside, "sub"), folder);
      });
    };
    const timer = setInterval(swap, 5);
    for (let i = 0; i < 40; i++) await watcher.step(500);
    clearInterval(timer);
    await new Promise((resolve) => setImmediate(resolve));
    expect(turns).toBeGreaterThan(10);
    await expectNothingOfSecret(watcher);
  });
});

describe("a file is judged by its kind and size before it is read", () => {
  /** Bytes that this process has read by system calls. */
  const bytesRead = async (): Promise<number> =>
    Number(/rchar: (\d+)/.exec(await readFile("/proc/self/io", "utf8"))![1]);

  test.runIf(isLinux)("and not read if it is too large, of a wrong kind, or not in an entity's folder", async () => {
    const watcher = await ingester(root, undefined, { maxDrop: 10e9 });
    const before = await bytesRead();
    for (const [path, size] of [
      ["adj_factor/sparse.csv", 300e9],
      ["adj_factor/sparse.xlsx", 9e9],
      ["adj_factor/sparse.parquet", 9e9],
      ["adj_factor/sparse.json", 9e9],
      ["nothing/sparse.csv", 9e9],
    ] as const) {
      await truncate(await drop(root, path, ""), size);
    }
    await drop(root, "adj_factor/good.csv", factors("000001.SZ,20240102,1"));
    await watcher.settle();
    expect((await bytesRead()) - before).toBeLessThan(100e6);
    expect(await refusals()).toEqual({
      "adj_factor/sparse.csv":
        "it has 300 GB, more than the 10 GB of --max-drop: split it, allow more, or run tapehouse import",
      "adj_factor/sparse.xlsx": expect.stringMatching(/^has an unknown format \(\.xlsx\)/),
      "adj_factor/sparse.parquet": "it is not Parquet",
      "adj_factor/sparse.json": "it is not JSON",
      "nothing/sparse.csv": 'there is no entity "nothing"',
    });
    expect((await outcomesOf(root))["adj_factor/good.csv"]).toBe("taken");
  });

  test.runIf(isLinux)("and reading stops if it is removed or changed", async () => {
    const watcher = await ingester(root, undefined, { maxDrop: 1e12 });
    const content = factors("000001.SZ,20240102,1");
    for (const change of [
      (path: string) => rm(path),
      (path: string) => truncate(path, content.length),
      (path: string) => rename(join(root, "other.csv"), path),
    ]) {
      const file = await drop(root, "adj_factor/a.csv", content);
      await truncate(file, 500e9);
      await writeFile(join(root, "other.csv"), factors("000001.SZ,20240103,1"));
      await watcher.begin(0);
      await watcher.begin(600);
      const before = await bytesRead();
      await change(file);
      await watcher.taken();
      expect((await bytesRead()) - before).toBeLessThan(50e9);
      await rm(file, { force: true });
      await watcher.step(600);
    }
    expect(await ledgerOf(root)).toEqual([]);
  });
});
