// All output of commands, line by line. Text from elsewhere cannot break a line or control a terminal.
import { printable, printableJson } from "../words.js";

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
