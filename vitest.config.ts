// Tests run in processes of their own (DuckDB is native code): three at a time on two cores, since some of them mostly wait.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    reporters: ["default", "./test/support/failed-tests.ts"],
    expect: { requireAssertions: true },
    pool: "forks",
    maxWorkers: 3,
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
