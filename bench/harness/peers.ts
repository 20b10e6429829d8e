// The peers: programs in `bench/peers`, each in its own process. Those in Python have their packages in a virtual
// environment there, which is made when one of them is first needed.
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT, start, type BenchServer } from "./servers.js";

const PEERS = join(ROOT, "bench/peers");
const REQUIREMENTS = join(PEERS, "requirements.txt");
const ENVIRONMENT = join(PEERS, ".venv");

const PROGRAMS = {
  chdb: "serve_chdb.py",
  polars: "serve_polars.py",
  "duckdb-copy": "serve_duckdb_copy.py",
  frames: "serve_frames.py",
  "plain-handler": "plain-handler.mjs",
  loopback: "loopback.mjs",
} as const;

type Peer = keyof typeof PROGRAMS;

let installed: Promise<void> | undefined;

export async function servePeer(peer: Peer): Promise<BenchServer> {
  const program = join(PEERS, PROGRAMS[peer]);
  if (program.endsWith(".mjs")) return start(process.execPath, [program]);
  await (installed ??= installPackages());
  return start(join(ENVIRONMENT, "bin/python"), ["-B", program], { PYTHONPATH: join(ROOT, "clients/python/src") });
}

/** The exact version of each package of the peers. */
export function peerVersions(): Readonly<Record<string, string>> {
  const lines = readFileSync(REQUIREMENTS, "utf8").trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split("==") as [string, string]));
}

/** Installs again if an installation was interrupted or the versions have changed. */
async function installPackages(): Promise<void> {
  const list = join(ENVIRONMENT, "installed.txt");
  const wanted = readFileSync(REQUIREMENTS, "utf8");
  if (existsSync(list) && readFileSync(list, "utf8") === wanted) return;
  process.stderr.write("installing the peers\n");
  await rm(ENVIRONMENT, { recursive: true, force: true });
  await promisify(execFile)("python3", ["-m", "venv", ENVIRONMENT]);
  const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", REQUIREMENTS];
  await promisify(execFile)(join(ENVIRONMENT, "bin/python"), install);
  await writeFile(list, wanted);
}
