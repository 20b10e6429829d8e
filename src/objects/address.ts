// Addresses of stores: the path of a folder, or a bucket of S3.
import { OperatorError } from "../errors.js";
import { clip, isPrintable, shown } from "../words.js";
import { isWrongPart } from "./keys.js";

/** Whether an address is meant to be that of a bucket and not the path of a folder. */
export const isBucketAddress = (address: string): boolean => /^s3:/i.test(address);

const EXPECTED = "expected a folder, s3://bucket or s3://bucket/prefix";

const malformed = (address: string, problem: string): OperatorError =>
  new OperatorError(`${shown(clip(address))} ${problem}: ${EXPECTED}`, 2);

export function requireFolder(address: string): void {
  if (address === "") throw malformed(address, "is not an address");
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(address)) {
    const scheme = address.slice(0, address.indexOf(":"));
    throw malformed(`${scheme}://`, "is not a kind of address that is known");
  }
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

export function parseBucketAddress(address: string): readonly [bucket: string, prefix: string] {
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
    throw malformed(address, "does not name a valid bucket (3 to 63 lower-case letters, digits, dots and hyphens)");
  }
  const prefix = rest.replace(/(?<=[^/])\/$/, "");
  if (prefix !== "" && prefix.split("/").some(isWrongPart)) {
    throw malformed(address, "has a prefix with an empty, too long or misleading part");
  }
  if (/[?#]/.test(prefix)) throw malformed(address, "has a prefix with ? or # (settings come from AWS_* variables)");
  if (!isPrintable(prefix)) throw malformed(address, "has a prefix with unprintable characters");
  return [bucket, prefix];
}
