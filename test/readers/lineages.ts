// Programs that read responses, each in its own language: how they are run, and what must be there to run them.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { FORMAT_NAMES } from "../../src/catalog/formats.js";
import { noPython, PYTHON } from "../support/python.js";

export interface Lineage {
  readonly readers: readonly string[];
  /** Null if it can be run, otherwise the reason. */
  readonly missing: string | null;
  /** The command to which the list of tasks is added. */
  readonly command: readonly string[];
}

const ROOT = join(import.meta.dirname, "../..");
const BUILT = join(ROOT, ".readers");

const built = (path: string): string | null =>
  existsSync(join(BUILT, path, "stamp")) ? null : "not built; run: npm run test:readers";

export const LINEAGES: Readonly<Record<string, Lineage>> = {
  Rust: {
    readers: ["arrow", "parquet"],
    missing: built("rust"),
    command: [join(BUILT, "rust/release/readers")],
  },
  Go: { readers: FORMAT_NAMES, missing: built("go"), command: [join(BUILT, "go/readers")] },
  Java: {
    readers: FORMAT_NAMES,
    missing: built("java"),
    command: [
      "java",
      "--add-opens=java.base/java.nio=ALL-UNNAMED",
      "-cp",
      [join(BUILT, "java/classes"), join(BUILT, "java/lib/*")].join(":"),
      "Readers",
    ],
  },
  Python: {
    readers: [
      ...["pyarrow.arrow", "polars.arrow", "nanoarrow.arrow", "duckdb.arrow"],
      ...["pyarrow.parquet", "polars.parquet", "duckdb.parquet", "datafusion.parquet", "deltalake.parquet"],
      ...["fastparquet.parquet", "pandas.parquet"],
      ...["python.csv", "pandas.csv", "polars.csv", "duckdb.csv", "pyarrow.csv", "datafusion.csv"],
      ...["python.json", "duckdb.json"],
      ...["pandas.ndjson", "polars.ndjson", "duckdb.ndjson", "pyarrow.ndjson", "datafusion.ndjson"],
    ],
    missing: noPython,
    command: [PYTHON, join(import.meta.dirname, "python/readers.py")],
  },
};
