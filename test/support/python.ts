// Python with the packages of test/python/requirements.txt, which `.ci/run` installs into .venv.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { run } from "./run.js";

const ROOT = join(import.meta.dirname, "../..");
export const PYTHON = join(ROOT, ".venv/bin/python");

/** Why tests that need Python are skipped; null where they run. */
export const noPython: string | null = findOut();

function findOut(): string | null {
  if (!existsSync(PYTHON)) return "skipped: .ci/run makes .venv";
  const needed =
    "import datafusion, deltalake, duckdb, fastparquet, flit_core, joblib, mypy, nanoarrow, pandas, polars, pyarrow, pytest, requests";
  return spawnSync(PYTHON, ["-c", needed]).status === 0 ? null : "skipped: .ci/run installs packages into .venv";
}

/** Runs Python with the client on its path. Resolves to what it printed where it ends well, and throws it otherwise. */
export async function python(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const { output, exitCode } = await run(PYTHON, args, {
    cwd: ROOT,
    env: { ...process.env, PYTHONPATH: join(ROOT, "clients/python/src"), PYTHONDONTWRITEBYTECODE: "1", ...env },
  });
  if (exitCode !== 0) throw new Error(`python ${args.join(" ")} ended with ${exitCode}\n${output}`);
  return output;
}
