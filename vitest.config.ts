// Four processes run the test files (DuckDB is native code) on two cores, since some of them mostly wait. A process loads
// each module once for all of its files: loading them for each file took about a second of processor time.
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that run another program for long; by their own size they would come last, and the others would be done. */
const LONG = /\/test\/(clients|web|processes)\//;

/** A process runs files of one project, so those of a project follow each other. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const order = ({ moduleId, project: { name } }: TestSpecification): number =>
      LONG.test(moduleId) ? 0 : 1 + PROJECTS.findIndex((project) => project.name === name);
    return sorted.sort((a, b) => order(a) - order(b));
  }
}

const isLongRun = process.env["TAPEHOUSE_LONG"] === "1";

/**
 * Tests of the lake that also run with mirrors of a bucket as data directories. Most of the others in these folders are about
 * what only a folder has (its journal, crashes at each write of one disk, links, pipes, damaged state that a mirror fetches
 * again), or about no data directory.
 */
const LAKES = {
  store: "changes checks clock compact histories import merge retention revert session tokens two-writers vacuum",
  inbox: "ingest ledger lots many-files overlaid oversized replace strict",
  repair: "repair",
};
/** Those that the quick run takes. */
const QUICK_LAKES = { store: "import revert session vacuum", inbox: "replace" };

const filesOf = (lakes: Readonly<Record<string, string>>): string[] =>
  Object.entries(lakes).flatMap(([folder, names]) => names.split(" ").map((name) => `test/${folder}/${name}.test.ts`));

/** Those that also run with a real S3 server, in the long run. */
const BUCKET_LAKES = { store: "revert session vacuum", inbox: "ledger lots replace" };

const OF_LAKES = filesOf(isLongRun ? LAKES : QUICK_LAKES);

const PROJECTS = [
  { name: "folders", include: ["test/**/*.test.ts"] },
  { name: "mirrors of folders", include: OF_LAKES, env: { TAPEHOUSE_LAKES: "folder" } },
  ...(isLongRun
    ? [{ name: "mirrors of buckets", include: filesOf(BUCKET_LAKES), env: { TAPEHOUSE_LAKES: "bucket" } }]
    : []),
];

export default defineConfig({
  test: {
    projects: PROJECTS.map((test) => ({ extends: true as const, test })),
    reporters: ["default", "./test/support/failed-tests.ts"],
    expect: { requireAssertions: true },
    pool: "forks",
    isolate: false,
    setupFiles: ["test/support/setup.ts"],
    maxWorkers: isLongRun ? 4 : 5,
    sequence: { sequencer: LongFirst },
    testTimeout: 180_000,
    hookTimeout: 120_000,
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["src/encode/kernel/**"],
      reporter: ["text", "html"],
    },
  },
});
