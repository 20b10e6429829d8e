// What a backup holds of a lake: the kept versions, their file lists and data files, and the state that belongs to them.
import { join } from "node:path";
import { OperatorError } from "../errors.js";
import { readOrNone } from "../files.js";
import type { Lake } from "../lake/lake.js";
import { versionFile, type Layout } from "../lake/layout.js";
import { inspectLedger, LEDGER_BEGIN } from "../lake/ledger.js";
import { listsOf, namesOf, readList, readListText } from "../lake/lists.js";
import { DamagedManifestError, encodeVersion, type DataFile, type FileList, type Version } from "../lake/manifest.js";
import { encodeRemoved, readRemoved } from "../lake/kept-versions.js";
import { seal } from "../lake/records.js";
import { readTokens } from "../lake/tokens.js";
import { findStateFaults } from "../repair/state-files.js";
import { exists } from "../durable.js";

/** The lists of some versions, read completely: from now on a vacuum cannot change what they name. */
export interface Lists {
  /** Checksum of a list → the texts of its parts and its own, by their checksums. */
  readonly texts: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Data files of a version. */
  filesOf(version: Version): readonly DataFile[];
}

/** Reads the lists of versions. A list that is missing, or lacks a part, is left out of `texts`, and `filesOf` throws for its versions. */
export async function readLists(layout: Layout, versions: readonly Version[]): Promise<Lists> {
  const texts = new Map<string, ReadonlyMap<string, string>>();
  const lists = new Map<string, FileList>();
  const known = new Map<string, string>();
  for (const [sha, entity] of listsOf(versions)) {
    try {
      const list = await readList(layout, sha, entity);
      const own = new Map<string, string>();
      for (const name of namesOf(list, sha)) {
        const text =
          known.get(name) ?? (await readListText(layout, name, `file list ${sha.slice(0, 12)} of ${entity}`));
        known.set(name, text);
        own.set(name, text);
      }
      lists.set(sha, list);
      texts.set(sha, own);
    } catch (error) {
      if (!(error instanceof DamagedManifestError && error.isMissing)) throw error;
    }
  }
  return {
    texts,
    filesOf: (version) =>
      Object.values(version.lists).flatMap((sha) => {
        const list = lists.get(sha);
        if (!list) throw new MissingListError(sha);
        return [...list.byDate, ...list.byCode];
      }),
  };
}

/** A file list is missing: a vacuum removed its versions, or it is damage. */
export class MissingListError extends OperatorError {
  constructor(sha: string) {
    super(`the file list ${sha.slice(0, 12)} is missing; see: tapehouse verify`);
  }
}

/** Whether a lake still keeps a version. */
export const isKept = ({ versions }: Layout, { sequence }: Version): Promise<boolean> =>
  exists(join(versions, versionFile(sequence)));

/**
 * The state files as they belong to these versions, by name. They are read after the versions were chosen, so the ledger
 * has an entry for every drop of them; entries of later drops are left out, so that these are imported again.
 */
export async function readState(lake: Lake, versions: readonly Version[]): Promise<ReadonlyMap<string, string>> {
  const { layout } = lake;
  const [fault] = await findStateFaults(layout);
  if (fault) throw new OperatorError(`${fault.path} is damaged: ${fault.problem}; see: tapehouse verify --repair`);
  const { data_version } = versions.at(-1)!;
  const state = new Map<string, string>();
  for (const version of versions) state.set(`versions/${versionFile(version.sequence)}`, encodeVersion(version));
  const add = (path: string, text: string | undefined): void => {
    if (text !== undefined) state.set(path.slice(layout.state.length + 1), text);
  };
  add(layout.identity, await readOrNone(layout.identity));
  await readTokens(layout.tokens);
  add(layout.tokens, await readOrNone(layout.tokens));
  add(layout.gaps, await readOrNone(layout.gaps));
  add(layout.delta, await readOrNone(layout.delta));
  const kept = new Set(versions.map((version) => version.data_version));
  const removed = (await readRemoved(layout.removed)).versions.filter((version) => !kept.has(version));
  add(layout.removed, removed.length > 0 ? encodeRemoved(removed) : undefined);
  const { entries, isEmpty } = await inspectLedger(layout.ledger);
  const ofThese = entries.filter((entry) => entry.data_version === null || entry.data_version <= data_version);
  add(layout.ledger, isEmpty ? undefined : LEDGER_BEGIN + ofThese.map((entry) => `${seal(entry)}\n`).join(""));
  return state;
}
