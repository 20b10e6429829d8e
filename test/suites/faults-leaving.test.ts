// Clients that leave: how soon their queries end, and that nothing of them stays.
import { beforeAll, describe, expect, test, vi } from "vitest";
import { median } from "../support/figures.js";
import { temporaryFolder } from "../support/folders.js";
import { AUTHORIZED, serveInProcess, until, type ServeProcess } from "../support/processes.js";
import { size } from "../support/size.js";
import {
  closed,
  expectRightSmall,
  expectRightWide,
  publishWide,
  requestOf,
  socketTo,
  WIDE,
} from "../support/wide-read.js";

vi.setConfig({ testTimeout: 3_600_000 });

const LEAVE = size("LEAVE", 8, 50);
/** Times that it is tried again where the answer came before anyone could leave. */
const TRIES = 10 * LEAVE;

const CODES = Array.from({ length: 1_000 }, (_, i) => `${String(i * 5).padStart(6, "0")}.SZ`);

let data: string;
let temp: string;

beforeAll(async () => {
  data = await temporaryFolder();
  temp = await temporaryFolder();
  await publishWide(data);
});

/** Responses that hold a slot, and running queries. */
async function busy({ url }: ServeProcess): Promise<{ readonly streams: number; readonly statements: number }> {
  const text = await (await fetch(`${url}/metrics`, { headers: AUTHORIZED })).text();
  const valueOf = (name: string): number => Number(new RegExp(`^${name} (\\d+)`, "m").exec(text)![1]);
  return { streams: valueOf("tapehouse_streams_open"), statements: valueOf("tapehouse_statements_working") };
}

/** Milliseconds from a client's leaving until nothing is at work for it; null where its answer was whole before. */
type Leaving = (server: ServeProcess) => Promise<number | null>;

async function untilNothingWorks(server: ServeProcess): Promise<number> {
  const left = performance.now();
  for (;;) {
    const { streams, statements } = await busy(server);
    const took = performance.now() - left;
    if (streams === 0 && statements === 0) return took;
    if (took > 120_000) throw new Error(`${streams} streams and ${statements} statements are still there`);
  }
}

/** Leaves in the middle of a body that it reads. */
const whileReading: Leaving = async (server) => {
  const socket = socketTo(server.url, `${requestOf(WIDE)}\r\n`);
  let bytes = 0;
  socket.on("data", (piece) => (bytes += piece.length) > 2_000_000 && socket.destroy());
  await closed(socket);
  return untilNothingWorks(server);
};

/** Leaves while DuckDB sorts, before the first byte. */
const whileSorting: Leaving = async (server) => {
  const socket = socketTo(server.url, `${requestOf(`${WIDE}?order=desc&ts_code=${CODES.join()}`)}\r\n`);
  let answered = false;
  socket.once("data", () => (answered = true));
  await until("it is at work", async () => answered || (await busy(server)).statements > 0 || undefined);
  socket.destroy();
  await closed(socket);
  const took = await untilNothingWorks(server);
  return answered ? null : took;
};

describe("the query of a client that leaves", () => {
  test.each<[string, Leaving]>([
    ["in the middle of a wide read", whileReading],
    ["during a sort", whileSorting],
  ])("%s ends, and the next answers are right", async (what, leave) => {
    const args = ["--workers", "1", "--no-watch", "--cache", "none", "--log-level", "error"];
    const server = await serveInProcess(data, "--temp", temp, ...args);
    await expectRightWide(server);
    const idle: number[] = [];
    for (let i = 0; i < 20; i++) idle.push(await untilNothingWorks(server));
    const times: number[] = [];
    for (let tries = 0; times.length < LEAVE && tries < TRIES; tries++) {
      const took = await leave(server);
      if (took !== null) times.push(took);
      if (tries % 10 === 0) await expectRightSmall(server);
    }
    console.log(
      `${times.length} clients left ${what}: nothing worked for them after ${median(times).toFixed(0)} ms (median), ` +
        `${Math.max(...times).toFixed(0)} ms (most); to ask took ${median(idle).toFixed(0)} ms of it`,
    );
    expect(times.length).toBeGreaterThan(0);
    await expectRightSmall(server);
    await expectRightWide(server);
    expect(await busy(server)).toEqual({ streams: 0, statements: 0 });
    expect(server.told.stderr).toBe("");
  });
});
