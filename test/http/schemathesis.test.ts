// Schemathesis generates requests from the description and checks every response against it.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { openApi } from "../../src/http/openapi/index.js";
import { demoLake } from "../support/demo.js";
import { temporaryFolder } from "../support/folders.js";
import { run, type Ended } from "../support/run.js";
import { serve, TOKEN } from "../support/server.js";
import { isLong } from "../support/size.js";

const pathOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const command = pathOf(".venv/bin/schemathesis");
const absent = !existsSync(command);

/** The gaps, changes, versions and statistics of most entities: they are asked for alike. And where problems have status 200, as clients of Tushare want. */
const OTHERS =
  /\/(?!daily\/|anns_d\/|index_weight\/|panel\/|changes\/)[a-z_]+\/(?:gaps|changes|versions|statistics|(?:changes\/)?query)$|^\/tushare/;

describe(absent ? "schemathesis (skipped: .ci/run installs it into .venv)" : "schemathesis", () => {
  test.skipIf(absent || !isLong)(
    "finds no response that violates the description, and no valid request that is refused",
    { timeout: 600_000 },
    async () => {
      // With one worker, because Python 3.11 cannot parse on two threads (python/cpython#106905).
      // It tries a wrong token with every path, all from one address.
      const server = await serve(await demoLake({ days: 40 }), { wrongTokens: "1000000" });
      const { output, exitCode } = await runCommand([
        ...["run", `${server.url}/openapi.json`, "--header", `Authorization: Bearer ${TOKEN}`],
        ...["--checks", "all", "--exclude-checks", "positive_data_acceptance"],
        ...["--exclude-path-regex", OTHERS.source],
        ...["--phases", "examples,coverage,fuzzing", "--max-examples", "3"],
        ...["--seed", "1", "--generation-deterministic"],
        ...["--warnings", "off", "--no-color"],
      ]);
      const paths = Object.entries((openApi() as { paths: Record<string, object> }).paths);
      const asked = paths
        .filter(([path]) => !OTHERS.test(path) && path !== "/openapi.json")
        .flatMap(([, operations]) => Object.keys(operations));
      expect(output).toContain(`Tested: ${asked.length}`);
      expect({ exitCode, output: exitCode === 0 ? "" : output }).toEqual({ exitCode: 0, output: "" });
      expect(server.logged).toEqual([]);
    },
  );
});

const runCommand = async (args: readonly string[]): Promise<Ended> =>
  run(command, args, {
    cwd: await temporaryFolder(),
    env: { ...process.env, SCHEMATHESIS_HOOKS: pathOf("test/python/schemathesis_hooks.py") },
  });
