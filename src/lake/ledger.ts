// Reads the ledger: what became of each drop, and which rows commands changed.
import { linesOf } from "../files.js";
import { clip, count } from "../words.js";
import { hasEnd, unseal, type Shape } from "./records.js";
import type { LedgerEntry, RowSpan, VersionEntry } from "./ledger-entry.js";
import { isReplaceFolder, replaceModeOf } from "./replace-folders.js";
import type { ReplaceMode } from "../catalog/replace.js";
import type { Version } from "./manifest.js";

export type { Command, LedgerEntry, Outcome, RowSpan, Selection, VersionEntry } from "./ledger-entry.js";

/** The entries of the ledger for what a version brought. */
export const entriesOf = ({ entries = [], data_version, published }: Version): readonly LedgerEntry[] =>
  entries.map((entry) => ({ ...entry, data_version, time: published ?? data_version }));

const SHAPE: Shape<Omit<LedgerEntry, "span" | "withdrawn" | "command">> = {
  ...{ path: "string", size: "number", mtime: "number", sha256: "string?", entity: "string?", outcome: "string" },
  ...{ rows: "number", duplicates: "number", ignored: "strings", added: "number", replaced: "number" },
  ...{ superseded: "number", first: "string?", last: "string?", warnings: "strings", reason: "string?" },
  ...{ data_version: "string?", time: "string" },
};

export interface LedgerContent {
  /** Oldest first. */
  readonly entries: readonly LedgerEntry[];
  /** 1-based numbers of damaged lines; a line that a crash cut short does not count. */
  readonly damaged: readonly number[];
  /** Bytes before the first damaged line. */
  readonly sound: number;
  /** Some entries are clipped: the file has more of their text. */
  readonly isClipped: boolean;
  /** The file is missing or has zero bytes: even its first line is missing. */
  readonly isEmpty: boolean;
}

/** The first line of a new ledger. It distinguishes a ledger without entries from one that lost its content. */
export const LEDGER_BEGIN = "# what became of each drop, a line each\n";

/** The reason of a version that drops created. */
export const reasonOfDrops = (entity: string): string => `import ${entity} from the inbox`;

/** Whether drops created a version of this reason. Earlier releases wrote `take daily`. */
export const isOfDrops = (reason: string): boolean => /^import \w+ from the inbox$|^take /.test(reason);

/** Whether an empty ledger has lost its content: some version was created by drops. */
export const isLost = async (
  { isEmpty }: LedgerContent,
  versions: () => Promise<readonly Version[]>,
): Promise<boolean> => isEmpty && (await versions()).some(({ reason }) => isOfDrops(reason));

/** Characters of a name, and of a reason or warning; and of all names or warnings of an entry. */
const LONGEST = { name: 256, text: 2_000 } as const;
const MOST = { names: 4_000, texts: 8_000 } as const;

/** The entry with what a file put into it clipped: names of its columns, and messages that quote it. */
export function clipEntry<E extends VersionEntry>(entry: E): E {
  const ignored = clipAll(entry.ignored, LONGEST.name, MOST.names);
  const warnings = clipAll(entry.warnings, LONGEST.text, MOST.texts);
  const reason = entry.reason === null ? null : clip(entry.reason, LONGEST.text);
  const isShort = ignored === entry.ignored && warnings === entry.warnings && reason === entry.reason;
  return isShort ? entry : { ...entry, ignored, warnings, reason };
}

/** Room for the number of the texts that are left out. */
const LEFT_OUT = 40;

/** The first of these texts, each clipped to `longest` characters, which have `most` in total; of more, the number. */
function clipAll(texts: readonly string[], longest: number, most: number): readonly string[] {
  const total = texts.reduce((sum, text) => sum + text.length, 0);
  if (total <= most && texts.every((text) => text.length <= longest)) return texts;
  const clipped: string[] = [];
  let room = most - LEFT_OUT;
  for (const text of texts) {
    const short = clip(text, longest);
    room -= short.length;
    if (room < 0) return [...clipped, `… and ${count(texts.length - clipped.length)} more`];
    clipped.push(short);
  }
  return clipped;
}

/** Bytes of a line, far more than an entry has. Earlier releases did not clip entries. */
const LONGEST_LINE = 64 << 20;

/**
 * Reads a ledger, or what follows its first `from` bytes; a missing one has no entries. A line that a crash cut short is
 * skipped: its drop is imported again. A line that is too long is damaged.
 */
export async function inspectLedger(path: string, from = 0): Promise<LedgerContent> {
  const entries: LedgerEntry[] = [];
  const damaged: number[] = [];
  let [number, sound, size] = [0, 0, 0];
  let isClipped = false;
  for await (const { text, end } of linesOf(path, LONGEST_LINE, from)) {
    number++;
    const entry = text === null ? undefined : unseal(text, SHAPE);
    if (entry) {
      const clipped = clipEntry(entry);
      if (clipped !== entry) isClipped = true;
      entries.push(clipped);
    } else if (text === null || hasEnd(text)) damaged.push(number);
    size = end;
    if (damaged.length === 0) sound = end;
  }
  return { entries, damaged, sound, isClipped, isEmpty: size === 0 };
}

/** All readable entries, oldest first. */
export const readLedger = async (path: string): Promise<readonly LedgerEntry[]> => (await inspectLedger(path)).entries;

/** The last entry of each drop's path, in the order of the ledger. */
export function latestEntries(entries: readonly LedgerEntry[]): readonly LedgerEntry[] {
  const latest = new Map<string, LedgerEntry>();
  for (const entry of entries) {
    if (entry.command) continue;
    latest.delete(entry.path);
    latest.set(entry.path, entry);
  }
  return [...latest.values()];
}

/**
 * Identifies the content of a drop: its bytes, the `name=value` folders above it, whose values fill missing columns, and
 * the folder that says that it replaces.
 */
export function contentOf({ path, sha256 }: Pick<LedgerEntry, "path" | "sha256">): string {
  const folders = path.split("/").slice(0, -1);
  return [sha256, ...folders.filter((folder) => folder.includes("=") || isReplaceFolder(folder))].join(" ");
}

/** The span of what a drop may replace. Entries of earlier releases have only that of the whole batch. */
export function spanOf({ path, span, first, last }: Pick<LedgerEntry, "path" | "span" | "first" | "last">): RowSpan {
  const own = span ?? { first, last, firstCode: null, lastCode: null };
  return widened(own, replaceModeOf(path));
}

/** The span that a drop may replace if it replaces whole days, lists or codes. */
export function widened(span: RowSpan, mode: ReplaceMode | null): RowSpan {
  if (mode === null) return span;
  return mode === "code" ? { ...span, first: null, last: null } : { ...span, firstCode: null, lastCode: null };
}

/** Whether two files may have rows of the same date and code. A null bounds nothing. */
export const doOverlap = (a: RowSpan, b: RowSpan): boolean =>
  isBefore(a.first, b.last) &&
  isBefore(b.first, a.last) &&
  isBefore(a.firstCode, b.lastCode) &&
  isBefore(b.firstCode, a.lastCode);

const isBefore = (first: string | null, last: string | null): boolean =>
  first === null || last === null || first <= last;
