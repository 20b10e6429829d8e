// Four processes run the test files (DuckDB is native code) on two cores, since some of them mostly wait. A process loads
// each module once for all of its files: loading them for each file took about a second of processor time.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    reporters: ["default", "./test/support/failed-tests.ts"],
    expect: { requireAssertions: true },
    pool: "forks",
    isolate: false,
    setupFiles: ["test/support/setup.ts"],
    maxWorkers: 4,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["src/encode/kernel/**"],
      reporter: ["text", "html"],
    },
  },
});
