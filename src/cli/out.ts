// All that commands print, a line at a time. Text from elsewhere cannot break a line or steer a terminal.
import { printable, printableJson } from "../words.js";

type Lines = string | readonly string[];

const writeLines = (stream: NodeJS.WriteStream, lines: Lines): void =>
  void stream.write(
    [lines]
      .flat()
      .map((line) => `${printable(line)}\n`)
      .join(""),
  );

/** Prints a line of the answer, or several. */
export const say = (lines: Lines): void => writeLines(process.stdout, lines);

/** Prints a line, or several, beside the answer, on standard error. */
export const note = (lines: Lines): void => writeLines(process.stderr, lines);

/** Prints a value as JSON, on one line where no indent is given. */
export const printJson = (value: unknown, indent = 0): void =>
  void process.stdout.write(`${printableJson(value, indent)}\n`);
