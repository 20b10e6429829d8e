// tapehouse serve: runs the server in a process of its own, whose thread pool has room for every query.
import { spawn } from "node:child_process";
import { Command } from "commander";
import { flagOf, readConfig, SETTINGS, type ServerConfig, type SettingName } from "../config.js";
import { CommandError } from "../errors.js";
import { startServer } from "../http/server.js";
import { openLake } from "../lake/lake.js";
import { createToken, revokeToken } from "../lake/write/tokens.js";
import { makeDemo } from "./demo.js";
import { startIngester } from "./ingester.js";

interface ServeOptions extends Partial<Record<Exclude<SettingName, "watch">, string>> {
  readonly demo?: boolean;
  /** False for --no-watch. */
  readonly watch?: string | false;
}

/** Threads of libuv's pool beyond one for each query: for files, names and the rest of the process. */
const SPARE_THREADS = 8;

export function serveCommand(): Command {
  const command = new Command("serve").description("Serve the lake over HTTP.");
  for (const [name, setting] of Object.entries(SETTINGS)) {
    command.option(
      `${flagOf(name as SettingName)} <value>`,
      `${setting.meaning} (env ${setting.env}, default ${setting.fallback})`,
    );
  }
  return command
    .option("--no-watch", "the same as --watch off, for replicas and read-only disks")
    .option("--demo", "make the demo market first where the lake is empty, and print a request that works")
    .addHelpText("after", "\nExample:\n  $ tapehouse serve --data ./parquet --port 8080")
    .action(async (options: ServeOptions) => {
      const config = configOf(options);
      const threads = String(config.concurrency + SPARE_THREADS);
      if (process.env["UV_THREADPOOL_SIZE"] !== threads) await serveInChild(threads);
      else await serve(options);
    });
}

/** The size of libuv's pool is fixed when a process first uses it, so it has to be set before the process starts. */
async function serveInChild(threads: string): Promise<void> {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, UV_THREADPOOL_SIZE: threads },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? (signal === "SIGINT" || signal === "SIGTERM" ? 0 : 1)));
  });
  if (exitCode !== 0) process.exit(exitCode);
}

function configOf({ watch, ...options }: ServeOptions): ServerConfig {
  return readConfig({ ...options, ...(watch === undefined ? {} : { watch: watch || "off" }) }, process.env);
}

async function serve(options: ServeOptions): Promise<void> {
  const config = configOf(options);
  const empty = (await openLake(config.data)).current().version.sequence === 0;
  if (options.demo && empty) await makeDemo(config.data, { stocks: 300, days: 750, seed: 1, memory: "4GB" });
  const log = (message: string): void => void process.stderr.write(`${message}\n`);
  const server = await startServer(config, log);
  const ingester = config.watch ? startIngester(ingestArguments(options), log) : null;
  process.stdout.write(`listening on ${server.url}\n`);
  if (options.demo) process.stdout.write(`\n${await firstRequest(config.data, server.url)}\n`);
  await new Promise<void>((resolve) => {
    for (const event of ["SIGINT", "SIGTERM", "disconnect"] as const) process.once(event, () => resolve());
  });
  await Promise.all([server.close(), ingester?.stop()]);
  if (process.connected) process.disconnect();
}

/** The options that the command `ingest` shares with this one; the environment it inherits. */
function ingestArguments({ data, ingestMemory, keepVersions, retention, deadline }: ServeOptions): string[] {
  const given = Object.entries({
    "--data": data,
    "--deadline": deadline,
    "--ingest-memory": ingestMemory,
    "--keep-versions": keepVersions,
    "--retention": retention,
  });
  return given.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
}

/** A curl line that can be pasted, with a token of its own that is made anew at each start. */
async function firstRequest(data: string, url: string): Promise<string> {
  const name = "first-steps";
  await revokeToken(data, name).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
  });
  const token = await createToken(data, name, { entities: null, expires: "30d" }, new Date());
  return [
    "Try it:",
    `  curl -H "Authorization: Bearer ${token}" "${url}/api/v1/entities/daily?ts_code=600519.SH&limit=5"`,
  ].join("\n");
}
