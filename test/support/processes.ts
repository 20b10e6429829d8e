// The command as real processes, which are ended after each test.
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, vi } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

/** Arguments of Node for our command: `npm test` has built it, `npx vitest` runs the sources as they are. */
export const COMMAND: readonly string[] = process.env["TAPEHOUSE_BUILT"]
  ? [join(ROOT, "dist/main.js")]
  : ["--import", import.meta.resolve("tsx"), join(ROOT, "src/main.ts")];

const running: ChildProcess[] = [];

const TOKEN = "t";
export const AUTHORIZED = { Authorization: `Bearer ${TOKEN}` };

export interface Process {
  readonly child: ChildProcess;
  readonly told: { stdout: string; stderr: string };
  /** The exit code; null where a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** Runs `command` with arguments after which those of Node for our command come. */
export function tapehouseUnder(command: readonly string[], ...args: readonly string[]): Process {
  const [file, ...rest] = [...command, process.execPath, ...COMMAND, ...args];
  const child = spawn(file!, rest, {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, TAPEHOUSE_TOKEN: TOKEN },
  });
  running.push(child);
  const told = { stdout: "", stderr: "" };
  child.stdout.on("data", (piece: Buffer) => (told.stdout += piece.toString()));
  child.stderr.on("data", (piece: Buffer) => (told.stderr += piece.toString()));
  return { child, told, ended: new Promise((resolve) => child.once("close", resolve)) };
}

export const tapehouse = (...args: readonly string[]): Process => tapehouseUnder([], ...args);

/** Ends every process that a test has started; runs after each test. */
export async function endAll(): Promise<void> {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGTERM");
    await ended;
  }
}

export interface ServeProcess extends Process {
  readonly url: string;
}

/** `tapehouse serve` on a free port, as soon as it listens. */
export async function serveInProcess(data: string, ...args: readonly string[]): Promise<ServeProcess> {
  const server = tapehouse("serve", "--data", data, "--port", "0", ...args);
  return { ...server, url: await urlOf(server) };
}

export const urlOf = ({ told, child }: Process): Promise<string> =>
  until("the server listens", () => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${told.stderr}`);
    return /listening on (\S+)/.exec(told.stdout)?.[1];
  });

/** Looks again and again, the less often the longer it takes: looking costs the processor time that others need. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  within = 120_000,
): Promise<T> {
  const deadline = performance.now() + within;
  for (let pause = 20; ; pause = Math.min(1.1 * pause, 250)) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await sleep(pause);
  }
}

/** Expects a line on a process's standard error, which may come later than what it tells of. */
export const expectTold = ({ told }: Process, line: RegExp): Promise<void> =>
  vi.waitFor(() => expect(told.stderr).toMatch(line), { timeout: 60_000 });

/** Living processes with these words on their command line. */
export const processesWith = (...words: readonly string[]): readonly number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const line = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
        return words.every((word) => line.includes(word));
      } catch {
        return false;
      }
    })
    .map(Number);

/** The living workers of a supervisor. Started by tsx, it has a child that is none. */
export function workersOf({ child }: Process, supervisor = child.pid!): readonly number[] {
  const children = readFileSync(`/proc/${supervisor}/task/${supervisor}/children`, "utf8").trim().split(" ");
  return processesWith("serve").filter((pid) => children.includes(String(pid)));
}

/** Also one that has ended and that nobody has asked after. It may go between any look and the next. */
export function isGone(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return !existsSync(`/proc/${pid}`);
  }
}
