// What is cleaned up after each test file, and temporary folders. Test files share a process and its modules, so a module
// that called `afterAll` itself would do so for the first file only.
import { rmSync } from "node:fs";
import { cp, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const cleanups: (() => unknown)[] = [];

/** Registers work for the end of each test file. A module registers it once, when it is loaded. */
export const afterEachFile = (cleanup: () => unknown): void => void cleanups.push(cleanup);

/** Does all registered work, the latest first, since folders are removed after what uses them. Then throws what failed. */
export async function cleanUp(): Promise<void> {
  const failures: unknown[] = [];
  for (const cleanup of cleanups.toReversed()) {
    try {
      await cleanup();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, failures.join("; "));
}

const made: string[] = [];

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tapehouse-test-"));
  made.push(folder);
  return folder;
}

/** A copy of a lake that is built once for many tests. Its files have times of whole milliseconds. */
export async function copyOf(root: string): Promise<string> {
  const copy = await temporaryFolder();
  await cp(root, copy, { recursive: true, preserveTimestamps: true });
  return copy;
}

// Without Node's thread pool, which a test may have left busy.
afterEachFile(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});
