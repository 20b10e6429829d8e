// What a question is, and how its answer is printed and saved.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { peerVersions } from "./peers.js";
import { RESULTS, ROOT } from "./servers.js";
import { round } from "./turns.js";

export interface Sizes {
  /** Trading days of 5,000 stocks in the lake of the wide questions. */
  readonly days: number;
  /** The same for small questions. */
  readonly smallDays: number;
  /** Days of the lakes for the question about growth. */
  readonly growth: readonly number[];
  /** Millions of rows, roughly, of the imported file. */
  readonly importRows: number;
  /** Requests of each number of connections. */
  readonly requests: number;
  /** The folder of another checkout to compare with; null for none. */
  readonly release: string | null;
  /** Runs of each contender. */
  readonly tries: number;
}

export type Row = Readonly<Record<string, string | number>>;

export interface Question {
  /** Also the name of its file in `bench/results`, with `-` for spaces. */
  readonly name: string;
  answer(sizes: Sizes): Promise<readonly Row[]>;
}

/** Answers a question, prints its table and saves it with the description of the machine. */
export async function put(question: Question, sizes: Sizes): Promise<void> {
  process.stdout.write(`\n${question.name}\n`);
  const loadBefore = round(loadavg()[0]!, 2);
  const rows = await question.answer(sizes);
  console.table(rows);
  const kept = {
    question: question.name,
    commit: await commit(),
    machine: machine(loadBefore),
    versions: versions(),
    sizes,
    rows,
  };
  await mkdir(RESULTS, { recursive: true });
  const file = join(RESULTS, `${question.name.replaceAll(" ", "-")}.json`);
  await writeFile(file, `${JSON.stringify(kept, null, 2)}\n`);
}

async function commit(): Promise<string> {
  const git = promisify(execFile)("git", ["describe", "--always", "--dirty", "--abbrev=40"], { cwd: ROOT });
  return git.then(({ stdout }) => stdout.trim()).catch(() => "none");
}

const machine = (loadBefore: number): object => ({
  cores: cpus().length,
  processor: cpus()[0]?.model,
  memory: totalmem(),
  loadBefore,
});

function versions(): Readonly<Record<string, string | undefined>> {
  const ours = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    devDependencies: Record<string, string>;
  };
  return { node: process.version, "@duckdb/node-api": ours.devDependencies["@duckdb/node-api"], ...peerVersions() };
}
