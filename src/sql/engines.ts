// Where a statement runs: the port, and its side with DuckDB on this machine. The other side is in cluster-engine.ts.
import type { Sandbox, SandboxResult } from "../engine/sandbox.js";
import type { Problem } from "../errors.js";
import { emptyList } from "../lake/manifest.js";
import type { Uses } from "./check.js";
import { define } from "./define.js";
import type { Answering, Asked, Files } from "./messages.js";
import { problemOf } from "./problems.js";

/** A statement that was read and checked. */
export interface ReadStatement {
  readonly asked: Asked;
  /** As DuckDB parses it. */
  readonly tree: unknown;
  readonly uses: Uses;
  /** Names of the entities whose files it reads. */
  readonly entities: readonly string[];
}

export interface Engine {
  /**
   * Runs a statement over these files. It and the batches reject with a problem if that is the fault of the author, and with
   * anything else if the engine fails or the signal is given. With a limit there may be one row more than it says.
   */
  run(
    statement: ReadStatement,
    files: Files,
    limits: Pick<Answering, "limit" | "deadline">,
    signal: AbortSignal,
  ): Promise<SandboxResult>;
}

export const duckdbEngine = (sandbox: Sandbox): Engine => ({
  async run({ asked: { sql, parameters }, uses }, { lists, paths }, { limit }, signal) {
    const source = {
      listOf: (name: string) => lists[name] ?? emptyList(name),
      pathOf: ({ path }: { readonly path: string }) => paths[path]!,
    };
    const defined = define(sql, uses, parameters, source);
    const asProblem = (error: unknown): Problem | null => problemOf(defined.sql, error);
    try {
      const statement = { ...defined, parameters, limit, paths: Object.values(paths) };
      return withProblems(await sandbox.run(statement, signal), asProblem);
    } catch (error) {
      throw asProblem(error) ?? error;
    }
  },
});

/** A result whose errors are problems where `problemOf` finds one. */
export const withProblems = (result: SandboxResult, problemOf: (error: unknown) => Problem | null): SandboxResult => ({
  ...result,
  async *batches() {
    try {
      yield* result.batches();
    } catch (error) {
      throw problemOf(error) ?? error;
    }
  },
});
