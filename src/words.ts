// Text in messages: formats numbers and lists, and escapes text from elsewhere so that it cannot break a line, control
// a terminal or reorder characters.

/** E.g. `2,000`, or `2,000.5` with one digit. Without `Intl`, which takes time to load. */
export const count = (n: number): string =>
  String(n).replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));

/** E.g. `1 file`, `2,000 files`. */
export const plural = (n: number, what: string): string => `${count(n)} ${what}${n === 1 ? "" : "s"}`;

/** E.g. `1 row has`, `2,000 rows have`: the beginning of a warning. */
export const rowsHave = (n: number): string => `${plural(n, "row")} ${n === 1 ? "has" : "have"}`;

/** A number of bytes, in a suitable unit. */
export function size(bytes: number): string {
  const [unit, name] = bytes < 1e6 ? [1e3, "kB"] : bytes < 1e9 ? [1e6, "MB"] : [1e9, "GB"];
  return `${count(Math.round((bytes / unit) * 10) / 10)} ${name}`;
}

/** How many names a message lists; the rest is counted. */
const SHOWN = 8;

/** E.g. `pe, pb and 3 more`. */
export function some(names: readonly string[]): string {
  const more = names.length > SHOWN ? ` and ${count(names.length - SHOWN)} more` : "";
  return names.slice(0, SHOWN).map(shown).join(", ") + more;
}

/** Characters of what a message quotes, with the ellipsis of a longer text. */
const QUOTED = 61;

/** The beginning of a text that has more than `most` characters. */
export const clip = (text: string, most = QUOTED): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;

/** Control and format characters (line ends, escape sequences, reversed or invisible text) and lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const escaped = (letter: string): string =>
  SHORT[letter] ??
  Array.from({ length: letter.length }, (_, i) => `\\u${letter.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");

/** The text with every unprintable character escaped as in JSON. JSON of one line keeps its meaning. */
export const printable = (text: string): string => text.replace(UNPRINTABLE, escaped);

export const isPrintable = (text: string): boolean => text.search(UNPRINTABLE) < 0;

/** A value as JSON on one line, or on several with an indent. */
export const printableJson = (value: unknown, indent = 0): string =>
  JSON.stringify(value, null, indent).split("\n").map(printable).join("\n");

/** A name, in quotes only if it is empty or has unprintable characters. */
export const shown = (name: string): string => (name === "" || !isPrintable(name) ? printableJson(name) : name);
