// What a file may stand for as a whole: all rows of its days, of its snapshots or of its codes. Rows that it leaves out go.
import type { Entity } from "./types.js";

export const REPLACE_MODES = ["day", "snapshot", "code"] as const;
export type ReplaceMode = (typeof REPLACE_MODES)[number];

/** The columns whose values a file stands for; null if the entity has no such thing. */
const COLUMNS: Readonly<Record<ReplaceMode, (entity: Entity) => readonly string[] | null>> = {
  day: ({ mainDate }) => (mainDate === null ? null : [mainDate]),
  snapshot: ({ snapshot }) => snapshot,
  code: ({ code }) => [code],
};

/** Why an entity lacks a mode. */
const LACKS: Readonly<Record<ReplaceMode, string>> = {
  day: "has no main date, so its rows belong to no day",
  snapshot: "is not published as whole lists, so it has no snapshots",
  code: "has no codes",
};

/** The columns of an entity that a file stands for in this mode; null if the entity does not have the mode. */
export const wholeOf = (entity: Entity, mode: ReplaceMode): readonly string[] | null => COLUMNS[mode](entity);

export const modesOf = (entity: Entity): readonly ReplaceMode[] =>
  REPLACE_MODES.filter((mode) => wholeOf(entity, mode) !== null);

/** Why an entity cannot be replaced in this mode, and how it can; null if it can. `spell` writes a mode as users do. */
export function faultOfMode(entity: Entity, mode: ReplaceMode, spell: (mode: ReplaceMode) => string): string | null {
  if (wholeOf(entity, mode) !== null) return null;
  return `${entity.name} ${LACKS[mode]}; it can be replaced with ${modesOf(entity).map(spell).join(" or ")}`;
}

/** What a day that a file fills by more than half is replaced by: the columns, and the mode. */
export function usualWhole(entity: Entity): { readonly mode: ReplaceMode; readonly columns: readonly string[] } | null {
  const { mainDate, code, identity, snapshot } = entity;
  if (snapshot !== null) return { mode: "snapshot", columns: snapshot };
  const isCrossSection = mainDate !== null && identity.every((name) => name === mainDate || name === code);
  return isCrossSection ? { mode: "day", columns: [mainDate] } : null;
}
