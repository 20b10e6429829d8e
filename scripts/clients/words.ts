// Words that the clients of all languages say about an entity.
import type { Entity } from "../../src/catalog/types.js";

/** `daily_basic` → `DailyBasic`. */
export const pascalCase = (name: string): string =>
  name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** What `as_of` does, in one sentence; null where it does nothing. */
export function asOfMeaning({ pointInTime }: Entity): string | null {
  if (pointInTime === null) return null;
  if (pointInTime.rule === "snapshot") return "`as_of` gives the latest snapshot on or before that day.";
  return `\`as_of\` gives what was announced on or before that day, by ${pointInTime.columns.join(", else ")}.`;
}

/** `, in lots`; nothing where the meaning says it already. */
export const inUnit = (meaning: string, unit: string | undefined): string =>
  unit === undefined || meaning.includes(unit) ? "" : `, in ${unit}`;
