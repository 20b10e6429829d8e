// Four processes run the test files (DuckDB is native code) on two cores, since some of them mostly wait. A process loads
// each module once for all of its files: loading them for each file took about a second of processor time.
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that run another program for long; by their own size they would come last, and the others would be done. */
const LONG = /\/test\/(clients|web|processes)\//;

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    reporters: ["default", "./test/support/failed-tests.ts"],
    expect: { requireAssertions: true },
    pool: "forks",
    isolate: false,
    setupFiles: ["test/support/setup.ts"],
    maxWorkers: process.env["TAPEHOUSE_LONG"] === "1" ? 4 : 5,
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
