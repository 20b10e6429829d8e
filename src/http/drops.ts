// How many refused files lie in the inbox. The ledger is read again only where it grew.
import { stampOf } from "../lake/integrity.js";
import type { Lake } from "../lake/lake.js";
import { isUnchanged, latestEntries, readLedger, type LedgerEntry } from "../lake/ledger.js";

export function createDropsCounter({ layout }: Lake): () => Promise<number> {
  let seen = "";
  let refused: readonly LedgerEntry[] = [];
  return async () => {
    const now = await stampOf(layout.ledger);
    if (now !== seen) {
      refused = latestEntries(await readLedger(layout.ledger)).filter(({ outcome }) => outcome === "refused");
      seen = now;
    }
    const lying = await Promise.all(refused.map((entry) => isUnchanged(layout, entry)));
    return lying.filter(Boolean).length;
  };
}
