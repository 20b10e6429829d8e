// Servers in their own processes: ours as users run it, and the peers.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const MAIN = join(ROOT, "dist/main.js");
export const RESULTS = join(ROOT, "bench/results");
export const TOKEN = "bench";
const PEERS = join(ROOT, "bench/peers");

export interface BenchServer {
  readonly url: string;
  /** The peak resident memory of all its processes together, in bytes. */
  peakMemory(): number;
  /** The processor time of all its running processes together, in seconds. */
  processorTime(): number;
  stop(): Promise<void>;
}

/**
 * Our own server, as users run it, with its own cache, which is removed when it stops. With `keeping: false` it caches
 * no encoded rows and produces every response again.
 */
export async function serveTapehouse(
  data: string,
  { keeping = true, workers = "auto", main = MAIN } = {},
): Promise<BenchServer> {
  await mkdir(RESULTS, { recursive: true });
  const temp = await mkdtemp(join(RESULTS, "temp-"));
  const args = ["serve", "--data", data, "--port", "0", "--temp", temp, "--workers", workers];
  const server = await start([main, ...args, ...(keeping ? [] : ["--cache", "none"])], { TAPEHOUSE_TOKEN: TOKEN });
  const clear = (): void => rmSync(temp, { recursive: true, force: true });
  process.once("exit", clear);
  const stop = async (): Promise<void> => {
    await server.stop();
    process.off("exit", clear);
    clear();
  };
  return { ...server, stop };
}

export type Peer = "chdb" | "polars" | "duckdb-copy" | "plain-handler" | "loopback";

let installed: Promise<void> | undefined;

/**
 * npm writes its list last, so that an interrupted installation is done again. `npm ci` of npm 11 refuses the lock file:
 * chdb names packages of other platforms that the registry does not have.
 */
async function installPeers(): Promise<void> {
  if (existsSync(join(PEERS, "node_modules/.package-lock.json"))) return;
  process.stderr.write("installing the peers\n");
  await promisify(execFile)("npm", ["install", "--no-save", "--no-audit", "--no-fund"], { cwd: PEERS });
}

/** A peer of `bench/peers`. The packages are installed once, when a peer is first needed. */
export async function servePeer(peer: Peer): Promise<BenchServer> {
  await (installed ??= installPeers());
  return start([join(PEERS, `${peer}.mjs`)], {});
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

async function start(args: readonly string[], env: Readonly<Record<string, string>>): Promise<BenchServer> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
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
    peakMemory: () => processTree(child.pid!).reduce((sum, pid) => sum + peakOf(pid), 0),
    processorTime: () => processTree(child.pid!).reduce((sum, pid) => sum + processorTimeOf(pid), 0),
    stop: () => stop(child),
  };
}

/** A process and its children: a server may run in a child process of its command. */
function processTree(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
  return [pid, ...children.flatMap((child) => processTree(Number(child)))];
}

function peakOf(pid: number): number {
  const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
  return Number(kilobytes) * 1024;
}

/** The kernel counts in hundredths of a second. */
function processorTimeOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await exited;
}
