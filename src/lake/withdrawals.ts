// Withdrawn drops: a version may take back what drops and commands have done, and the ledger follows.
import { contentOf, latestEntries, type LedgerEntry } from "./ledger.js";
import type { Version, Withdrawal } from "./manifest.js";

/** The drops that were taken and not withdrawn since, and such commands, in their order. */
export const standingEntries = (entries: readonly LedgerEntry[]): readonly LedgerEntry[] =>
  [...lastByKey(entries).values()].filter(({ outcome }) => outcome !== "withdrawn");

/** The last entry of each key that changed rows or was withdrawn. */
function lastByKey(entries: readonly LedgerEntry[]): ReadonlyMap<string, LedgerEntry> {
  const last = new Map<string, LedgerEntry>();
  for (const entry of entries) {
    if (entry.outcome === "same" || entry.outcome === "refused") continue;
    last.delete(keyOf(entry));
    last.set(keyOf(entry), entry);
  }
  return last;
}

/** Identifies what a drop did: an entry of a withdrawn drop has the same key as the entry of when it was taken. */
export const keyOf = (entry: LedgerEntry): string =>
  `${entry.withdrawn ?? entry.data_version} ${entry.entity} ${contentOf(entry)}`;

/**
 * The entries that the ledger still lacks: for each drop that these versions withdrew, and for each other path at which
 * the ledger knows its content; and for each drop whose withdrawal they took back.
 */
export function missingWithdrawals(
  entries: readonly LedgerEntry[],
  versions: readonly Version[],
): readonly LedgerEntry[] {
  const withdrawing = versions.filter(({ withdrawals }) => withdrawals !== undefined);
  if (withdrawing.length === 0) return [];
  const current = new Set([...lastByKey(entries).values(), ...latestEntries(entries)]);
  return entries.flatMap((entry): readonly LedgerEntry[] => {
    if (!current.has(entry) || entry.outcome === "refused") return [];
    const isWithdrawn = entry.outcome === "withdrawn";
    if (isWithdrawn && !isUndone(withdrawing, entry.entity, entry.data_version)) return [];
    const standing = isWithdrawn ? standingAgain(entry) : entry;
    const version = withdrawing.find(
      ({ data_version, withdrawals = [] }) =>
        withdrawals.some((one) => covers(one, standing)) && !isUndone(withdrawing, entry.entity, data_version),
    );
    return version ? [withdrawnEntry(standing, version)] : isWithdrawn ? [standing] : [];
  });
}

/** Whether the state of an entity in a version was given up for an earlier one. */
const isUndone = (versions: readonly Version[], entity: string | null, dataVersion: string | null): boolean =>
  dataVersion !== null &&
  versions.some(({ withdrawals = [] }) =>
    withdrawals.some(
      (one) => one.entity === entity && !one.contents && one.after < dataVersion && dataVersion <= one.until,
    ),
  );

/** The entry of a drop or command whose rows were taken back, as it was before. */
function standingAgain({ withdrawn, ...entry }: LedgerEntry): LedgerEntry {
  const outcome = entry.command ? "command" : "taken";
  return { ...entry, outcome, reason: null, data_version: withdrawn ?? null };
}

function covers({ entity, after, until, contents }: Withdrawal, entry: LedgerEntry): boolean {
  const { data_version } = entry;
  if (entry.entity !== entity || data_version === null || data_version <= after || data_version > until) return false;
  return contents === undefined || contents.includes(contentOf(entry));
}

function withdrawnEntry(entry: LedgerEntry, { reason, data_version, published }: Version): LedgerEntry {
  return {
    ...entry,
    outcome: "withdrawn",
    warnings: [],
    reason: `its rows were taken back (${reason}); to import it again, drop it again or touch it`,
    ...(entry.data_version === null ? {} : { withdrawn: entry.data_version }),
    data_version,
    time: published ?? data_version,
  };
}

/**
 * Whether a version holds rows of an entity that a later one of these versions took back: nothing may be built on it
 * in place of the later one.
 */
export const isTakenBack = (versions: readonly Version[], entity: string, { data_version }: Version): boolean =>
  versions.some((later) =>
    (later.withdrawals ?? []).some(
      (one) =>
        one.entity === entity &&
        one.after < data_version &&
        data_version < later.data_version &&
        !isUndone(versions, entity, later.data_version),
    ),
  );
