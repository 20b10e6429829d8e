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

/** How DuckDB's errors begin, but for those that are not the statement's own fault. */
const OWN_FAULT =
  /^(?!(?:INTERNAL|FATAL|IO|Out of Memory|Connection|Network|HTTP|INTERRUPT|Serialization|Transaction\w*|Unknown)\b)[A-Z][\w /-]* (?:Error|Exception): /i;

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
  const [, number, shown, spaces] = SHOWN_LINE.exec(message) ?? [];
  if (number === undefined) return null;
  const [, before, excerpt] = /^(\.\.\.)?(.*?)(?:\.\.\.)?$/.exec(shown!)!;
  // The frame is in the first line, before and after the text.
  const lines = sql.split("\n");
  const line = lines[Number(number) - 1] ?? "";
  const at = line.indexOf(excerpt!);
  const column = charactersIn(excerpt!, spaces!.length - `LINE ${number}: ${before ?? ""}`.length);
  const isHere = at >= 0 && column !== null && (before === undefined || line.indexOf(excerpt!, at + 1) < 0);
  if (!isHere) return null;
  return Buffer.byteLength([...lines.slice(0, Number(number) - 1), line.slice(0, at + column)].join("\n"));
}

/** Characters that take two columns of a terminal, by which DuckDB counts. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/;

/** How many characters of a text take this many columns; null if it is shorter, or they end within one. */
function charactersIn(text: string, columns: number): number | null {
  let [characters, width] = [0, 0];
  while (width < columns && characters < text.length) width += WIDE.test(text[characters++]!) ? 2 : 1;
  return width === columns ? characters : null;
}
