// The file of the ledger: appends entries durably, under a lock, since more than one process may write it.
import { open, stat, type FileHandle } from "node:fs/promises";
import {
  entriesOf,
  readLedger,
  type Command,
  type LedgerEntry,
  type RowSpan,
  type VersionEntry,
} from "../lake/ledger.js";
import type { Layout } from "../lake/layout.js";
import type { Version } from "../lake/manifest.js";
import { seal } from "../lake/records.js";
import { keyOf, missingWithdrawals } from "../lake/withdrawals.js";
import { withLock } from "../lock.js";

export const encodeEntry = (entry: LedgerEntry): string => `${seal(entry)}\n`;

/** Runs `work` while no other process writes the ledger. */
export const withLedgerLocked = <T>(layout: Layout, work: () => Promise<T>): Promise<T> =>
  withLock(layout.ledgerLock, work, undefined, false);

/** One state of the ledger's file. */
export interface LedgerState {
  readonly ino: number;
  /** Bytes. */
  readonly size: number;
}

/** Appends entries; the caller holds the lock. Resolves to the state of the file before and after. */
export async function appendEntries(
  layout: Layout,
  entries: readonly LedgerEntry[],
): Promise<{ readonly before: LedgerState; readonly after: LedgerState }> {
  const handle = await open(layout.ledger, "a+");
  try {
    const before = await handle.stat();
    await handle.writeFile((await missingLineFeed(handle, before.size)) + entries.map(encodeEntry).join(""));
    await handle.sync();
    return { before, after: await handle.stat() };
  } finally {
    await handle.close();
  }
}

/** The line feed that ends a line which a crash cut short; empty if the last line is complete. */
async function missingLineFeed(handle: FileHandle, size: number): Promise<string> {
  if (size === 0) return "";
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString("latin1") === "\n" ? "" : "\n";
}

/**
 * Appends the entries of published versions, and those of drops and commands that they took back. After a crash, the
 * ledger may have some of them. A ledger without content stays so: it is new or lost, and no earlier drop is known.
 */
export async function recordVersions(
  layout: Layout,
  versions: readonly Version[],
  isAfterCrash: boolean,
): Promise<void> {
  const fresh = versions.flatMap(entriesOf);
  const takesBack = versions.some(({ withdrawals }) => withdrawals !== undefined);
  const { size } = await stat(layout.ledger).catch(() => ({ size: 0 }));
  if ((fresh.length === 0 && !takesBack) || size === 0) return;
  await withLedgerLocked(layout, async () => {
    const known = takesBack || isAfterCrash ? await readLedger(layout.ledger) : [];
    const names = new Set(known.map(nameOfEntry));
    const added = fresh.filter((entry) => !names.has(nameOfEntry(entry)));
    const missing = [...added, ...missingWithdrawals([...known, ...added], versions)];
    if (missing.length > 0) await appendEntries(layout, missing);
  });
}

const nameOfEntry = (entry: LedgerEntry): string => `${entry.path} ${keyOf(entry)}`;

/** The entry of a command that changed rows within a span; `replaced` counts stored rows that are gone. */
export function commandEntry(
  entity: string,
  command: Command,
  span: RowSpan,
  { rows, added, replaced }: Pick<VersionEntry, "rows" | "added" | "replaced">,
): VersionEntry {
  const { first, last } = span;
  return {
    ...{ path: "", size: 0, mtime: 0, sha256: null, entity, outcome: "command", command },
    ...{ rows, duplicates: 0, ignored: [], added, replaced, superseded: 0, first, last, span },
    ...{ warnings: [], reason: null },
  };
}
