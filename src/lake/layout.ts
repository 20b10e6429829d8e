// Where everything lies below the data directory. The only place that knows a path.
import { join } from "node:path";

export interface Layout {
  readonly root: string;
  /** Files that data engineers drop, a folder an entity. */
  readonly inbox: string;
  /** Immutable Parquet files that are served. */
  readonly lake: string;
  /** Work space of a writing command; everything in it may be deleted when no command runs. */
  readonly scratch: string;
  /** Where files are made beside the writers that hold the lock. */
  readonly staging: string;
  /** Where drops are read and merged before they are published, a folder each; for the process that watches the inbox. */
  readonly drops: string;
  readonly state: string;
  /** One create-only file a version: the first level of the manifest. */
  readonly versions: string;
  /** One content-addressed file a list of data files: the second level. */
  readonly lists: string;
  /** Holds the random id of the lake, which distinguishes it from other lakes; written by the first publication. */
  readonly identity: string;
  /** Names the version that is served; swapped last. */
  readonly pointer: string;
  /** The `data_version` of each version that was removed, a line each. */
  readonly removed: string;
  /** There while a writer works: the new files it makes, a line each, so that the next one can clear up after a crash. */
  readonly pending: string;
  readonly writeLock: string;
  /** Held while `staging` is in use. */
  readonly stagingLock: string;
  /** What became of each drop, a line each. */
  readonly ledger: string;
  /** The drops that are being taken: there after a crash. */
  readonly taking: string;
  /** The drops that take long, and those that wait meanwhile. */
  readonly intake: string;
  readonly ingestLock: string;
  readonly tokens: string;
  readonly tokensLock: string;
  readonly gaps: string;
  readonly gapsLock: string;
}

export function layoutOf(root: string): Layout {
  const lake = join(root, "lake");
  const state = join(root, "state");
  return {
    root,
    inbox: join(root, "inbox"),
    lake,
    scratch: join(lake, ".scratch"),
    staging: join(lake, ".staging"),
    drops: join(lake, ".drops"),
    state,
    versions: join(state, "versions"),
    lists: join(state, "lists"),
    identity: join(state, "lake.json"),
    pointer: join(state, "current"),
    removed: join(state, "removed.txt"),
    pending: join(state, "pending.txt"),
    writeLock: join(state, "write.lock"),
    stagingLock: join(state, "staging.lock"),
    ledger: join(state, "ledger.ndjson"),
    taking: join(state, "taking.json"),
    intake: join(state, "intake.json"),
    ingestLock: join(state, "ingest.lock"),
    tokens: join(state, "tokens.json"),
    tokensLock: join(state, "tokens.lock"),
    gaps: join(state, "gaps.json"),
    gapsLock: join(state, "gaps.lock"),
  };
}

/** The name of a version's file: its sequence number, so that two writers cannot both create the next one. */
export const versionFile = (sequence: number): string => `${String(sequence).padStart(10, "0")}.json`;
export const listFile = (sha256: string): string => `${sha256}.json`;
