// What is to be told of a drop although it was taken: what it lacked, and which rows gave way.
import type { Entity } from "../catalog/types.js";
import { plural, some } from "../words.js";
import type { LedgerEntry } from "../lake/ledger.js";
import type { Ledger } from "./ledger.js";
import type { Staged } from "../intake/normalise.js";

type Entry = Omit<LedgerEntry, "time">;

/** What is to be told of a file by itself. */
export const warningsOfFile = (file: Staged): readonly string[] => [
  ...lacks(file),
  ...conflicts(file),
  ...file.warnings,
];

/** Where an identity holds many rows, a part of them dropped alone takes the place of all: this is told, and of what file. */
export function withLosses<E extends Entry>(entry: E, entity: Entity, batch: readonly E[], ledger: Ledger): E {
  if (entity.identityIs === "row") return entry;
  const { first, last, added, replaced, superseded, warnings } = entry;
  const range = first === null || last === null ? null : ([first, last] as const);
  const other = ledger.neighbour(entity.name, range, new Set(batch.map(({ path }) => path)));
  const of = other ? ` of inbox/${other.path}, or from before it,` : "";
  const cause = `a file replaces all rows of the same ${entity.identity.join(", ")}, so these belong into one file`;
  return {
    ...entry,
    warnings: [
      ...warnings,
      ...(superseded > 0 ? [`${plural(superseded, "row")} of the files taken with it gave way: ${cause}`] : []),
      ...(replaced > 0 && (other || added < 0) ? [`${plural(replaced, "row")}${of} gave way: ${cause}`] : []),
    ],
  };
}

/** A column that a file lacks is null in its rows: maybe it is there under another name. */
function lacks({ missing, ignored }: Staged): readonly string[] {
  if (missing.length === 0) return [];
  const unused = ignored.length === 0 ? "" : `; not used: ${some(ignored)}`;
  return [`without ${some(missing)}: null in its rows${unused}`];
}

function conflicts({ conflicts: rows, conflictSamples }: Staged): readonly string[] {
  if (rows === 0) return [];
  return [`${plural(rows, "row")} gave way to another of the same identity, e.g. ${conflictSamples[0]!}`];
}
