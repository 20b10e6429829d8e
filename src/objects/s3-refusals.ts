// What S3 refuses, in words: what was expected, and the way out. Nothing secret is quoted.
import { OperatorError } from "../errors.js";
import { clip, printable } from "../words.js";
import type { Answer } from "./s3-exchange.js";
import { textOf } from "./s3-xml.js";

/** What is asked of S3, for messages, with the permission that it needs. */
export interface Asked {
  /** E.g. `s3://bucket/prefix`. */
  readonly address: string;
  readonly bucket: string;
  readonly endpoint: string;
  readonly region: string;
  /** E.g. `read a.json`. */
  readonly action: string;
  readonly permission: string;
}

/** The code of an error of S3, e.g. `NoSuchKey`; empty if the response is not one. */
export const codeOf = ({ body }: Answer): string =>
  body.subarray(0, 5).toString() === "<?xml" || body.subarray(0, 6).toString() === "<Error"
    ? (textOf(body.toString(), "Code") ?? "")
    : "";

/** A refusal with the way out. */
type Refusal = (asked: Asked, answer: Answer) => string;

const inOtherRegion: Refusal = ({ bucket, region, endpoint }, answer) => {
  const own = answer.headers["x-amz-bucket-region"] ?? textOf(answer.body.toString(), "Region");
  const names = typeof own === "string" && /^[a-z0-9-]+$/.test(own);
  const way = names ? `set AWS_REGION=${own}` : "set AWS_REGION to the region of the bucket";
  return `the bucket ${bucket} is not in the region ${region} at ${endpoint}: ${way}`;
};

const expired: Refusal = ({ address }) =>
  `the credentials for ${address} have expired: set new ones (AWS_SESSION_TOKEN belongs to them)`;

const malformedToken: Refusal = ({ address }) =>
  `the session token for ${address} is not valid: set AWS_SESSION_TOKEN anew, or unset it for keys that need none`;

const REFUSALS: Readonly<Record<string, Refusal>> = {
  NoSuchBucket: ({ bucket, endpoint }) =>
    `the bucket ${bucket} does not exist at ${endpoint}: create it, or correct the address`,
  AccessDenied: ({ address, action, permission }) =>
    `${address} refuses to ${action}: the credentials need the permission ${permission}`,
  InvalidAccessKeyId: ({ endpoint }) =>
    `${endpoint} does not know the access key: check AWS_ACCESS_KEY_ID, or AWS_PROFILE`,
  SignatureDoesNotMatch: ({ endpoint }) =>
    `${endpoint} does not accept the signature: check AWS_SECRET_ACCESS_KEY (and that no proxy changes requests)`,
  ExpiredToken: expired,
  ExpiredTokenException: expired,
  TokenRefreshRequired: expired,
  InvalidToken: malformedToken,
  RequestTimeTooSkewed: ({ endpoint }) =>
    `the clock of this machine differs from that of ${endpoint} by more than 15 minutes: correct the clock`,
  AuthorizationHeaderMalformed: inOtherRegion,
  PermanentRedirect: inOtherRegion,
  TemporaryRedirect: inOtherRegion,
  IllegalLocationConstraintException: inOtherRegion,
  InvalidBucketName: ({ bucket, endpoint }) => `${endpoint} does not accept the name of the bucket ${bucket}`,
  NotImplemented: ({ address, action }) =>
    `${address} cannot ${action}: the server lacks a feature of S3 that Tapehouse needs, such as conditional writes`,
};

/** The error for a response that no retry will change. */
export function refusal(asked: Asked, answer: Answer): OperatorError {
  const code = codeOf(answer);
  const known = REFUSALS[code] ?? (answer.status === 301 ? inOtherRegion : undefined);
  if (known) return new OperatorError(known(asked, answer));
  const { address, action, endpoint } = asked;
  const message =
    code === "" ? "" : ` ${code}: ${printable(clip(textOf(answer.body.toString(), "Message") ?? "", 200))}`;
  const hint = code === "" ? `; is ${endpoint} an S3 server?` : "";
  return new OperatorError(`${address} refuses to ${action}: status ${answer.status}${message}${hint}`);
}
