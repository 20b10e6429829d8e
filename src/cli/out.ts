// All output of commands: lines, JSON, and tables for people. Text from elsewhere cannot break a line or control a terminal.
import { once } from "node:events";
import { printable, printableJson, count } from "../words.js";

type Lines = string | readonly string[];

const writeLines = (stream: NodeJS.WriteStream, lines: Lines): void =>
  void stream.write(
    [lines]
      .flat()
      .map((line) => `${printable(line)}\n`)
      .join(""),
  );

/** Prints one or more lines of the result. */
export const say = (lines: Lines): void => writeLines(process.stdout, lines);

/** Prints one or more lines that are not part of the result, to standard error. */
export const note = (lines: Lines): void => writeLines(process.stderr, lines);

/** Prints a value as JSON, on one line unless an indent is given. */
export const printJson = (value: unknown, indent = 0): void =>
  void process.stdout.write(`${printableJson(value, indent)}\n`);

/** Writes a part of a result that may be large, no faster than its reader takes it. */
export async function writeBytes(bytes: Uint8Array): Promise<void> {
  if (!process.stdout.write(bytes)) await once(process.stdout, "drain");
}

interface TableOptions {
  readonly json?: boolean | undefined;
  /** Printed if there are no rows. */
  readonly none: string;
  /** Columns that are shortened if the table is too wide. */
  readonly shortenable: readonly string[];
}

/** Prints rows as a table no wider than the terminal, or as JSON. */
export function printTable(rows: readonly Row[], options: TableOptions): void {
  const { json = false, none, shortenable } = options;
  const width = process.stdout.columns || Infinity;
  if (json) printJson(rows, 2);
  else if (rows.length === 0) say(none);
  else say(tableLines(rows, width, shortenable));
}

type Row = Readonly<Record<string, string | number | null>>;

const GAP = "  ";
/** No column is shortened below this width. */
const LEAST_WIDTH = 8;
const AMOUNT = /^-?[\d,.]+( (%|kB|MB|GB))?$/;
/** Characters that are two columns wide: East Asian ones, and pictographs. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;

/**
 * Aligned lines, the first one with the column names. If they are wider than `width`, the columns `shortenable` are
 * shortened in this order; shortened text ends in …
 */
export function tableLines(rows: readonly Row[], width: number, shortenable: readonly string[]): readonly string[] {
  const names = Object.keys(rows[0] ?? {});
  const columns = names.map((name) => {
    const values = rows.map((row) => row[name] ?? null);
    const cells = values.map((value) => (typeof value === "number" ? count(value) : printable(value ?? "")));
    const isText = (cell: string): boolean => cell !== "" && !AMOUNT.test(cell);
    return { cells: [name, ...cells], isText: cells.every((cell) => cell === "") || cells.some(isText) };
  });
  const widths = columns.map(({ cells }) => Math.max(...cells.map(widthOf)));
  let excess = widths.reduce((sum, one) => sum + one, GAP.length * (widths.length - 1)) - width;
  for (const i of shortenable.map((name) => names.indexOf(name)).filter((at) => at >= 0)) {
    const cut = Math.max(0, Math.min(excess, widths[i]! - LEAST_WIDTH));
    widths[i]! -= cut;
    excess -= cut;
  }
  return [names, ...rows].map((_, line) =>
    columns
      .map(({ cells, isText }, i) => fit(cells[line]!, widths[i]!, isText))
      .join(GAP)
      .trimEnd(),
  );
}

function fit(cell: string, width: number, isText: boolean): string {
  const text = shortened(cell, width);
  const blank = " ".repeat(Math.max(0, width - widthOf(text)));
  return isText ? text + blank : blank + text;
}

/** The text in at most `width` columns; … marks what is left out. */
export function shortened(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  for (const letter of text) {
    if (widthOf(kept + letter) > width - 1) break;
    kept += letter;
  }
  return `${kept.trimEnd()}…`;
}

/** The width of a text in a terminal. */
export const widthOf = (text: string): number =>
  [...text].reduce((sum, letter) => sum + (WIDE.test(letter) ? 2 : 1), 0);
