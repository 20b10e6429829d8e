// What the doctor tells of one thing.
import { isPrintable, printable } from "../../words.js";

export interface Finding {
  readonly state: "ok" | "warning" | "wrong";
  readonly thing: string;
  /** How it is. */
  readonly found: string;
  /** How it should be; null where it is so. */
  readonly expected: string | null;
  /** A command that mends it; null where nothing needs to be done. */
  readonly way: string | null;
}

export const ok = (thing: string, found: string): Finding => ({ state: "ok", thing, found, expected: null, way: null });

interface Trouble {
  readonly found: string;
  readonly expected: string;
  readonly way: string;
}

export const warning = (thing: string, trouble: Trouble): Finding => ({ state: "warning", thing, ...trouble });
export const wrong = (thing: string, trouble: Trouble): Finding => ({ state: "wrong", thing, ...trouble });

/** A command as a shell takes it. */
export const shell = (...words: readonly string[]): string => words.map(quoted).join(" ");

function quoted(word: string): string {
  if (/^[\w./:=@%+,-]+$/.test(word)) return word;
  if (isPrintable(word)) return `'${word.replaceAll("'", "'\\''")}'`;
  return `$'${printable(word.replace(/[\\']/g, "\\$&"))}'`;
}
