// Servers in their own processes: how they are started, observed and stopped; and ours, as users run it.
import { spawn, type ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { memoryOf, peakOf, processorTimeOf, processTree, type Memory } from "./processes.js";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const MAIN = join(ROOT, "dist/main.js");
export const RESULTS = join(ROOT, "bench/results");
export const TOKEN = "bench";

export interface BenchServer {
  readonly url: string;
  /** The peak resident memory of all its processes together, in bytes. */
  peakMemory(): number;
  /** The memory of all its running processes together. */
  memory(): Memory;
  /** The processor time of all its running processes together, in seconds. */
  processorTime(): number;
  stop(): Promise<void>;
}

/**
 * Our own server, as users run it, with its own cache, which is removed when it stops. With `keeping: false` it caches
 * no encoded rows and produces every response again. `more` are further arguments.
 */
export async function serveTapehouse(
  data: string,
  { keeping = true, workers = "auto", main = MAIN, more = [] as readonly string[] } = {},
): Promise<BenchServer> {
  await mkdir(RESULTS, { recursive: true });
  const temp = await mkdtemp(join(RESULTS, "temp-"));
  const args = ["serve", "--data", data, "--port", "0", "--temp", temp, "--workers", workers, ...more];
  const server = await start(process.execPath, [main, ...args, ...(keeping ? [] : ["--cache", "none"])]);
  const clear = (): void => rmSync(temp, { recursive: true, force: true });
  process.once("exit", clear);
  const stop = async (): Promise<void> => {
    await server.stop();
    process.off("exit", clear);
    clear();
  };
  return { ...server, stop };
}

/** Calls `use` with the servers and stops them in any case. */
export async function withServers<S extends Readonly<Record<string, Promise<BenchServer>>>, T>(
  starting: S,
  use: (servers: Record<keyof S, BenchServer>) => Promise<T>,
): Promise<T> {
  const started = await Promise.allSettled(Object.values(starting));
  const running = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  try {
    const names: (keyof S)[] = Object.keys(starting);
    const servers = await Promise.all(Object.values(starting));
    return await use(Object.fromEntries(names.map((name, i) => [name, servers[i]!])) as Record<keyof S, BenchServer>);
  } finally {
    await Promise.all(running.map((server) => server.stop()));
  }
}

/** Starts a server that prints its address. */
export async function start(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<BenchServer> {
  const child = spawn(program, args, {
    env: { ...process.env, TAPEHOUSE_TOKEN: TOKEN, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = (): void => void child.kill();
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
  let said = "";
  child.stderr.on("data", (data: Buffer) => (said += data.toString()));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (data: Buffer) => {
      said += data.toString();
      const match = /listening on (\S+)/.exec(said);
      if (match) resolve(match[1]!);
    });
    child.once("exit", (code) => reject(new Error(`a server ended with code ${code}: ${said}`)));
  });
  return {
    url,
    peakMemory: () => peakOf(processTree(child.pid!)),
    memory: () => memoryOf(processTree(child.pid!)),
    processorTime: () => processorTimeOf(processTree(child.pid!)),
    stop: () => stop(child),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await exited;
}
