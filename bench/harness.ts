// What every bench needs: a lake of a known size, servers as processes of their own, a client that costs little, and
// a table with ratios.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
const MAIN = join(ROOT, "dist/main.js");
export const TOKEN = "bench";

/** A demo lake of this many stocks and days, made once and kept in `bench/results` between runs. */
export async function demoLake(stocks: number, days: number): Promise<string> {
  const folder = join(ROOT, "bench/results", `lake-${stocks}x${days}`);
  if (!existsSync(join(folder, "state/current"))) {
    await mkdir(folder, { recursive: true });
    process.stderr.write(`making a demo lake of ${stocks} stocks and ${days} days\n`);
    await promisify(execFile)(process.execPath, [
      MAIN,
      "demo",
      "--data",
      folder,
      "--stocks",
      `${stocks}`,
      "--days",
      `${days}`,
    ]);
  }
  return folder;
}

export interface BenchServer {
  readonly url: string;
  /** The largest resident memory so far, bytes. */
  peakMemory(): number;
  stop(): Promise<void>;
}

/** Our own server, as users run it. */
export const serveTapehouse = (data: string): Promise<BenchServer> =>
  start([MAIN, "serve", "--data", data, "--port", "0"], { TAPEHOUSE_TOKEN: TOKEN });

/** A peer: a script in `bench/peers` that prints `listening on URL`. */
export const servePeer = (script: string, args: readonly string[]): Promise<BenchServer> =>
  start(["--import", "tsx", join(ROOT, "bench/peers", script), ...args], {});

async function start(args: readonly string[], env: Record<string, string>): Promise<BenchServer> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (data: Buffer) => {
      said += data.toString();
      const match = /listening on (\S+)/.exec(said);
      if (match) resolve(match[1]!);
    });
    child.once("exit", (code) => reject(new Error(`a server ended with code ${code}: ${said}`)));
  });
  return { url, peakMemory: () => Math.max(...processTree(child.pid!).map(peakOf)), stop: () => stop(child) };
}

/** The process and its children (a server may run in a child of its command). */
function processTree(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
  return [pid, ...children.flatMap((child) => processTree(Number(child)))];
}

function peakOf(pid: number): number {
  const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
  return Number(kilobytes) * 1024;
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await exited;
}

export interface Pull {
  /** Seconds. */
  readonly firstByte: number;
  readonly total: number;
  readonly bytes: number;
}

/** One pull by curl, thrown away as it comes. Throws where the answer is not a whole 200. */
export async function pull(url: string, headers: readonly string[] = []): Promise<Pull> {
  const write = "%{http_code} %{time_starttransfer} %{time_total} %{size_download}";
  const flags = ["-sS", "-o", "/dev/null", "-w", write, "-H", `Authorization: Bearer ${TOKEN}`];
  const { stdout } = await promisify(execFile)("curl", [...flags, ...headers.flatMap((h) => ["-H", h]), url]);
  const [status, firstByte, total, bytes] = stdout.split(" ").map(Number) as [number, number, number, number];
  if (status !== 200) throw new Error(`${url} answered ${status}`);
  return { firstByte, total, bytes };
}

export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** Runs `tries` of each contender in turn (A B A B …) after one warm-up, so that drift of the machine hits all alike. */
export async function inTurn<T>(
  contenders: Readonly<Record<string, () => Promise<T>>>,
  tries: number,
): Promise<Record<string, T[]>> {
  const results: Record<string, T[]> = {};
  for (const [name, run] of Object.entries(contenders)) {
    await run();
    results[name] = [];
  }
  for (let i = 0; i < tries; i++) {
    for (const [name, run] of Object.entries(contenders)) results[name]!.push(await run());
  }
  return results;
}

/** Prints a table and keeps it with what it was measured on. */
export async function report(question: string, rows: readonly Record<string, string | number>[]): Promise<void> {
  process.stdout.write(`\n${question}\n`);
  console.table(rows);
  const { stdout } = await promisify(execFile)("git", ["rev-parse", "HEAD"], { cwd: ROOT }).catch(() => ({
    stdout: "none",
  }));
  const machine = { cores: cpus().length, processor: cpus()[0]?.model, memory: totalmem(), node: process.version };
  const file = join(ROOT, "bench/results", `${question.replaceAll(/\W+/g, "-")}.json`);
  await mkdir(join(ROOT, "bench/results"), { recursive: true });
  await writeFile(file, `${JSON.stringify({ question, commit: stdout.trim(), machine, rows }, null, 2)}\n`);
}
