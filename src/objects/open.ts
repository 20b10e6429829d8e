// Opens a store by its address: a folder, or a bucket of S3.
import { resolve } from "node:path";
import { isBucketAddress, parseBucketAddress, requireFolder } from "./address.js";
import { openFolder } from "./folder.js";
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
  if (!isBucketAddress(address)) {
    requireFolder(address);
    return openFolder(resolve(address));
  }
  const [bucket, prefix] = parseBucketAddress(address);
  const { openS3 } = await import("./s3.js");
  const { env = process.env, patience = PATIENCE, stall = STALL } = options;
  return openS3(bucket, prefix, env, { patience, stall });
}
