// Checks the objects of a lake in a bucket, and sends those again that are damaged there and whole in this mirror.
import { readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UnreachableError } from "../objects/errors.js";
import { sha256OfObject } from "../objects/fetch.js";
import type { ObjectStore } from "../objects/object-store.js";
import { sha256OfFile } from "../lake/integrity.js";
import { listFile, nameOf, versionFile, type Layout } from "../lake/layout.js";
import { listsOf, namesOf } from "../lake/lists.js";
import { sha256 } from "../lake/manifest.js";
import { mirrorOf, type Mirror } from "../lake/mirror/mirror.js";
import { plural } from "../words.js";
import { takeInventory, versionsNaming, type Fault, type Inventory } from "./inventory.js";

/** An object as the inventory knows it. */
interface Expected {
  /** The file of the mirror. */
  readonly path: string;
  readonly entity: string | null;
  readonly versions: readonly string[];
  /** Undefined for a file of the state, which is compared with that of the mirror. */
  readonly data?: { readonly bytes: number; readonly sha256: string };
}

type OnObject = (what: string, bytes: number, total: number) => void;

/** The objects of the kept versions that are missing, or not what the manifest says. Each is read once. */
export async function findBucketFaults(
  { objects }: Mirror,
  layout: Layout,
  inventory: Inventory,
  onObject: OnObject,
): Promise<readonly Fault[]> {
  const faults: Fault[] = [];
  const all = expectedObjects(layout, inventory);
  const total = all.reduce((sum, { data }) => sum + (data?.bytes ?? 0), 0);
  let done = 0;
  for (const expected of all) {
    const { path, entity, versions, data } = expected;
    const key = nameOf(layout, path);
    if (data) onObject(`checking ${key} in the bucket`, done, total);
    done += data?.bytes ?? 0;
    const problem = await problemOf(objects, key, expected);
    if (problem !== null) faults.push({ path: key, entity, kind: "damaged", problem, versions });
  }
  return faults;
}

/** Fetches versions and lists again that are damaged in a mirror. */
export async function fetchDamagedState(layout: Layout): Promise<void> {
  const mirror = await mirrorOf(layout);
  if (mirror === null) return;
  const { faults } = await takeInventory(layout);
  for (const path of faults.map((fault) => join(layout.root, fault.path))) {
    const isOfVersion = [layout.versions, layout.lists].includes(dirname(path));
    if (isOfVersion && !(await mirror.pull.immutable(path))) await rm(path, { force: true });
  }
}

/** Sends objects again that are damaged in the bucket. Without a bucket, there are none. */
export interface BucketRepair {
  /**
   * Sends those that are whole here. What is whole in neither is removed here, so that a repair finds it missing; call it
   * again when that was repaired.
   */
  send(): Promise<void>;
  /** What was done, in words. */
  messages(): readonly string[];
}

export async function openBucketRepair(
  layout: Layout,
  inventory: Inventory,
  onObject: OnObject,
): Promise<BucketRepair> {
  const mirror = await mirrorOf(layout);
  if (mirror === null) return { send: async () => undefined, messages: () => [] };
  const faults = await findBucketFaults(mirror, layout, inventory, onObject);
  const left = new Set(faults.map(({ path }) => path));
  const expected = expectedObjects(layout, inventory).filter(({ path }) => left.has(nameOf(layout, path)));
  let sent = 0;
  return {
    async send() {
      for (const { path, data } of expected) {
        const key = nameOf(layout, path);
        if (!left.has(key)) continue;
        const isWhole = data === undefined || (await sha256OfFile(path).catch(() => null)) === data.sha256;
        if (isWhole) {
          await mirror.objects.put(key, { path });
          left.delete(key);
          sent++;
        } else await rm(path, { force: true });
      }
    },
    messages: () => (sent === 0 ? [] : [`${plural(sent, "object")} of the bucket sent again`]),
  };
}

function expectedObjects(layout: Layout, { versions, lists, files }: Inventory): readonly Expected[] {
  const ofVersions = versions.map(({ sequence, data_version }): Expected => {
    return { path: join(layout.versions, versionFile(sequence)), entity: null, versions: [data_version] };
  });
  const ofLists = [...listsOf(versions)].flatMap(([sha, entity]): readonly Expected[] => {
    const list = lists.get(sha);
    const naming = versionsNaming(versions, new Set([sha]));
    return (list ? namesOf(list, sha) : []).map((name) => ({
      ...{ path: join(layout.lists, listFile(name)), entity, versions: naming },
    }));
  });
  const ofData = [...files.values()].map(({ file, entity, lists: naming }): Expected => {
    return { path: join(layout.lake, file.path), entity, versions: versionsNaming(versions, naming), data: file };
  });
  const unique = new Map([...ofVersions, ...ofLists, ...ofData].map((one) => [one.path, one]));
  return [...unique.values()];
}

/** What is wrong with an object, in words; null if nothing is. */
async function problemOf(objects: ObjectStore, key: string, { path, data }: Expected): Promise<string | null> {
  const missing = `${objects.address} does not have the file`;
  if (!data) {
    const stored = await objects.get(key);
    if (!stored) return missing;
    return sha256(stored.bytes) === sha256(await readFile(path)) ? null : "the object is damaged";
  }
  try {
    if (!(await objects.get(key, { range: [0, 1] }))) return missing;
    const sum = await sha256OfObject(objects, key, data.bytes);
    return sum === data.sha256 ? null : "the checksum of the object does not match";
  } catch (error) {
    if (error instanceof UnreachableError) throw error;
    return `the object has fewer than ${data.bytes} bytes`;
  }
}
