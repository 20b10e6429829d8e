// Tests run in processes of their own (DuckDB is native code), two at a time.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    expect: { requireAssertions: true },
    pool: "forks",
    maxWorkers: 2,
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
