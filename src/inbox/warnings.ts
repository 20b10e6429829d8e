// Warnings about drops that were taken: missing columns, and rows that were replaced.
import type { Entity } from "../catalog/types.js";
import { plural, some } from "../words.js";
import type { LedgerEntry } from "../lake/ledger.js";
import type { Ledger } from "./ledger.js";
import type { Staged } from "../intake/normalise.js";

type Entry = Omit<LedgerEntry, "time">;

/** Warnings about a file by itself. */
export const warningsOfFile = (file: Staged): readonly string[] => [
  ...lacks(file),
  ...conflicts(file),
  ...file.warnings,
];

/** If an identity has many rows, a drop with only some of them replaces all. Warns of this, and names the other file. */
export function withLosses<E extends Entry>(entry: E, entity: Entity, batch: readonly E[], ledger: Ledger): E {
  if (entity.identityIs === "row") return entry;
  const { first, last, added, replaced, superseded, warnings } = entry;
  const range = first === null || last === null ? null : ([first, last] as const);
  const other = ledger.neighbour(entity.name, range, new Set(batch.map(({ path }) => path)));
  const of = other ? ` of inbox/${other.path} or earlier files` : "";
  const cause = `a file replaces all rows of the same ${entity.identity.join(", ")}, so put these into one file`;
  return {
    ...entry,
    warnings: [
      ...warnings,
      ...(superseded > 0 ? [`${plural(superseded, "row")} of files taken together with it replaced: ${cause}`] : []),
      ...(replaced > 0 && (other || added < 0) ? [`${plural(replaced, "row")}${of} replaced: ${cause}`] : []),
    ],
  };
}

/** Missing columns are null in the rows of the file. They may be present under other names. */
function lacks({ missing, ignored }: Staged): readonly string[] {
  if (missing.length === 0) return [];
  const unused = ignored.length === 0 ? "" : `; not used: ${some(ignored)}`;
  return [`without ${some(missing)}: null in its rows${unused}`];
}

function conflicts({ conflicts: rows, conflictSamples }: Staged): readonly string[] {
  if (rows === 0) return [];
  return [`${plural(rows, "row")} replaced by another of the same identity, e.g. ${conflictSamples[0]!}`];
}
