// Taking complete files of the inbox: what each one is, which are imported together, and what the ledger says of them.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { entityNamed, ENTITY_NAMES } from "../../catalog/index.js";
import type { Entity } from "../../catalog/types.js";
import { nearest } from "../../errors.js";
import { sha256OfFile } from "../integrity.js";
import { contentOf, type LedgerEntry } from "../ledger.js";
import type { Layout } from "../layout.js";
import { warningsOfFile, withLosses } from "./drop-warnings.js";
import { importFiles, type ImportReport } from "./import.js";
import type { InboxFile } from "./inbox.js";
import type { Ledger } from "./ledger.js";
import type { WriteOptions } from "./session.js";

/** What is to be done about a complete file. */
export type Judged =
  /** Its content is to be merged. */
  | { readonly verdict: "take"; readonly file: InboxFile; readonly entity: Entity; readonly sha256: string }
  /** It is as the ledger says already. */
  | { readonly verdict: "known"; readonly file: InboxFile }
  /** The ledger is told at once. */
  | { readonly verdict: "note"; readonly file: InboxFile; readonly entry: Entry }
  /** It is gone, or being written again. */
  | { readonly verdict: "wait"; readonly file: InboxFile };

export type Entry = Omit<LedgerEntry, "time">;

const NO_ROWS = {
  ...{ rows: 0, duplicates: 0, ignored: [], added: 0, replaced: 0, superseded: 0 },
  ...{ first: null, last: null, warnings: [], data_version: null },
} as const;

/** The entry of a file that is not taken. */
export function refusalOf(file: InboxFile, entity: string | null, sha256: string | null, reason: string): Entry {
  const { path, size, mtime } = file;
  return { ...NO_ROWS, path, size, mtime, sha256, entity, outcome: "refused", reason };
}

/** Reads a complete file's content as far as its checksum, unless the ledger knows the file. */
export async function judge(layout: Layout, ledger: Ledger, file: InboxFile): Promise<Judged> {
  const before = ledger.last(file.path);
  const isSameStamp = before?.size === file.size && before.mtime === file.mtime;
  if (isSameStamp && !file.isReplaced) return { verdict: "known", file };

  const folder = file.path.includes("/") ? file.path.split("/")[0]! : null;
  const entity = folder === null ? undefined : entityNamed(folder);
  if (!entity) return { verdict: "note", file, entry: refusalOf(file, null, null, misplaced(folder)) };

  const path = join(layout.inbox, file.path);
  const sha256 = await sha256OfFile(path).catch((error: unknown) => (error as NodeJS.ErrnoException).code ?? null);
  if (!(await isStill(layout, file))) return { verdict: "wait", file };
  if (sha256?.length !== SHA_LENGTH) {
    const reason = `it cannot be read (${sha256})`;
    return { verdict: "note", file, entry: refusalOf(file, entity.name, null, reason) };
  }
  if (before && before.outcome !== "refused" && before.sha256 === sha256) {
    if (isSameStamp) return { verdict: "known", file };
    const { size, mtime } = file;
    const reason = "its content is that of the file before";
    return { verdict: "note", file, entry: { ...before, size, mtime, outcome: "same", reason } };
  }
  const twin =
    before && before.outcome !== "refused" ? undefined : ledger.taken(entity.name, { path: file.path, sha256 });
  if (twin) {
    const { path, size, mtime } = file;
    const reason = `its content is that of inbox/${twin.path}`;
    return { verdict: "note", file, entry: { ...twin, path, size, mtime, outcome: "same", reason } };
  }
  return { verdict: "take", file, entity, sha256 };
}

const SHA_LENGTH = 64;

function misplaced(folder: string | null): string {
  if (folder === null) return "it lies in no entity's folder; move it to inbox/<entity>/, e.g. inbox/daily/";
  const near = nearest(folder, ENTITY_NAMES);
  return `there is no entity "${folder}"${near ? `; did you mean inbox/${near}/?` : ""}`;
}

/** Whether a file is as it was when it was looked at. */
export async function isStill(layout: Layout, { path, size, mtime }: InboxFile): Promise<boolean> {
  const found = await stat(join(layout.inbox, path)).catch(() => undefined);
  return found?.size === size && found.mtimeMs === mtime;
}

async function isThere(layout: Layout, { path }: InboxFile): Promise<boolean> {
  return (await stat(join(layout.inbox, path)).catch(() => undefined)) !== undefined;
}

export type Takable = Extract<Judged, { readonly verdict: "take" }>;

/** A batch holds files of one entity, in order: a later one wins over an earlier one. */
const MOST_FILES = 200;
const MOST_BYTES = 512 << 20;

/**
 * The files that are imported together next: those of the first one's entity, each content once. A file at which the
 * process died before (`deaths`, by path) goes alone.
 */
export function firstBatch(files: readonly Takable[], deaths: ReadonlyMap<string, number>): readonly Takable[] {
  const batch: Takable[] = [];
  const contents = new Set<string>();
  let bytes = 0;
  for (const one of files) {
    if (one.entity !== files[0]!.entity) continue;
    const isFull = batch.length >= MOST_FILES || bytes + one.file.size > MOST_BYTES || deaths.has(one.file.path);
    const content = contentOf({ path: one.file.path, sha256: one.sha256 });
    if (batch.length > 0 && (isFull || contents.has(content))) break;
    contents.add(content);
    batch.push(one);
    bytes += one.file.size;
    if (deaths.has(one.file.path)) break;
  }
  return batch;
}

export interface TakenBatch {
  readonly entries: readonly Entry[];
  /** Files that changed while they were read: they are looked at again. */
  readonly changed: readonly InboxFile[];
}

/**
 * Imports the files of a batch as one drop; those that cannot be taken are left out. Throws where the fault is not in
 * the files: no space, a damaged lake, another writer that does not come to an end.
 */
export async function takeBatch(
  layout: Layout,
  batch: readonly Takable[],
  ledger: Ledger,
  currentVersion: () => Promise<string>,
  options: WriteOptions,
): Promise<TakenBatch> {
  const entity = batch[0]!.entity;
  const pathOf = ({ file }: Takable): string => join(layout.inbox, file.path);
  const refused = new Map<string, string>();
  const labels = new Map(batch.map((one) => [pathOf(one), `inbox/${one.file.path}`]));
  const report = await importFiles(layout.root, entity, [...labels.keys()], {
    ...options,
    map: {},
    set: {},
    labelOf: (path) => labels.get(path)!,
    onRefused: (path, { message }) => {
      if (ENVIRONMENT.test(message)) throw new Error(message);
      refused.set(path, withoutLabel(message, labels.get(path)!));
    },
  });
  const entries: Entry[] = [];
  const changed: InboxFile[] = [];
  const version = report.version?.data_version ?? (await currentVersion());
  for (const one of batch) {
    const reason = refused.get(pathOf(one));
    if (!(await isStill(layout, one.file)) && (reason !== undefined || (await isThere(layout, one.file)))) {
      changed.push(one.file);
    } else if (reason !== undefined) entries.push(refusalOf(one.file, entity.name, one.sha256, reason));
    else entries.push(takenEntry(one, report, pathOf(one), version));
  }
  const last = entries.findLastIndex(({ outcome }) => outcome === "taken");
  return {
    entries: entries.map((entry, i) => (i === last ? withLosses(entry, entity, entries, ledger) : entry)),
    changed,
  };
}

/** What is wrong with the machine and not with the file. */
const ENVIRONMENT = /No space left on device|max_temp_directory_size|Out of Memory Error|Too many open files/;

/** A reason is told beside the path of its file. */
const withoutLabel = (message: string, label: string): string =>
  message.startsWith(label) ? message.slice(label.length).replace(/^:? */, "") : message;

function takenEntry({ file, entity, sha256 }: Takable, report: ImportReport, path: string, version: string): Entry {
  const staged = report.files.find((one) => one.file === path)!;
  const { rows, duplicates, ignored } = staged;
  const { added, replaced, superseded, first, last } = report;
  const warnings = warningsOfFile(staged);
  const sums = { rows, duplicates, ignored, added, replaced, superseded, first, last, warnings, data_version: version };
  const { path: relative, size, mtime } = file;
  return { ...sums, path: relative, size, mtime, sha256, entity: entity.name, outcome: "taken", reason: null };
}
