// A writing session: the write lock, a scratch folder, DuckDB with bounded memory, and the version to build on.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { openWriter, type Writer } from "../../engine/writer.js";
import { openLake, type Snapshot } from "../lake.js";
import { layoutOf, type Layout } from "../layout.js";
import type { FileList, Version } from "../manifest.js";
import { withLock } from "./lock.js";
import { publish } from "./publish.js";

export interface WriteSession {
  readonly layout: Layout;
  readonly writer: Writer;
  /** An empty folder of this session on the lake's file system. */
  readonly scratch: string;
  /** The version that changes are made to. */
  readonly base: Snapshot;
  /** Publishes the lists that differ from the base; resolves to null where none does. */
  publish(lists: readonly FileList[], reason: string): Promise<Version | null>;
}

export interface WriteOptions {
  /** DuckDB's memory limit, e.g. `4GB`. */
  readonly memory: string;
  readonly threads?: number;
  readonly now?: () => Date;
}

/** Opens the lake for writing, runs `work`, and leaves no temporary file behind. */
export async function withWriteSession<T>(
  root: string,
  options: WriteOptions,
  work: (session: WriteSession) => Promise<T>,
): Promise<T> {
  const layout = layoutOf(root);
  return withLock(layout.writeLock, async () => {
    // We hold the lock, so whatever lies in the scratch folder was left by a session that crashed.
    await rm(layout.scratch, { recursive: true, force: true });
    await mkdir(layout.scratch, { recursive: true });
    const scratch = await mkdtemp(join(layout.scratch, "session-"));
    const writer = await openWriter({ ...options, tempDirectory: join(scratch, "spill") });
    try {
      const base = (await openLake(root)).current();
      return await work({
        layout,
        writer,
        scratch,
        base,
        async publish(lists, reason) {
          const changed = lists.filter((list) => JSON.stringify(list) !== JSON.stringify(base.files(list.entity)));
          if (changed.length === 0) return null;
          return publish(root, base.version, changed, reason, (options.now ?? (() => new Date()))());
        },
      });
    } finally {
      writer.close();
      await rm(scratch, { recursive: true, force: true });
    }
  });
}
