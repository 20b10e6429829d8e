// Text from elsewhere in lines that people and programs read: it cannot break a line, steer a terminal or reorder letters.

/** Control and format characters (line ends, escape sequences, reversed or invisible text) and lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const escaped = (letter: string): string =>
  SHORT[letter] ??
  Array.from({ length: letter.length }, (_, i) => `\\u${letter.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");

/** The text with every unprintable character escaped as in JSON. JSON of one line keeps its meaning. */
export const printable = (text: string): string => text.replace(UNPRINTABLE, escaped);

export const isPrintable = (text: string): boolean => text.search(UNPRINTABLE) < 0;

/** A value as one line of JSON, or as many with an indent. */
export const printableJson = (value: unknown, indent = 0): string =>
  JSON.stringify(value, null, indent).split("\n").map(printable).join("\n");

/** A name as it is, in quotes only where it could not be seen otherwise. */
export const shown = (name: string): string => (name === "" || !isPrintable(name) ? printableJson(name) : name);
