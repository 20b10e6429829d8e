// Signed requests to a bucket, repeated while the server does not answer or is busy.
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import aws4 from "aws4";
import { OperatorError } from "../errors.js";
import { UnreachableError } from "./errors.js";
import { ChangedFileError, exchange, ExchangeError, type Answer, type FileBody } from "./s3-exchange.js";
import { codeOf, refusal, type Asked } from "./s3-refusals.js";
import type { S3Settings } from "./s3-settings.js";

/** Bytes and their SHA-256, or a file that had this SHA-256. The server verifies it. */
export interface Body {
  readonly content: Uint8Array | FileBody;
  readonly sha256: string;
}

export interface S3Request {
  readonly method: "GET" | "PUT" | "POST";
  /** The whole key in the bucket; undefined for requests to the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Body;
  readonly signal?: AbortSignal | undefined;
  /** E.g. `read a.json`. */
  readonly action: string;
  /** E.g. `s3:GetObject`. */
  readonly permission: string;
}

interface Outcome {
  readonly answer: Answer;
  /** Whether an earlier attempt, whose response was lost, may have been carried out. */
  readonly mayBeDone: boolean;
}

export interface S3Client {
  /** The first response that no retry would change. Throws UnreachableError if there is none in time. */
  send(request: S3Request): Promise<Outcome>;
  /** The error for a response that refuses the request. */
  refuse(request: S3Request, answer: Answer): OperatorError;
}

export interface Limits {
  /** Milliseconds after which a request that failed is not sent again. */
  readonly patience: number;
  /** Milliseconds without progress after which an attempt has failed. */
  readonly stall: number;
}

/** In milliseconds. A pause before a retry is random, up to a limit that doubles. */
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 2_000;

const BUSY: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** Codes of other statuses that pass, with what they mean. */
const PASSING: Readonly<Record<string, string>> = {
  ConditionalRequestConflict: "another write of the same object is under way",
  OperationAborted: "another operation on the same object is under way",
  RequestTimeout: "the request did not arrive in time",
  IncompleteBody: "the request arrived incomplete",
  BadDigest: "the data arrived damaged",
  XAmzContentSHA256Mismatch: "the data arrived damaged",
};

const EMPTY_SHA256 = createHash("sha256").digest("hex");

export function openClient(address: string, bucket: string, settings: S3Settings, limits: Limits): S3Client {
  const { bucketUrl, endpoint, region } = settings;
  const attempt = async (request: S3Request): Promise<Answer> => {
    const { method, key, query = {}, headers = {}, body, signal } = request;
    const url = new URL(key === undefined ? bucketUrl : `${bucketUrl}/${encodeKey(key)}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const unsigned = { ...headers, host: url.host, "x-amz-content-sha256": body?.sha256 ?? EMPTY_SHA256 };
    const target = { method, path: url.pathname + url.search, headers: unsigned, service: "s3", region };
    const signed = aws4.sign(target, await settings.credentials()).headers as Record<string, string>;
    return exchange({ method, url, headers: signed, body: body?.content, stall: limits.stall, signal });
  };

  const asked = ({ action, permission }: S3Request): Asked => ({
    ...{ address, bucket, endpoint, region, action, permission },
  });

  return {
    async send(request) {
      const deadline = performance.now() + limits.patience;
      let mayBeDone = false;
      for (let longest = FIRST_PAUSE; ; longest = Math.min(2 * longest, LONGEST_PAUSE)) {
        const result = await attempt(request).catch((error: unknown) => failureOf(error, request, endpoint));
        const reason = result instanceof ExchangeError ? result.reason : passingReason(result);
        if (reason === undefined) return { answer: result as Answer, mayBeDone };
        mayBeDone ||= result instanceof ExchangeError ? result.mayBeDone : result.status >= 500;
        const pause = Math.random() * longest;
        if (performance.now() + pause > deadline) {
          throw new UnreachableError(
            `the bucket ${bucket} does not answer (${reason}): is ${endpoint} up and reachable?`,
          );
        }
        await sleep(pause, undefined, { signal: request.signal }).catch(() => request.signal?.throwIfAborted());
      }
    },
    refuse: (request, answer) => refusal(asked(request), answer),
  };
}

/** Each part of a key as S3 signs it. */
const encodeKey = (key: string): string =>
  encodeURIComponent(key)
    .replaceAll("%2F", "/")
    .replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

/** Why another attempt makes sense; undefined if it does not. */
function passingReason(answer: Answer): string | undefined {
  if (answer.status < 400) return undefined;
  const code = codeOf(answer);
  if (BUSY.has(answer.status)) return `status ${answer.status}${code === "" ? "" : ` ${code}`}`;
  return PASSING[code];
}

/** The error of an exchange if another attempt makes sense. Throws any other. */
function failureOf(error: unknown, { action }: S3Request, endpoint: string): ExchangeError {
  if (error instanceof ChangedFileError) throw new OperatorError(`cannot ${action}: the file is being written`);
  if (!(error instanceof ExchangeError)) throw error;
  if (!error.isTransient) throw new OperatorError(`${endpoint} cannot be used: ${error.reason}`);
  return error;
}
