// Mirrors for tests, of a folder with objects or of a bucket behind a proxy.
import { join } from "node:path";
import { layoutOf } from "../../src/lake/layout.js";
import type { MirrorSize } from "../../src/lake/mirror/room.js";
import { mirrorOf, openMirror, type Mirror } from "../../src/lake/mirror/mirror.js";
import type { BucketProxy } from "./bucket-proxy.js";
import { afterEachFile, temporaryFolder } from "./folders.js";
import { hasVersitygw, startBucket, type TestBucket } from "./versitygw.js";

/** Where a lake can be besides the data directory. */
export const STORES: readonly Store[] = hasVersitygw ? ["folder", "bucket"] : ["folder"];
export type Store = "folder" | "bucket";

let bucket: TestBucket | undefined;
let lakes = 0;
const before = { ...process.env };

/** A new address, with nothing there. Variables of this process tell where the bucket is. */
export async function newAddress(store: Store): Promise<string> {
  if (store === "folder") return temporaryFolder();
  if (!bucket) {
    bucket = await startBucket();
    Object.assign(process.env, bucket.env);
  }
  return `${BUCKET}/lakes/${++lakes}`;
}

const BUCKET = "s3://market";

/** The folder with the objects at an address. */
export const folderBehind = (address: string): string =>
  address.startsWith(BUCKET) ? join(bucket!.folder, address.slice(BUCKET.length)) : address;

/** The proxy before the bucket. */
export const bucketProxy = (): BucketProxy => bucket!.proxy;

afterEachFile(async () => {
  bucket = undefined;
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
  Object.assign(process.env, before);
});

/** A new mirror of what is at an address. Resolves to its data directory. */
export async function newMirror(address: string, size: MirrorSize = "auto"): Promise<string> {
  const root = join(await temporaryFolder(), "mirror");
  await openMirror(root, { address, size });
  return root;
}

export const mirrorAt = async (root: string): Promise<Mirror> => (await mirrorOf(layoutOf(root)))!;

/** Brings a mirror up to date. */
export const pull = async (root: string): Promise<void> => (await mirrorAt(root)).pull.versions(true);
