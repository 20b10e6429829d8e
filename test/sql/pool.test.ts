// The processes that run SQL: how many there are, how long they live, and what they leave to others.
import { readdirSync, readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import type { Answering } from "../../src/sql/messages.js";
import { openSqlPool, type SqlPool } from "../../src/sql/pool.js";
import { temporaryFolder } from "../support/folders.js";
import { isGone, processesWith, until } from "../support/processes.js";

const entry = new URL("../../dist/sql/runner.js", import.meta.url);

async function poolOf(processes: number): Promise<SqlPool> {
  const tempDirectory = await temporaryFolder();
  const pool = openSqlPool({
    ...{ processes, queue: 10, memory: "200MB", spill: "1MB", threads: 2, tempDirectory, entry, cluster: null },
  });
  onTestFinished(() => pool.close());
  return pool;
}

const WITHOUT_FILES = { lists: {}, paths: {} };
const AS_CSV: Answering = {
  ...{ dataVersion: "now", format: "csv", dates: null, compression: null, bom: null },
  ...{ encoding: "identity", limit: null, endFirst: false, mostRows: 1e6, deadline: Infinity },
};

async function rowsOf(pool: SqlPool, sql: string): Promise<string> {
  const session = await pool.open(AbortSignal.timeout(100_000));
  try {
    await session.read({ sql, parameters: {} });
    await session.run("local", WITHOUT_FILES, AS_CSV);
    let text = "";
    for await (const piece of session.pieces(() => undefined)) text += Buffer.from(piece).toString("utf8");
    return text;
  } finally {
    session.close();
  }
}

function runners(): readonly number[] {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").trim().split(" ");
  return processesWith(entry.pathname).filter((pid) => children.includes(String(pid)) && !isGone(pid));
}

test("no process is started before the first statement; those that follow run in the same one, also after an error", async () => {
  const pool = await poolOf(2);
  expect(runners()).toEqual([]);
  expect(await rowsOf(pool, "SELECT 1 AS a")).toBe("a\n1\n");
  const [first, ...others] = runners();
  expect(others).toEqual([]);
  for (const wrong of ["SELECT x", "SELECT 1e18::BIGINT * i AS a FROM range(3000) r(i)"]) {
    await expect(rowsOf(pool, wrong)).rejects.toMatchObject({ code: "invalid_sql" });
    expect(await rowsOf(pool, "SELECT 2 AS a")).toBe("a\n2\n");
  }
  expect(runners()).toEqual([first]);
});

test("statements at the same time run in several processes, up to the number that is allowed", async () => {
  const pool = await poolOf(2);
  const all = Array.from({ length: 6 }, (_, i) => rowsOf(pool, `SELECT sum(i) AS a FROM range(${i + 1}) r(i)`));
  expect(await Promise.all(all)).toEqual([0, 1, 3, 6, 10, 15].map((sum) => `a\n${sum}\n`));
  expect(runners()).toHaveLength(2);
});

test("every thread of a process that runs SQL has a low priority", async () => {
  const pool = await poolOf(1);
  await rowsOf(pool, "SELECT sum(i) AS a FROM range(10_000_000) r(i)");
  const [pid] = runners();
  const nice = readdirSync(`/proc/${pid}/task`).map((thread) => {
    const text = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[16]);
  });
  expect(nice.length).toBeGreaterThan(4);
  expect(Math.min(...nice)).toBeGreaterThanOrEqual(10);
});

test("the only process is replaced as soon as it is gone, without waiting for a statement", async () => {
  const pool = await poolOf(2);
  await rowsOf(pool, "SELECT 1 AS a");
  const [first] = runners();
  process.kill(first!, "SIGKILL");
  const [second] = await until("there is another process", () => {
    const now = runners();
    return now.length === 1 && now[0] !== first ? now : undefined;
  });
  expect(await rowsOf(pool, "SELECT 1 AS a")).toBe("a\n1\n");
  expect(runners()).toEqual([second]);
});
