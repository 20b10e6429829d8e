// The paths of a data directory. No other module builds them.
import { join, relative, sep } from "node:path";

export interface Layout {
  readonly root: string;
  /** Files that data engineers drop; one folder for each entity. */
  readonly inbox: string;
  /** Serving copies, unless they are elsewhere. May be deleted at any time. */
  readonly copies: string;
  /** Immutable Parquet files that are served. */
  readonly lake: string;
  /** Work space of a write session. May be deleted while no command runs. */
  readonly scratch: string;
  /** Where files are built without the write lock. */
  readonly staging: string;
  /** Where drops are read and merged before they are published; one folder for each batch. */
  readonly drops: string;
  readonly state: string;
  /** One create-only file for each version: the first level of the manifest. */
  readonly versions: string;
  /** One content-addressed file for each list of data files and for each part of a long one: the other levels. */
  readonly lists: string;
  /** The random id that distinguishes the lake from others; written by the first publication. */
  readonly identity: string;
  /** The number of the served version; replaced last. */
  readonly pointer: string;
  /** The `data_version` of each removed version, one a line. */
  readonly removed: string;
  readonly removedLock: string;
  /** The journal of a writer at work: its new files, one a line. The next writer cleans up by it after a crash. */
  readonly pending: string;
  readonly writeLock: string;
  /** Held while `staging` is in use. */
  readonly stagingLock: string;
  /** What became of each drop, one entry a line. */
  readonly ledger: string;
  /** Held while the ledger is written: by the process that imports drops, or by one that took some back. */
  readonly ledgerLock: string;
  /** The drops that are being imported, and how often the process crashed on them. */
  readonly taking: string;
  /** The drops that take long, and those that wait for them. */
  readonly intake: string;
  readonly ingestLock: string;
  readonly tokens: string;
  readonly tokensLock: string;
  readonly gaps: string;
  readonly gapsLock: string;
  /** The bucket that this directory mirrors; absent if the lake itself is here. */
  readonly bucket: string;
  /** Present if that bucket was found to honour conditional writes. */
  readonly bucketChecked: string;
  /** What the ledger of a mirror was when it last had the same entries as the bucket. */
  readonly ledgerSynced: string;
  /** Held while the state is brought up to date with the bucket. */
  readonly pullLock: string;
  /** Data files that are being fetched. */
  readonly fetching: string;
  /** Files with some row groups of data files. */
  readonly excerpts: string;
  /** Which fetched files each process reads. */
  readonly holds: string;
  /** Present if the lake has Delta tables; what failed of them. */
  readonly delta: string;
  /** Held while Delta tables are written. */
  readonly deltaLock: string;
}

export function layoutOf(root: string): Layout {
  const lake = join(root, "lake");
  const state = join(root, "state");
  return {
    root,
    inbox: join(root, "inbox"),
    copies: join(root, "copies"),
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
    removedLock: join(state, "removed.lock"),
    pending: join(state, "pending.txt"),
    writeLock: join(state, "write.lock"),
    stagingLock: join(state, "staging.lock"),
    ledger: join(state, "ledger.ndjson"),
    ledgerLock: join(state, "ledger.lock"),
    taking: join(state, "taking.json"),
    intake: join(state, "intake.json"),
    ingestLock: join(state, "ingest.lock"),
    tokens: join(state, "tokens.json"),
    tokensLock: join(state, "tokens.lock"),
    gaps: join(state, "gaps.json"),
    gapsLock: join(state, "gaps.lock"),
    bucket: join(state, "bucket.json"),
    bucketChecked: join(state, "bucket.checked"),
    ledgerSynced: join(state, "ledger.synced.json"),
    pullLock: join(state, "pull.lock"),
    fetching: join(lake, ".fetching"),
    excerpts: join(lake, ".excerpts"),
    holds: join(lake, ".holds"),
    delta: join(state, "delta.json"),
    deltaLock: join(state, "delta.lock"),
  };
}

/** The folder of the serving copies; null if there are to be none. */
export const copiesFolderOf = (settings: {
  readonly data: string;
  readonly copies: number | "auto";
  readonly copiesFolder: string | null;
}): string | null => (settings.copies === 0 ? null : (settings.copiesFolder ?? layoutOf(settings.data).copies));

/** The file name of a version is its sequence number, so that two writers cannot both create the next one. */
export const versionFile = (sequence: number): string => `${String(sequence).padStart(10, "0")}.json`;
export const listFile = (sha256: string): string => `${sha256}.json`;

/** A path relative to the data directory, with slashes: its name in messages, in the journal and in a bucket. */
export const nameOf = ({ root }: Pick<Layout, "root">, path: string): string =>
  relative(root, path).replaceAll(sep, "/");
