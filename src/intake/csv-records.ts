// Reads what DuckDB does not report of a CSV file: the names in the header, and the line of a record.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { readAt } from "./text-encoding.js";

export interface Dialect {
  readonly delimiter: string;
  readonly newline: "\n" | "\r" | "\r\n";
}

const QUOTE = 0x22;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

/** The first record of a text. */
export interface FirstRecord {
  /** Without their quotes. */
  readonly cells: readonly string[];
  /** The position of its line end, or of the end of the text. */
  readonly end: number;
  /** The text ends within quotes. */
  readonly isQuoteOpen: boolean;
}

export function splitRecord(text: string, delimiter: string): FirstRecord {
  const marks = new RegExp(`["\\r\\n\\${delimiter}]`, "g");
  const cells: string[] = [];
  let [cell, start, quoted] = ["", 0, false];
  for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
    const [char] = mark;
    const end = mark.index;
    if (char === '"' && !(quoted || (cell === "" && start === end))) continue;
    if (char !== '"' && quoted) continue;
    cell += text.slice(start, end);
    start = end + 1;
    if (char === '"' && quoted && text[start] === '"') marks.lastIndex = start + 1;
    else if (char === '"') quoted = !quoted;
    else if (char === delimiter) {
      cells.push(cell);
      cell = "";
    } else return { cells: [...cells, cell], end, isQuoteOpen: false };
  }
  return { cells: [...cells, cell + text.slice(start)], end: text.length, isQuoteOpen: quoted };
}

/**
 * The 1-based line on which the `wanted`-th record begins; the header is the first. Null if there are fewer records.
 * `countBlank`: whether blank lines count as records.
 */
export async function lineOfRecord(
  path: string,
  wanted: number,
  { delimiter, newline }: Dialect,
  countBlank: boolean,
): Promise<number | null> {
  const [comma, end] = [delimiter.charCodeAt(0), newline.charCodeAt(newline.length - 1)];
  let [line, start, record, length] = [1, 1, 0, 0];
  let [quoted, previous] = [false, end];
  for await (const chunk of createReadStream(path)) {
    for (const byte of chunk as Buffer) {
      const opens = previous === comma || previous === end || previous === QUOTE;
      if (byte === QUOTE && (quoted || opens)) quoted = !quoted;
      if (byte === end) line++;
      if (byte === end && !quoted) {
        if ((length > 0 || countBlank) && ++record === wanted) return start;
        start = line;
        length = 0;
      } else if (byte !== CARRIAGE_RETURN) length++;
      previous = byte;
    }
  }
  return length > 0 && record + 1 === wanted ? start : null;
}

const STEP = 1 << 16;

/** Whether the last line that is not blank has more than `limit` bytes. Reads only the end of the file. */
export async function endsWithLineBeyond(path: string, limit: number): Promise<boolean> {
  let position = (await stat(path)).size;
  let length = 0;
  while (position > 0 && length <= limit) {
    const start = Math.max(0, position - STEP);
    const bytes = await readAt(path, start, position - start);
    let end = bytes.length;
    while (length === 0 && end > 0 && (bytes[end - 1] === LINE_FEED || bytes[end - 1] === CARRIAGE_RETURN)) end--;
    const line = bytes.subarray(0, end);
    const newline = Math.max(line.lastIndexOf(LINE_FEED), line.lastIndexOf(CARRIAGE_RETURN));
    length += end - newline - 1;
    if (newline >= 0) break;
    position = start;
  }
  return length > limit;
}
