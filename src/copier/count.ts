// Counts serving copies, without DuckDB: doctor works where that does not.
import type { Lake } from "../lake/lake.js";
import { storedCopies } from "./folder.js";
import { sourcesOf, totalBytes } from "./plan.js";

/** How many data files of the served version have a copy, and the bytes of all copies. */
export async function countCopies(
  lake: Lake,
  folder: string,
): Promise<{ readonly files: number; readonly copied: number; readonly bytes: number }> {
  const sources = sourcesOf(lake.current());
  const stored = await storedCopies(folder, lake.layout.lake);
  const paths = new Set(stored.map(({ path }) => path));
  return {
    files: sources.length,
    copied: sources.filter(({ file }) => paths.has(file.path)).length,
    bytes: totalBytes(stored),
  };
}
