// Text about entities that is shared by the clients of all languages.
import type { Entity } from "../../src/catalog/types.js";

/** `daily_basic` → `DailyBasic`. */
export const pascalCase = (name: string): string =>
  name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The effect of `as_of` in one sentence; null if the entity does not have it. */
export function asOfMeaning({ pointInTime }: Entity): string | null {
  if (pointInTime === null) return null;
  if (pointInTime.rule === "snapshot") return "`as_of` gives the latest snapshot on or before that day.";
  return `\`as_of\` gives what was announced on or before that day, by ${pointInTime.columns.join(", else ")}.`;
}

/** `, in lots`; empty if the meaning contains the unit already. */
export const inUnit = (meaning: string, unit: string | undefined): string =>
  unit === undefined || meaning.includes(unit) ? "" : `, in ${unit}`;
