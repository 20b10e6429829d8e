// Sail, a cluster that speaks Spark Connect. Tests that need it are skipped unless `node scripts/sail.mjs` has installed
// it. With TAPEHOUSE_SPARK=sc://host:port, the tests ask that cluster instead, and those that end processes are skipped.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEachFile } from "./folders.js";
import { startPods, type Pods } from "./pods.js";
import { until } from "./processes.js";

const BIN = join(import.meta.dirname, "../../.readers/sail/bin");

/** The address of another cluster that the tests ask. */
export const OTHER_CLUSTER = process.env["TAPEHOUSE_SPARK"];

export const hasSail = existsSync(join(BIN, "sail"));

if (!hasSail) console.log("tests with a cluster are skipped: node scripts/sail.mjs installs it");

export interface Sail {
  readonly address: string;
  readonly server: ChildProcess;
  /** The processes that work for it; none if it works alone. */
  readonly workers: readonly ChildProcess[];
}

const started: { readonly server: ChildProcess; readonly pods: Pods | null }[] = [];

/** A cluster of one process, or of two more that work for it. It ends with the test file. `port` is a free one by default. */
export async function startSail(mode: "local" | "workers" = "local", port = 0): Promise<Sail> {
  const env = {
    ...process.env,
    PATH: `${BIN}${delimiter}${process.env["PATH"] ?? ""}`,
    RUST_LOG: "info",
    AWS_ALLOW_HTTP: "true",
  };
  const pods =
    mode === "local" ? null : await startPods({ PATH: env.PATH, SAIL_CLUSTER__WORKER_LISTEN_HOST: "127.0.0.1" });
  const cluster = {
    SAIL_MODE: "kubernetes-cluster",
    SAIL_CLUSTER__WORKER_INITIAL_COUNT: "2",
    SAIL_CLUSTER__WORKER_MAX_COUNT: "2",
    SAIL_CLUSTER__WORKER_LAUNCH_TIMEOUT_SECS: "10",
    SAIL_CLUSTER__WORKER_HEARTBEAT_TIMEOUT_SECS: "10",
    SAIL_CLUSTER__WORKER_HEARTBEAT_INTERVAL_SECS: "2",
    SAIL_CLUSTER__DRIVER_LISTEN_HOST: "127.0.0.1",
    SAIL_CLUSTER__DRIVER_EXTERNAL_HOST: "127.0.0.1",
  };
  const server = spawn(join(BIN, "sail"), ["spark", "server", "--port", String(port)], {
    env: pods === null ? { ...env, SAIL_MODE: "local" } : { ...env, ...pods.env, ...cluster },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push({ server, pods });
  let said = "";
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (piece: Buffer) => (said += piece.toString()));
  const address = await until("the cluster listens", () => {
    if (server.exitCode !== null) throw new Error(`it ended: ${said}`);
    return /server on (127\.0\.0\.1:\d+)/.exec(said)?.[1];
  });
  return { address: `sc://${address}`, server, workers: pods?.workers ?? [] };
}

export async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "close");
  server.kill("SIGKILL");
  await ended;
}

afterEachFile(async () => {
  for (const { server, pods } of started.splice(0)) {
    await stop(server);
    await pods?.close();
  }
});
