// What a drop did to stored rows, in words, for the command line and for the ledger.
import type { ReplaceMode } from "../catalog/replace.js";
import type { Entity } from "../catalog/types.js";
import { count, plural, some } from "../words.js";
import type { Staged } from "../intake/normalise.js";
import type { Merged } from "./merge.js";

/** How many days a message names. */
const SHOWN = 3;

type Effective = Pick<Merged, "effects" | "removed">;

/** `wayTo` says how to replace whole days, snapshots or codes. */
export function notesOn(
  { effects: { lost, mixed }, removed }: Effective,
  wayTo: (mode: ReplaceMode) => string,
): readonly string[] {
  const notes: string[] = [];
  if (removed > 0) notes.push(`${plural(removed, "row")} removed because the file does not have them`);
  if (lost.length > 0) {
    const columns = some(lost.map(({ column, rows }) => `${column} ${count(rows)}`));
    notes.push(`stored values replaced by missing ones: ${columns}; a column that is not in the file keeps its values`);
  }
  if (mixed) {
    const units = mixed.units.slice(0, SHOWN).map(({ name, fresh, older }) => {
      const stay = `${count(older)} older ${older === 1 ? "row stays" : "rows stay"}`;
      return `${name === "" ? "" : `${name}: `}${plural(fresh, "row")} from this drop, ${stay}`;
    });
    const more = mixed.units.length - units.length;
    const others = more > 0 ? `; the same for ${count(more)} more` : "";
    notes.push(`${units.join("; ")}${others}; to replace the whole ${mixed.mode}: ${wayTo(mixed.mode)}`);
  }
  return notes;
}

/** The part of what a drop did that a file of it did. Rows that the drop leaves out are left out by each of its files. */
export function partOfFile({ effects: { lost, mixed }, removed }: Effective, file: number): Effective {
  const units = (mixed?.units ?? []).filter(({ files }) => files.includes(file));
  return {
    removed,
    effects: {
      lost: lost.flatMap((one) => {
        const rows = one.ofFiles.find(([number]) => number === file)?.[1];
        return rows === undefined ? [] : [{ ...one, rows }];
      }),
      mixed: mixed && units.length > 0 ? { ...mixed, units } : null,
    },
  };
}

/** What becomes of columns that a file lacks. */
export const fateOfMissing = ({ identityIs }: Entity): string =>
  identityIs === "ticks" ? "null in its rows" : "rows that are replaced keep their values, new rows have none";

/** The rows of a file that gave way to others of the same identity, or null if there are none. */
export function conflictNote({ conflicts, conflictSamples, conflictColumns }: Staged): string | null {
  if (conflicts === 0) return null;
  const lost = conflictColumns.map(({ column, values }) => `${column} ${count(values)}`);
  const values = lost.length === 0 ? "" : `; values not used: ${some(lost)}`;
  return `${plural(conflicts, "row")} replaced by another of the same identity, e.g. ${conflictSamples.join("; ")}${values}`;
}
