// Decides what to do with a complete file of the inbox: by its name, size and the ledger first, then by its content.
import type { FileHandle } from "node:fs/promises";
import { entityNamed, ENTITY_NAMES } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import { OperatorError, isTransientError, nearest } from "../errors.js";
import { plural, size as sizeInWords } from "../words.js";
import { isUnchanged, openDrop, UnreadableDrop, type DropKind, type OpenDrop } from "../lake/drop-file.js";
import { faultOfFolder } from "../lake/replace-folders.js";
import { sha256OfHandle } from "../lake/integrity.js";
import { spanOf, type LedgerEntry, type RowSpan } from "../lake/ledger.js";
import type { Layout } from "../lake/layout.js";
import type { InboxFile } from "./watch.js";
import type { Ledger } from "./ledger.js";
import type { PendingDrop } from "./lots.js";
import { formatOf, requireContentOf } from "../intake/source.js";
import { tableAround, type KnownFolders } from "../intake/table-folders.js";
import { stampOf } from "../files.js";

export type Entry = Omit<LedgerEntry, "time">;

/** What can be decided without opening the file. */
type Prechecked =
  /** It has to be read. */
  | ({ readonly verdict: "read" } & PendingDrop)
  /** The ledger has an entry for this state of the file. */
  | { readonly verdict: "known" }
  /** The outcome is clear, and is recorded at once. */
  | { readonly verdict: "record"; readonly entry: Entry };

/** What to do with a file whose content was read. */
export type Judged =
  /** Its rows are to be merged. */
  | { readonly verdict: "take"; readonly drop: CheckedDrop }
  | { readonly verdict: "known" }
  | { readonly verdict: "record"; readonly entry: Entry }
  /** Its rows are served already, unless those of a file before it are merged first. */
  | { readonly verdict: "same"; readonly entry: Entry; readonly drop: CheckedDrop }
  /** It is gone or is being written again. */
  | { readonly verdict: "wait" };

/** A file whose checksum is known, or what to do with one that has none. */
export type Checked =
  { readonly verdict: "checked"; readonly drop: Checksum } | Extract<Judged, { readonly verdict: "record" | "wait" }>;

interface Checksum extends PendingDrop {
  readonly sha256: string;
  /** The stamp of the file with this checksum. */
  readonly identity: string;
  /** Whether it is a CSV file whose last line has no line break, so that it may be incomplete although it can be read. */
  readonly hasOpenEnd: boolean;
}

export interface CheckedDrop extends Checksum {
  /** What its rows span; null if it was never taken. */
  readonly span: RowSpan | null;
}

const NO_ROWS = {
  ...{ rows: 0, duplicates: 0, ignored: [], added: 0, replaced: 0, superseded: 0 },
  ...{ first: null, last: null, warnings: [], data_version: null },
} as const;

/** The entry of a refused file. */
export function refusalOf(file: InboxFile, entity: string | null, sha256: string | null, reason: string): Entry {
  const { path, size, mtime } = file;
  return { ...NO_ROWS, path, size, mtime, sha256, entity, outcome: "refused", reason };
}

/** The entry as a line of the log. */
export function describe({ outcome, path, rows, duplicates, data_version, reason, warnings }: Entry): string {
  if (outcome !== "taken") return `${outcome} inbox/${path}: ${reason}`;
  const warned = warnings.length === 0 ? "" : ` (${warnings.join("; ")})`;
  const more = duplicates === 0 ? "" : ` and ${plural(duplicates, "duplicate")}`;
  return `imported inbox/${path}: ${plural(rows, "row")}${more}, data_version ${data_version}${warned}`;
}

const NO_FILE: Readonly<Record<Exclude<DropKind, "file">, string>> = {
  link: "links are not read from the inbox: copy the file, mount the folder, or run tapehouse import",
  special: "it is a pipe, a socket or a device, not a file",
  unnameable: "its name is not UTF-8; rename it",
  "too-long": "its path is too long to be opened; use shorter names or fewer folders",
};

/** Judges a file by its name, its size and the ledger. A file larger than `maxDrop` (bytes) is refused. */
export function precheck(ledger: Ledger, file: InboxFile, maxDrop: number): Prechecked {
  if (isSameState(ledger, file) && !file.isReplaced) return { verdict: "known" };
  const folder = file.path.includes("/") ? file.path.split("/")[0]! : null;
  const entity = folder === null ? undefined : entityNamed(folder);
  const reason = reasonAgainst(file, folder, entity, maxDrop);
  if (reason !== null || !entity) {
    return { verdict: "record", entry: refusalOf(file, entity?.name ?? null, null, reason ?? misplaced(folder)) };
  }
  return { verdict: "read", file, entity };
}

function reasonAgainst(
  file: InboxFile,
  folder: string | null,
  entity: Entity | undefined,
  maxDrop: number,
): string | null {
  if (file.kind !== "file") return NO_FILE[file.kind];
  if (!entity) return misplaced(folder);
  if (file.size > maxDrop) {
    return (
      `it has ${sizeInWords(file.size)}, more than the ${sizeInWords(maxDrop)} of --max-drop: ` +
      `split it, allow more, or run tapehouse import`
    );
  }
  return faultOfFolder(entity, file.path) ?? refusalBy(() => formatOf(file.path, ""));
}

/** The message of the OperatorError that a check throws; null if it throws none. */
function refusalBy(check: () => unknown): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof OperatorError) return error.message.trim();
    throw error;
  }
}

function isSameState(ledger: Ledger, { path, size, mtime }: InboxFile): boolean {
  const before = ledger.last(path);
  return before?.size === size && before.mtime === mtime;
}

function misplaced(folder: string | null): string {
  if (folder === null) return "it is not in an entity's folder; move it to inbox/<entity>/, e.g. inbox/daily/";
  const near = nearest(folder, ENTITY_NAMES);
  return `there is no entity "${folder}"${near ? `; did you mean inbox/${near}/?` : ""}`;
}

/**
 * Reads a file as far as its checksum, calling `pause` now and then. Gives up if it changes or goes meanwhile, or the
 * signal fires.
 */
export async function checkDrop(
  layout: Layout,
  { file, entity }: PendingDrop,
  folders: KnownFolders,
  signal: AbortSignal,
  pause: () => Promise<void>,
): Promise<Checked> {
  try {
    const table = await tableAround(layout.inbox, file.path, folders);
    if (table !== null) throw new UnreadableDrop(table);
    const drop = await openAsSeen(layout, file);
    const content = await contentOfDrop(layout, file, drop, signal, pause).finally(() => drop.handle.close());
    return { verdict: "checked", drop: { file, entity, ...content, identity: stampOf(drop.stats) } };
  } catch (error) {
    if (error instanceof ChangedDrop) return { verdict: "wait" };
    if (!(error instanceof UnreadableDrop)) throw error;
    return { verdict: "record", entry: refusalOf(file, entity.name, null, error.message) };
  }
}

/** The file has changed since it was found. */
export class ChangedDrop extends Error {}

/** Opens a file if it is unchanged; the caller closes it. Throws ChangedDrop and UnreadableDrop. */
async function openAsSeen(layout: Layout, { path, size, mtime }: InboxFile): Promise<OpenDrop> {
  const drop = await openDrop(layout, path);
  if (drop?.stats.size === size && drop.stats.mtimeMs === mtime) return drop;
  await drop?.handle.close();
  throw new ChangedDrop(path);
}

const HEAD = 1 << 16;
/** How often to check that a file has not changed while it is read, in milliseconds. */
const CHECK_EVERY = 250;

async function contentOfDrop(
  layout: Layout,
  file: InboxFile,
  drop: OpenDrop,
  signal: AbortSignal,
  pause: () => Promise<void>,
): Promise<Pick<Checksum, "sha256" | "hasOpenEnd">> {
  const { buffer, bytesRead } = await drop.handle.read(Buffer.alloc(HEAD), 0, HEAD, 0);
  const mismatch = refusalBy(() => requireContentOf(file.path, buffer.subarray(0, bytesRead), "it"));
  if (mismatch !== null && bytesRead > 0) throw new UnreadableDrop(mismatch);
  let next = performance.now() + CHECK_EVERY;
  const sha256 = await sha256OfHandle(drop.handle, async (bytes) => {
    if (bytes > file.size || signal.aborted) throw new ChangedDrop(file.path);
    await pause();
    if (performance.now() < next) return;
    if (!(await isUnchanged(layout, file))) throw new ChangedDrop(file.path);
    next = performance.now() + CHECK_EVERY;
  }).catch((error: unknown) => {
    if (error instanceof ChangedDrop || isTransientError(error)) throw error;
    throw new UnreadableDrop(`it cannot be read (${(error as NodeJS.ErrnoException).code})`);
  });
  const isText = formatOf(file.path, "").end === ".csv";
  const hasOpenEnd = isText && !(await endsWithLine(drop.handle, file.size));
  if (!(await isUnchanged(layout, file))) throw new ChangedDrop(file.path);
  return { sha256, hasOpenEnd };
}

/** Whether the last character ends a line, also in UTF-16. */
async function endsWithLine(handle: FileHandle, size: number): Promise<boolean> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, Math.max(0, size - 2));
  return /\n\0?$|\r\0?$/.test(buffer.toString("latin1", 0, bytesRead));
}

/** Judges a file by its content, with the ledger as it is now. */
export function judgeContent(ledger: Ledger, checksum: Checksum): Judged {
  const { file, entity, sha256 } = checksum;
  const { path, size, mtime } = file;
  const before = ledger.last(path);
  const isSameContent = before?.sha256 === sha256 && before.outcome !== "refused";
  if (isSameContent && isSameState(ledger, file)) return { verdict: "known" };
  // A file that replaces another of its name is imported even if its content was known.
  const isChange = before !== undefined && before.outcome !== "refused" && !isSameContent;
  const twin = isChange ? undefined : ledger.taken(entity.name, { path, sha256 });
  const earlier = ledger.earlier(entity.name, { path, sha256 });
  const drop = { ...checksum, span: earlier ? spanOf(earlier) : null };
  if (!twin) return { verdict: "take", drop };
  const like = isSameContent ? "before" : `that of inbox/${twin.path}`;
  const reason = `its content is the same as ${like}`;
  return { verdict: "same", drop, entry: { ...twin, path, size, mtime, outcome: "same", reason } };
}
