// What can go wrong, as errors.

/** Characters of what a server says that are shown. */
const LONGEST_TEXT = 2_000;

/** A text of unknown origin as it may be shown in a terminal. */
export const readable = (text: string): string =>
  text
    .slice(0, LONGEST_TEXT)
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ")
    .trim();

/** The root of all errors of the client. */
export class TapehouseError extends Error {
  override readonly name: string = "TapehouseError";
  /** Whether asking again can help. */
  readonly passing: boolean = false;
  /** Milliseconds that the server asked to wait, where it did. */
  readonly retryAfter: number | null = null;
}

/** The server could not be reached, or left before an answer began. */
export class ConnectionFailedError extends TapehouseError {
  override readonly name = "ConnectionFailedError";
  override readonly passing = true;
}

/** An answer was cut before its end. None of its rows may be taken for the whole. */
export class IncompleteAnswerError extends TapehouseError {
  override readonly name = "IncompleteAnswerError";
  override readonly passing = true;
}

/** What the server tells with an error. */
export interface Problem {
  readonly status: number;
  /** Stable; the texts are for people. */
  readonly code: string;
  readonly detail: string;
  /** The parameter at fault. */
  readonly parameter?: string;
  /** What would be accepted. */
  readonly allowed?: readonly string[];
  /** The way out. */
  readonly hint?: string;
}

/** The server said no. */
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
  /** Names the request in the log of the server. */
  readonly requestId: string | null;

  constructor(problem: Problem, requestId: string | null, retryAfter: number | null) {
    super(`${problem.code}: ${problem.detail}${problem.hint === undefined ? "" : ` (${problem.hint})`}`);
    this.status = problem.status;
    this.code = problem.code;
    this.detail = problem.detail;
    if (problem.parameter !== undefined) this.parameter = problem.parameter;
    if (problem.allowed !== undefined) this.allowed = problem.allowed;
    if (problem.hint !== undefined) this.hint = problem.hint;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
    this.passing = problem.status === 429 || problem.status === 503;
  }
}
