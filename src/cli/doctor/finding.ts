// One finding of the doctor.
import { isPrintable, printable } from "../../words.js";

export interface Finding {
  readonly state: "ok" | "warning" | "wrong";
  readonly thing: string;
  /** The current state. */
  readonly found: string;
  /** The expected state; null if it is met. */
  readonly expected: string | null;
  /** A command that fixes it; null if nothing needs to be done. */
  readonly way: string | null;
}

export const ok = (thing: string, found: string): Finding => ({ state: "ok", thing, found, expected: null, way: null });

interface Problem {
  readonly found: string;
  readonly expected: string;
  readonly way: string;
}

export const warning = (thing: string, problem: Problem): Finding => ({ state: "warning", thing, ...problem });
export const wrong = (thing: string, problem: Problem): Finding => ({ state: "wrong", thing, ...problem });

/** A command with its words quoted for a shell. */
export const shell = (...words: readonly string[]): string => words.map(quoted).join(" ");

function quoted(word: string): string {
  if (/^[\w./:=@%+,-]+$/.test(word)) return word;
  if (isPrintable(word)) return `'${word.replaceAll("'", "'\\''")}'`;
  return `$'${printable(word.replace(/[\\']/g, "\\$&"))}'`;
}
