// Checks that a data directory still holds the lake that was opened, in the same or a newer state.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../errors.js";
import { readOrNone, stampAt, UnreadableError } from "../files.js";
import { versionFile, type Layout } from "./layout.js";
import { DamagedManifestError, decodeVersion, EMPTY_VERSION } from "./manifest.js";
import { readPointer, requirePointer, sequences, wasRemoved } from "./kept-versions.js";

/** The identity and the version of a lake when it was last read. */
export interface Mark {
  /** The random id that the first publication wrote; null for a lake of an earlier release. */
  readonly id: string | null;
  readonly sequence: number;
  readonly data_version: string;
}

/** The mark of a lake without a published version. Every lake continues it. */
export const NO_MARK: Mark = { id: null, sequence: 0, data_version: EMPTY_VERSION.data_version };

const WAY_OUT = "restore it, or restart the server to serve what is there now";

/** The data directory is missing, or holds another lake or an older state. It is neither read nor written. */
export class UnavailableError extends OperatorError {
  constructor(problem: string, wayOut = WAY_OUT) {
    super(`${problem}; ${wayOut}`);
    this.name = "UnavailableError";
  }
}

/** The bucket of a mirror does not answer. What was fetched before can be read. */
export class BucketAwayError extends UnavailableError {
  constructor(problem: string) {
    super(problem, "try again in a few seconds");
    this.name = "BucketAwayError";
  }
}

/**
 * Reads the pointer and resolves to the id of the lake and the number of the version to serve: the one in `seen` or a
 * later one. Throws UnavailableError if the directory does not continue `seen`, and DamagedManifestError if damage
 * prevents an answer.
 */
export async function findSuccessor(layout: Layout, seen: Mark): Promise<Pick<Mark, "id" | "sequence">> {
  try {
    return await look(layout, seen).catch(async (error: unknown) => {
      // The id shows that this is another lake, so the damage does not matter.
      if (error instanceof DamagedManifestError && isOther(await readIdentity(layout), seen.id)) throw another();
      throw error;
    });
  } catch (error) {
    if (error instanceof UnreadableError) throw new UnavailableError(error.message, "see: tapehouse doctor");
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new UnavailableError(`the data directory cannot be read (${code})`);
  }
}

async function look(layout: Layout, seen: Mark): Promise<Pick<Mark, "id" | "sequence">> {
  let sequence = await readPointer(layout);
  if (sequence === 0 && seen.sequence > 0 && (await sequences(layout)).length === 0) throw await missing(layout);
  if (sequence < seen.sequence) sequence = await requirePointer(layout);
  const id = await readIdentity(layout);
  if (seen.sequence === 0) return { id, sequence };
  const isNamesake = id !== null && id === seen.id;
  if (sequence < seen.sequence) throw isNamesake || id === null || seen.id === null ? older(seen) : another();

  const before = await dataVersionOf(layout, seen.sequence);
  // Vacuum or a repair may have removed the version. In a directory that is being removed or copied, it is missing too.
  const isKnown = before ? before === seen.data_version : await mayLack(layout, seen, isNamesake);
  if (!isKnown) throw isNamesake ? older(seen) : another();
  if (before || sequence > seen.sequence) return { id: id ?? seen.id, sequence };
  if ((await readPointer(layout)) !== sequence) return look(layout, seen);
  throw new DamagedManifestError(`version ${sequence} is damaged or gone`);
}

/** Whether the lake that was seen may be here although its version cannot be read: it is damaged, or was removed. */
const mayLack = async (layout: Layout, { sequence, data_version }: Mark, isNamesake: boolean): Promise<boolean> =>
  (isNamesake && (await stampAt(join(layout.versions, versionFile(sequence)))) !== "") ||
  wasRemoved(layout.removed, data_version);

const isOther = (id: string | null, seen: string | null): boolean => id !== null && seen !== null && id !== seen;

const older = ({ data_version }: Mark): UnavailableError =>
  new UnavailableError(`the data directory holds an older state, without the served version ${data_version}`);

const another = (): UnavailableError => new UnavailableError("the data directory holds another lake");

async function missing({ root, state, pointer }: Layout): Promise<UnavailableError> {
  if (await isMissing(root)) return new UnavailableError("the data directory is missing");
  const what = (await isMissing(state)) ? state : pointer;
  return new UnavailableError(`the data directory lacks ${what.slice(root.length + 1)}`);
}

const isMissing = (path: string): Promise<boolean> =>
  stat(path).then(
    () => false,
    () => true,
  );

interface ReadVersion {
  readonly path: string;
  readonly stamp: string;
  readonly data_version: string | undefined;
}

/** The version file that was read last for each layout. A version that thousands of drops created has megabytes. */
const lastRead = new WeakMap<Layout, ReadVersion>();

/** The `data_version` of a version; undefined if its file is missing or damaged. */
async function dataVersionOf(layout: Layout, sequence: number): Promise<string | undefined> {
  const path = join(layout.versions, versionFile(sequence));
  const stamp = await stampAt(path);
  const known = lastRead.get(layout);
  if (stamp !== "" && known?.path === path && known.stamp === stamp) return known.data_version;
  const data_version = await readDataVersion(path, sequence);
  lastRead.set(layout, { path, stamp, data_version });
  return data_version;
}

async function readDataVersion(path: string, sequence: number): Promise<string | undefined> {
  const text = await readOrNone(path);
  try {
    return text === undefined ? undefined : decodeVersion(text, sequence).data_version;
  } catch {
    return undefined;
  }
}

/** The id of the lake; null if it has none or its file is unreadable. */
export async function readIdentity(layout: Layout): Promise<string | null> {
  const text = await readOrNone(layout.identity);
  try {
    return text === undefined ? null : ((JSON.parse(text) as { readonly id?: string }).id ?? null);
  } catch {
    return null;
  }
}
