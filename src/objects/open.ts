// Opens a store by its address: a folder, or a bucket of S3.
import { resolve } from "node:path";
import { OperatorError } from "../errors.js";
import { clip, isPrintable, shown } from "../words.js";
import { openFolder } from "./folder.js";
import { isWrongPart } from "./keys.js";
import type { ObjectStore } from "./object-store.js";

export interface OpenOptions {
  /** Where `AWS_*` variables are looked up, and by the provider of roles always in those of the process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Milliseconds after which a request to a bucket that failed is not sent again. 20 s by default. */
  readonly patience?: number;
  /** Milliseconds without progress after which an attempt has failed. 20 s by default. */
  readonly stall?: number;
}

const PATIENCE = 20_000;
const STALL = 20_000;

/**
 * Opens `s3://bucket/prefix` or the path of a folder. Throws an OperatorError (exit code 2) if the address is malformed,
 * and an OperatorError if settings are. Nothing is read yet.
 */
export async function openObjects(address: string, options: OpenOptions = {}): Promise<ObjectStore> {
  if (!/^s3:/i.test(address)) {
    requireFolder(address);
    return openFolder(resolve(address));
  }
  const [bucket, prefix] = parseBucketAddress(address);
  const { openS3 } = await import("./s3.js");
  const { env = process.env, patience = PATIENCE, stall = STALL } = options;
  return openS3(bucket, prefix, env, { patience, stall });
}

const EXPECTED = "expected a folder, s3://bucket or s3://bucket/prefix";

const malformed = (address: string, problem: string): OperatorError =>
  new OperatorError(`${shown(clip(address))} ${problem}: ${EXPECTED}`, 2);

function requireFolder(address: string): void {
  if (address === "") throw malformed(address, "is no address");
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(address)) {
    const scheme = address.slice(0, address.indexOf(":"));
    throw malformed(`${scheme}://`, "is not a kind of address that is known");
  }
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

function parseBucketAddress(address: string): readonly [bucket: string, prefix: string] {
  const [, bucket, rest = ""] = /^s3:\/\/([^/]*)(?:\/(.*))?$/is.exec(address) ?? [];
  if (bucket === undefined) throw malformed(address, "is not the address of a bucket");
  if (bucket === "") throw malformed(address, "names no bucket");
  if (bucket.includes("@")) {
    const way = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead";
    throw new OperatorError(`the address of a bucket has no user name and no password: ${way}`, 2);
  }
  if (bucket.includes(":")) {
    const way = "set AWS_ENDPOINT_URL to the address of the server";
    throw malformed(address, `names a server where the bucket should be (${way})`);
  }
  if (!BUCKET.test(bucket)) {
    throw malformed(address, "names no possible bucket (3 to 63 lower-case letters, digits, dots and hyphens)");
  }
  const prefix = rest.replace(/(?<=[^/])\/$/, "");
  if (prefix !== "" && prefix.split("/").some(isWrongPart)) {
    throw malformed(address, "has a prefix with an empty, too long or misleading part");
  }
  if (/[?#]/.test(prefix)) throw malformed(address, "has a prefix with ? or # (settings come from AWS_* variables)");
  if (!isPrintable(prefix)) throw malformed(address, "has a prefix with unprintable characters");
  return [bucket, prefix];
}
