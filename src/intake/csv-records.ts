// The records of a CSV file where DuckDB does not tell: the header's names, and on which line a record stands.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { readAt } from "./text-encoding.js";

export interface Dialect {
  readonly delimiter: string;
  readonly newline: "\n" | "\r";
}

const QUOTE = 0x22;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

/** The cells of the first record of a text, quotes taken off. */
export function splitRecord(text: string, delimiter: string): readonly string[] {
  const cells: string[] = [];
  let cell = "";
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === '"' && quoted && text[i + 1] === '"') cell += text.charAt(i++);
    else if (char === '"' && (quoted || cell === "")) quoted = !quoted;
    else if (char === delimiter && !quoted) {
      cells.push(cell);
      cell = "";
    } else if ((char === "\n" || char === "\r") && !quoted) break;
    else cell += char;
  }
  return [...cells, cell];
}

/**
 * The 1-based line on which the `wanted`-th record begins, the header being the first; null where there are fewer.
 * Blank lines count as records or not.
 */
export async function lineOfRecord(
  path: string,
  wanted: number,
  { delimiter, newline }: Dialect,
  countBlank: boolean,
): Promise<number | null> {
  const [comma, end] = [delimiter.charCodeAt(0), newline.charCodeAt(0)];
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

/** Whether the last line that is not blank has more than `limit` bytes. Only the end of the file is read. */
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
