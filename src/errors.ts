// All errors that users see: one table of problem codes for HTTP, one error class for the command line.
import { clip } from "./words.js";

/** The stable codes of all problem documents, with HTTP status, title, and the text of the web page in Chinese. */
export const PROBLEMS = {
  unknown_parameter: { status: 400, title: "Unknown parameter", chinese: "没有这个参数" },
  invalid_parameter: { status: 400, title: "Parameter value not understood", chinese: "参数值无效" },
  duplicate_parameter: { status: 400, title: "Parameter given more than once", chinese: "参数重复" },
  contradictory_parameters: { status: 400, title: "Parameters contradict each other", chinese: "参数相互矛盾" },
  as_of_not_supported: {
    status: 400,
    title: "Entity has no announcement date",
    chinese: "该数据表没有公告日期，不支持时点查询",
  },
  invalid_sql: { status: 400, title: "SQL not understood", chinese: "SQL 语句有误" },
  sql_not_allowed: { status: 400, title: "SQL that is not allowed", chinese: "不允许使用该 SQL" },
  invalid_cursor: { status: 400, title: "Cursor does not belong to this query", chinese: "游标与本次查询不匹配" },
  malformed_request: { status: 400, title: "Not a well-formed HTTP request", chinese: "请求格式错误" },
  unauthorized: { status: 401, title: "A valid access token is required", chinese: "访问令牌无效" },
  forbidden: { status: 403, title: "Token does not cover this entity", chinese: "令牌无权访问该数据表" },
  unknown_entity: { status: 404, title: "Unknown entity", chinese: "没有这个数据表" },
  unknown_route: { status: 404, title: "No such path", chinese: "没有这个地址" },
  unknown_version: { status: 404, title: "No such data version", chinese: "没有这个数据版本" },
  method_not_allowed: { status: 405, title: "Method not supported: the service is read-only", chinese: "只支持读取" },
  not_acceptable: { status: 406, title: "Format not available", chinese: "不支持该返回格式" },
  request_timeout: { status: 408, title: "The request took too long to arrive", chinese: "请求发送超时" },
  version_removed: { status: 410, title: "Data version was removed", chinese: "该数据版本已被清理" },
  content_too_large: { status: 413, title: "Request body is too long", chinese: "请求体过长" },
  unsupported_media_type: { status: 415, title: "Request body is not JSON", chinese: "请求体须为 JSON" },
  expectation_failed: { status: 417, title: "Expectation not met", chinese: "无法满足 Expect 请求头的要求" },
  not_a_trading_day: { status: 422, title: "Date is not a trading day", chinese: "该日期不是交易日" },
  outside_calendar: { status: 422, title: "Result is outside the calendar", chinese: "结果超出交易日历范围" },
  upgrade_required: { status: 426, title: "HTTP/1.1 is required", chinese: "请使用 HTTP/1.1" },
  too_many_requests: { status: 429, title: "Too many requests", chinese: "请求过于频繁，请稍后重试" },
  request_too_large: { status: 431, title: "Request is too long", chinese: "请求过长" },
  internal_error: { status: 500, title: "The server failed", chinese: "服务器内部错误" },
  data_damaged: { status: 500, title: "A data file is damaged", chinese: "数据文件已损坏" },
  data_unavailable: { status: 503, title: "The data is unavailable", chinese: "暂时无法读取数据，请稍后重试" },
  tokens_unavailable: {
    status: 503,
    title: "Access tokens cannot be checked",
    chinese: "暂时无法校验令牌，请稍后重试",
  },
  cluster_unavailable: { status: 503, title: "The cluster cannot answer", chinese: "计算集群暂不可用，请稍后重试" },
  overloaded: { status: 503, title: "The server is busy", chinese: "服务器繁忙，请稍后重试" },
  out_of_room: {
    status: 503,
    title: "The query needs more space than is available",
    chinese: "内存或磁盘不足，无法完成查询",
  },
  shutting_down: { status: 503, title: "The server is stopping", chinese: "服务器正在停止，请稍后重试" },
  deadline_exceeded: { status: 504, title: "The query took too long", chinese: "查询超时" },
  unsupported_http_version: { status: 505, title: "HTTP version not supported", chinese: "不支持该 HTTP 版本" },
} as const satisfies Record<string, { status: number; title: string; chinese: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

export interface ProblemExtras {
  /** The parameter that caused the problem. */
  readonly parameter?: string;
  /** Accepted values. */
  readonly allowed?: readonly string[];
  /** The way out, in one sentence. */
  readonly hint?: string;
  /** Where in a statement of SQL, both counted from 1. */
  readonly line?: number;
  readonly column?: number;
  /** Seconds after which a retry makes sense. */
  readonly retryAfter?: number;
}

/** Characters of a detail, with the ellipsis of a longer one. */
const DETAIL = 501;

/** A failure with a stable code, sent to HTTP clients as `application/problem+json`. */
export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly extras: ProblemExtras;
  constructor(
    readonly code: ProblemCode,
    detail: string,
    extras: ProblemExtras = {},
  ) {
    super(clip(detail, DETAIL));
    this.detail = this.message;
    const { parameter } = extras;
    this.extras = parameter === undefined ? extras : { ...extras, parameter: clip(parameter) };
    this.name = "Problem";
    this.status = PROBLEMS[code].status;
    this.title = PROBLEMS[code].title;
  }
}

/** A failure of a command, shown as one clear line. Exit code 1: the command failed; 2: it was called incorrectly. */
export class OperatorError extends Error {
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
  ) {
    super(message);
    this.name = "OperatorError";
  }
}

/** The message of an error on one line; of an error that is not ours, its first line. */
export function reasonOf(error: unknown): string {
  if (error instanceof OperatorError) return error.message;
  return (error instanceof Error ? error.message : String(error)).split("\n")[0]!.trim();
}

/** Failures of the machine, by system error code. They may pass, and are not the fault of the file in use. */
const SYSTEM_MESSAGES: Readonly<Record<string, string>> = {
  ENOSPC: "no space left on device",
  EDQUOT: "disk quota exceeded",
  EFBIG: "file too large",
  EIO: "input/output error",
  ENODEV: "no such device",
  ENXIO: "no such device or address",
  ESTALE: "stale file handle",
  EROFS: "read-only file system",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  ENOENT: "no such file or directory",
  ENOTDIR: "not a directory",
  EMFILE: "too many open files",
  ENFILE: "too many open files in system",
  ENOMEM: "cannot allocate memory",
  EAGAIN: "resource temporarily unavailable",
  EBUSY: "device or resource busy",
  ETIMEDOUT: "connection timed out",
};

/** The code of a system message such as `Too many open files`; undefined if it is not in the table. */
export const systemErrorCode = (message: string): string | undefined =>
  Object.entries(SYSTEM_MESSAGES).find(([, text]) => text === message.toLowerCase())?.[0];

/** Whether the machine failed: no space, no free file handle, a failing disk. A retry may succeed. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && Object.hasOwn(SYSTEM_MESSAGES, String((error as NodeJS.ErrnoException).code));
}

/** Codes that concern a path: if a user supplied the file, it is the file's fault. */
const PATH_FAULTS: ReadonlySet<unknown> = new Set(["EACCES", "EPERM", "ENOENT", "ENOTDIR"]);

/** Whether the machine failed while it read a file that a user supplied. */
export const isTransientError = (error: unknown): error is NodeJS.ErrnoException =>
  isSystemError(error) && !PATH_FAULTS.has(error.code);

/** The machine failed while DuckDB was working. */
export class MachineError extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
    this.name = "MachineError";
  }
}

/** DuckDB failed: it reached its memory or temporary disk limit, or has a bug. A smaller job may succeed. */
export class EngineError extends OperatorError {
  constructor(
    message: string,
    readonly lack: "memory" | "disk" | null,
  ) {
    super(message);
    this.name = "EngineError";
  }
}

/** The disk is full. */
export class NoSpaceError extends OperatorError {}

/** A statement was interrupted. */
export class InterruptedError extends Error {}

/** Returns an error that is the fault of a file; rethrows any other. */
export function fileFault(error: unknown): unknown {
  const isOther = error instanceof EngineError || error instanceof NoSpaceError || error instanceof InterruptedError;
  if (isOther || isSystemError(error)) throw error;
  return error;
}

/** Characters of the longest name that is compared: the cost of the edit distance is the product of two lengths. */
const LONGEST_NAME = 64;

/**
 * The nearest of `names` to `wanted` by edit distance. Undefined if none shares more than half of its characters or
 * `wanted` is too long to be a mistyped name.
 */
export function nearest(wanted: string, names: Iterable<string>): string | undefined {
  if (wanted.length > LONGEST_NAME) return undefined;
  const limit = Math.max(2, Math.floor(wanted.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const name of names) {
    const distance = editDistance(wanted.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance && 2 * distance < Math.max(wanted.length, name.length)) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein distance in which a swap of adjacent characters is one edit. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let d = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        d = Math.min(d, beforeLast[j - 2]! + 1);
      }
      row.push(d);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
