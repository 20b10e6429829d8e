// What is wrong with a statement, in words without paths: where it is, and what might be meant.
import { isOutOfSpace } from "../engine/statements.js";
import { Problem, type ProblemCode, type ProblemExtras } from "../errors.js";

/** A problem at a byte of the statement; null where the place is not known. */
export function sqlProblem(
  code: ProblemCode,
  sql: string,
  why: string,
  place: number | null,
  extras: ProblemExtras = {},
): Problem {
  if (place === null) return new Problem(code, why, { parameter: "sql", ...extras });
  const before = Buffer.from(sql).subarray(0, place).toString("utf8").split("\n");
  const [line, column] = [before.length, before.at(-1)!.length + 1];
  return new Problem(code, `line ${line}, column ${column}: ${why}`, { parameter: "sql", line, column, ...extras });
}

const hinted = (hint: string | undefined): ProblemExtras => (hint === undefined ? {} : { hint });

export const invalidSql = (sql: string, why: string, place: number | null, hint?: string): Problem =>
  sqlProblem("invalid_sql", sql, why, place, hinted(hint));

export const notAllowed = (sql: string, why: string, place: number | null, hint?: string): Problem =>
  sqlProblem("sql_not_allowed", sql, why, place, hinted(hint));

/** Kinds of errors that are the statement's own fault. */
const OWN_FAULT =
  /^(Binder|Catalog|Parser|Syntax|Conversion|Invalid Input|Invalid|Out of Range|Not implemented|Mismatch Type|Constraint|Sequence|Expression|Parameter|Index|Divide by Zero|Permission|Value) ?(Error|Exception)?: /i;

/** Where DuckDB shows a line of the text, a marker below it points at the place. */
const SHOWN_LINE = /\n\nLINE (\d+): ([^\n]*)\n( *)\^/;

const DATES = "write DATE '2024-01-05'; a parameter may be cast: $day::DATE with 2024-01-05 as its value";

/** What DuckDB's error about a statement means to its author; null if it is not the author's fault. */
export function problemOf(sql: string, error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  if (!(error instanceof Error)) return null;
  const { message } = error;
  if (isOutOfSpace(error)) {
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
  const hint = /date field format|cast.*DATE|-> DATE/i.test(first) ? DATES : near?.trim();
  return invalidSql(sql, reason, shownAt(sql, message), hint?.endsWith(":") === true ? undefined : hint);
}

/** DuckDB shows a part of the line, of the statement as we frame it: only what is part of the author's text has a place. */
function shownAt(sql: string, message: string): number | null {
  const [, line, shown, spaces] = SHOWN_LINE.exec(message) ?? [];
  if (line === undefined) return null;
  const [, before, excerpt] = /^(\.\.\.)?(.*?)(?:\.\.\.)?$/.exec(shown!)!;
  const at = sql.indexOf(excerpt!);
  const column = spaces!.length - `LINE ${line}: ${before ?? ""}`.length;
  const isHere = at >= 0 && sql.indexOf(excerpt!, at + 1) < 0 && column >= 0 && column <= excerpt!.length;
  return isHere ? Buffer.byteLength(sql.slice(0, at)) + Buffer.byteLength(excerpt!.slice(0, column)) : null;
}
