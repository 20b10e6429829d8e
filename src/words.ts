// Numbers and lists in words, as people are told them.
import { shown } from "./printable.js";

export const count = (n: number): string => n.toLocaleString("en-US");

/** E.g. `1 file`, `2,000 files`. */
export const plural = (n: number, what: string): string => `${count(n)} ${what}${n === 1 ? "" : "s"}`;

/** Bytes in the unit that suits them. */
export function size(bytes: number): string {
  const [unit, name] = bytes < 1e6 ? [1e3, "kB"] : bytes < 1e9 ? [1e6, "MB"] : [1e9, "GB"];
  return `${(bytes / unit).toLocaleString("en-US", { maximumFractionDigits: 1 })} ${name}`;
}

/** Names that are told; of more, how many. */
const SHOWN = 8;

/** E.g. `pe, pb and 3 more`. */
export function some(names: readonly string[]): string {
  const more = names.length > SHOWN ? ` and ${count(names.length - SHOWN)} more` : "";
  return names.slice(0, SHOWN).map(shown).join(", ") + more;
}
