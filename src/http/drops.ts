// How many refused files lie in the inbox. The ledger is read again only where it grew.
import { stampAt } from "../files.js";
import type { Lake } from "../lake/lake.js";
import { isUnchanged } from "../lake/drop-file.js";
import { latestEntries, readLedger, type LedgerEntry } from "../lake/ledger.js";

export function createDropsCounter({ layout, faults }: Pick<Lake, "layout" | "faults">): () => Promise<number> {
  let seen = "";
  let refused: readonly LedgerEntry[] = [];
  let counted = 0;
  return async () => {
    // Files of an inbox that is out of reach are not known to be gone.
    if (faults().state !== null) return counted;
    const now = await stampAt(layout.ledger);
    if (now !== seen) {
      refused = latestEntries(await readLedger(layout.ledger)).filter(({ outcome }) => outcome === "refused");
      seen = now;
    }
    const lying = await Promise.all(refused.map((entry) => isUnchanged(layout, entry)));
    return (counted = lying.filter(Boolean).length);
  };
}
