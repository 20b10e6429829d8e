// Reading rows of a lake in a command: which version, and its own DuckDB, with a temporary folder that is removed at the
// end.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openReader, type Reader } from "../engine/reader.js";
import { createIntegrity } from "../lake/integrity.js";
import { OperatorError } from "../errors.js";
import type { Lake, Snapshot } from "../lake/lake.js";
import { SETTINGS } from "../settings.js";

/** Calls `work` with a reader of the lake. Reads one statement at a time. */
export async function withReader<T>(
  { layout }: Lake,
  work: (reader: Reader, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const tempDirectory = await mkdtemp(join(tmpdir(), "tapehouse-read-"));
  const reader = await openReader({
    readable: { folder: layout.lake },
    memory: "1GB",
    spill: SETTINGS.spill.fallback,
    tempDirectory,
    threads: 1,
    concurrency: 1,
    streams: 1,
    queue: 0,
    integrity: createIntegrity(layout),
  });
  try {
    return await work(reader, new AbortController().signal);
  } finally {
    await reader.close();
    await rm(tempDirectory, { recursive: true, force: true });
  }
}

/** The snapshot of a kept version, given by its sequence or its `data_version`; the served one if none is given. */
export async function snapshotOf(lake: Lake, text: string | undefined): Promise<Snapshot> {
  if (text === undefined) return lake.current();
  const isSequence = /^\d{1,15}$/.test(text);
  const wanted = isSequence
    ? (await lake.versions()).find(({ sequence }) => sequence === Number(text))?.data_version
    : text;
  const found = wanted === undefined ? "unknown" : await lake.at(wanted);
  if (typeof found !== "string") return found;
  const why = found === "removed" ? "is no longer kept" : isSequence ? "is not among the kept versions" : "is unknown";
  throw new OperatorError(`version ${text} ${why} (see: tapehouse versions)`);
}
