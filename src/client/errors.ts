// The errors of the client.

/** Maximum characters of server text that are shown. */
const LONGEST_TEXT = 2_000;

/** Text of unknown origin, safe to show in a terminal. */
export const readable = (text: string): string =>
  text
    .slice(0, LONGEST_TEXT)
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ")
    .trim();

/** The base class of all errors of the client. */
export class TapehouseError extends Error {
  override readonly name: string = "TapehouseError";
  /** Whether a retry may help. */
  readonly passing: boolean = false;
  /** Milliseconds that the server asked to wait, if it did. */
  readonly retryAfter: number | null = null;
}

/** The server could not be reached, or closed the connection before a response began. */
export class ConnectionFailedError extends TapehouseError {
  override readonly name = "ConnectionFailedError";
  override readonly passing = true;
}

/** A response was cut off. Its rows are incomplete. */
export class IncompleteAnswerError extends TapehouseError {
  override readonly name = "IncompleteAnswerError";
  override readonly passing = true;
}

/** The server's description of an error. */
interface Problem {
  readonly status: number;
  /** Stable; the texts are for people. */
  readonly code: string;
  readonly detail: string;
  /** The parameter that caused the problem. */
  readonly parameter?: string;
  /** Accepted values. */
  readonly allowed?: readonly string[];
  /** How to fix it. */
  readonly hint?: string;
  /** Where in a statement of SQL, both counted from 1. */
  readonly line?: number;
  readonly column?: number;
}

/** The server refused the request. */
export class ProblemError extends TapehouseError implements Problem {
  override readonly name = "ProblemError";
  override readonly passing: boolean;
  override readonly retryAfter: number | null;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly parameter?: string;
  readonly allowed?: readonly string[];
  readonly hint?: string;
  readonly line?: number;
  readonly column?: number;
  /** Identifies the request in the server's log. */
  readonly requestId: string | null;

  constructor(problem: Problem, requestId: string | null, retryAfter: number | null) {
    super(`${problem.code}: ${problem.detail}${problem.hint === undefined ? "" : ` (${problem.hint})`}`);
    this.status = problem.status;
    this.code = problem.code;
    this.detail = problem.detail;
    if (problem.parameter !== undefined) this.parameter = problem.parameter;
    if (problem.allowed !== undefined) this.allowed = problem.allowed;
    if (problem.hint !== undefined) this.hint = problem.hint;
    if (problem.line !== undefined) this.line = problem.line;
    if (problem.column !== undefined) this.column = problem.column;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
    this.passing = problem.status === 429 || problem.status === 503;
  }
}
