// How long do the small questions of a backtest take, one client, one connection, on a lake of five million rows?
import { Agent, get } from "node:http";
import { demoLake, median, report, serveTapehouse, TOKEN } from "./harness.js";

const TRIES = 200;
const lake = await demoLake(5000, 1000);
const server = await serveTapehouse(lake);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Milliseconds from the request to the last byte. Throws where the answer is not a whole 200. */
function ask(path: string): Promise<{ readonly ms: number; readonly body: string }> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    get(server.url + path, { agent, headers: { Authorization: `Bearer ${TOKEN}` } }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () => {
        const body = Buffer.concat(pieces).toString();
        if (response.statusCode === 200) resolve({ ms: performance.now() - started, body });
        else reject(new Error(`${path}: ${response.statusCode} ${body}`));
      });
      response.on("error", reject);
    }).on("error", reject);
  });
}

const column = async (path: string): Promise<string[]> =>
  (JSON.parse((await ask(path)).body) as { rows: string[][] }).rows.map((row) => row[0]!);

try {
  const codes = await column("/api/v1/entities/stock_list?fields=ts_code");
  const days = await column(
    "/api/v1/entities/trade_cal?fields=cal_date&is_open=1&start_date=20220101&end_date=20251231",
  );
  const some = (list: readonly string[], i: number): string => list[(i * 7919) % list.length]!;
  const questions: Record<string, (i: number) => string> = {
    "one stock, all years": (i) => `/api/v1/entities/daily?ts_code=${some(codes, i)}`,
    "one day, whole market": (i) => `/api/v1/entities/daily?trade_date=${some(days, i)}`,
    "calendar shift": (i) => `/api/v1/calendar/shift?date=${some(days, i)}&n=1`,
    "20 stocks, one year": (i) =>
      `/api/v1/entities/daily?start_date=20240101&end_date=20241231&ts_code=${Array.from({ length: 20 }, (_, k) => some(codes, i * 20 + k)).join(",")}`,
    "page of 1,000 rows": () => "/api/v1/entities/daily?limit=1000",
    catalog: () => "/api/v1/meta",
  };
  const rows = [];
  for (const [question, path] of Object.entries(questions)) {
    const times: number[] = [];
    for (let i = -20; i < TRIES; i++) {
      const { ms } = await ask(path(Math.abs(i)));
      if (i >= 0) times.push(ms);
    }
    const p99 = times.toSorted((a, b) => a - b)[Math.floor(TRIES * 0.99)]!;
    rows.push({ question, "median ms": Number(median(times).toFixed(1)), "p99 ms": Number(p99.toFixed(1)) });
  }
  await report("small reads, 5,000 stocks by 1,000 days", rows);
} finally {
  agent.destroy();
  await server.stop();
}
