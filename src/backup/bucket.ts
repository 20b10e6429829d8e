// A backup in a bucket. It has the same files as one in a folder, and the manifest is written last.
import { writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { makeFolderIn } from "../durable.js";
import { OperatorError } from "../errors.js";
import { sha256OfFile } from "../lake/integrity.js";
import { sha256 } from "../lake/manifest.js";
import { DamagedFileError } from "../lake/damaged-file.js";
import { fetchToFile, sha256OfObject } from "../objects/fetch.js";
import type { ListedObject, ObjectStore } from "../objects/object-store.js";
import { openObjects } from "../objects/open.js";
import {
  dataPath,
  decodeManifest,
  encodeManifest,
  isBackupPath,
  MANIFEST,
  MARKER,
  MARKER_TEXT,
  type BackupManifest,
  type Target,
} from "./format.js";

/** Opens a bucket for a backup. With `verify`, the files in it are read and checked. */
export async function withBucket<T>(place: string, verify: boolean, work: (target: Target) => Promise<T>): Promise<T> {
  const objects = await openObjects(place);
  const stored = new Map<string, ListedObject>();
  for await (const object of objects.list("")) stored.set(object.key, object);
  if (stored.size > 0 && !stored.has(MARKER))
    throw new OperatorError(`${place} is not empty and holds no backup: name another prefix`);
  await objects.put(MARKER, Buffer.from(MARKER_TEXT));
  return work(bucketTarget(objects, stored, (await readBucketManifest(objects)) ?? null, verify));
}

function bucketTarget(
  objects: ObjectStore,
  stored: ReadonlyMap<string, ListedObject>,
  previous: BackupManifest | null,
  verify: boolean,
): Target {
  const isThere = async (key: string, bytes: number, sum: string): Promise<boolean> =>
    stored.get(key)?.size === bytes && (!verify || (await sha256OfObject(objects, key, bytes)) === sum);
  return {
    previous,
    async addFile(file, from) {
      const key = dataPath(file.path);
      if (await isThere(key, file.bytes, file.sha256)) return false;
      // The bucket checks what arrives, so the file must be right before it is sent.
      if ((await sha256OfFile(from)) !== file.sha256)
        throw new DamagedFileError(file.path, "the checksum does not match");
      await objects.put(key, { path: from });
      return true;
    },
    async addText(path, text) {
      const bytes = Buffer.from(text);
      if (!(await isThere(path, bytes.length, sha256(bytes)))) await objects.put(path, bytes);
    },
    async complete(manifest) {
      await objects.put(MANIFEST, Buffer.from(encodeManifest(manifest)));
      const named = new Set(manifest.files.map(({ path }) => path));
      const others: string[] = [];
      for await (const { key } of objects.list("")) if (!named.has(key) && isBackupPath(key)) others.push(key);
      await objects.remove(others);
      return others.filter((key) => key.endsWith(".parquet")).length;
    },
  };
}

async function readBucketManifest(objects: ObjectStore): Promise<BackupManifest | undefined> {
  const found = await objects.get(MANIFEST);
  return found ? decodeManifest(found.bytes.toString("utf8"), `${objects.address}/${MANIFEST}`) : undefined;
}

/** Fetches the files of a backup into a folder. `onFile` gets each one, the bytes done and all of them. */
export async function fetchBackup(
  place: string,
  folder: string,
  onFile: (what: string, bytes: number, total: number) => void,
): Promise<void> {
  const objects = await openObjects(place);
  const manifest = await readBucketManifest(objects);
  if (!manifest) throw new OperatorError(`${place} holds no complete backup: ${MANIFEST} is missing`);
  const total = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  let done = 0;
  for (const { path, bytes } of manifest.files) {
    onFile(`fetching ${path}`, done, total);
    const to = join(folder, path);
    await makeFolderIn(folder, relative(folder, dirname(to)));
    await fetchToFile(objects, path, bytes, to);
    done += bytes;
  }
  await writeFile(join(folder, MANIFEST), encodeManifest(manifest));
}
