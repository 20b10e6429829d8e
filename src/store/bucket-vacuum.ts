// Vacuum in a bucket: removes what no kept version names. A publication of another machine may be sending files that no
// version names yet, so only objects that are older than a day are removed.
import { join } from "node:path";
import { openLake } from "../lake/lake.js";
import { nameOf, versionFile, type Layout } from "../lake/layout.js";
import type { Version } from "../lake/manifest.js";
import type { Mirror } from "../lake/mirror/mirror.js";
import type { ListedObject, ObjectStore } from "../objects/object-store.js";
import { isLakeFile } from "./journal.js";

/** Milliseconds that an object stays after it was written, by the clock of the bucket. Publishing takes less. */
const LEAST_AGE = 86_400_000;

interface Garbage {
  readonly files: number;
  readonly bytes: number;
}

/** Objects that are removed between two looks at the newest version. */
const AT_ONCE = 200;

/** Finds the objects that no version in `kept` or newer than them names; `named` resolves to the paths that versions name. */
export async function vacuumBucket(
  mirror: Mirror,
  layout: Layout,
  {
    kept,
    dryRun,
    named,
  }: {
    readonly kept: readonly Version[];
    readonly dryRun: boolean;
    readonly named: (versions: readonly Version[]) => Promise<ReadonlySet<string>>;
  },
): Promise<Garbage> {
  const { objects, pull } = mirror;
  const newest = kept.at(-1)?.sequence ?? 0;
  const versionsOf = async (): Promise<readonly Version[]> => {
    await pull.versions(true);
    const later = (await (await openLake(layout.root)).versions()).filter(({ sequence }) => sequence > newest);
    return [...kept, ...later];
  };
  const keysOf = async (): Promise<ReadonlySet<string>> => {
    const versions = await versionsOf();
    const paths = [...(await named(versions))].map((path) => nameOf(layout, path));
    return new Set([...paths, ...versions.map(({ sequence }) => versionKey(layout, sequence))]);
  };
  const isGarbage = (key: string, needed: ReadonlySet<string>): boolean =>
    !needed.has(key) && (isLakeFile(key) || (isVersion(key) && sequenceOf(key) < newest));

  let needed = await keysOf();
  const now = await clockOf(objects);
  const garbage: ListedObject[] = [];
  for (const prefix of ["lake/", "state/lists/", "state/versions/"]) {
    for await (const object of objects.list(prefix)) {
      if (isGarbage(object.key, needed) && now - object.modified.getTime() > LEAST_AGE) garbage.push(object);
    }
  }
  for (let at = 0; at < garbage.length && !dryRun; at += AT_ONCE) {
    needed = await keysOf();
    const keys = garbage.slice(at, at + AT_ONCE).map(({ key }) => key);
    await objects.remove(keys.filter((key) => isGarbage(key, needed)));
  }
  return { files: garbage.length, bytes: garbage.reduce((sum, { size }) => sum + size, 0) };
}

const versionKey = (layout: Layout, sequence: number): string =>
  nameOf(layout, join(layout.versions, versionFile(sequence)));

const isVersion = (key: string): boolean => /^state\/versions\/\d{10}\.json$/.test(key);
const sequenceOf = (key: string): number => Number.parseInt(key.slice("state/versions/".length), 10);

const CLOCK = "state/clock";

/** The time by the clock of the bucket, in milliseconds. */
async function clockOf(objects: ObjectStore): Promise<number> {
  await objects.put(CLOCK, Buffer.from("written to read the clock of the bucket\n"));
  return (await objects.get(CLOCK))!.modified.getTime();
}
