// What is wrong with a statement, in words without paths: where it is, and what might be meant.
import { Problem } from "../errors.js";

/** `line 2, column 7: `, from a byte of the text; empty where the place is not known. */
export function placed(sql: string, place: number | null): string {
  if (place === null) return "";
  const before = Buffer.from(sql).subarray(0, place).toString("utf8").split("\n");
  return `line ${before.length}, column ${before.at(-1)!.length + 1}: `;
}

export const invalidSql = (sql: string, why: string, place: number | null, hint?: string): Problem =>
  new Problem("invalid_sql", placed(sql, place) + why, { parameter: "sql", ...(hint === undefined ? {} : { hint }) });

export const notAllowed = (sql: string, why: string, place: number | null, hint?: string): Problem =>
  new Problem("sql_not_allowed", placed(sql, place) + why, {
    parameter: "sql",
    ...(hint === undefined ? {} : { hint }),
  });

/** DuckDB's messages when neither memory nor disk has space. */
const OUT_OF_SPACE = /^Out of Memory Error|^IO Error: Could not write file/;

/** Kinds of errors that are the statement's own fault. */
const OWN_FAULT =
  /^(Binder|Catalog|Parser|Syntax|Conversion|Invalid Input|Invalid|Out of Range|Not implemented|Mismatch Type|Constraint|Sequence|Expression|Parameter|Index|Divide by Zero|Permission|Value) ?(Error|Exception)?: /i;

/** Where DuckDB shows a line of the text, a marker below it points at the place. */
const SHOWN_LINE = /\n\nLINE (\d+): ([^\n]*)\n( *)\^/;

/** What DuckDB's error about a statement means to its author; null if it is not the author's fault. */
export function problemOf(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  if (!(error instanceof Error)) return null;
  const { message } = error;
  if (OUT_OF_SPACE.test(message)) {
    return new Problem("out_of_room", "the statement needs more memory and disk than it may use", {
      parameter: "sql",
      hint: "read fewer columns, days or codes, or aggregate before you join; the operator can raise --sql-memory",
      retryAfter: 5,
    });
  }
  if (!OWN_FAULT.test(message)) return null;
  const [first = "", ...more] = message.replace(SHOWN_LINE, "").split("\n");
  const near = more.find((line) => /^(Did you mean|Candidate)/.test(line));
  const reason = first.replace(OWN_FAULT, "").replaceAll(/"?(?:\/[\w.-]+){2,}"?/g, "a file");
  return new Problem("invalid_sql", lineOf(message) + reason, {
    parameter: "sql",
    ...(near === undefined ? {} : { hint: near.trim() }),
  });
}

function lineOf(message: string): string {
  const [, line, , spaces] = SHOWN_LINE.exec(message) ?? [];
  if (line === undefined) return "";
  // The marker stands below the text, which `LINE 1: ` precedes.
  const column = spaces!.length - `LINE ${line}: `.length + 1;
  return `line ${line}, column ${Math.max(1, column)}: `;
}
