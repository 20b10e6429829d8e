// A mirror: a data directory whose lake is in a bucket. It has the state of the lake, and the data files that were read.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { openObjects } from "../../objects/open.js";
import { UnreachableError } from "../../objects/errors.js";
import type { ObjectStore } from "../../objects/object-store.js";
import { BucketAwayError } from "../continuity.js";
import { layoutOf, type Layout } from "../layout.js";
import type { DataFile } from "../manifest.js";
import { bindingOf, bindMirror, type Binding } from "./binding.js";
import { createFetch } from "./fetching.js";
import { createHolds } from "./holds.js";
import { createPull, type Pull } from "./pull.js";
import { createRoom, untilUnmarked } from "./room.js";

/** Its methods throw BucketAwayError if the bucket does not answer. */
export interface Mirror {
  readonly objects: ObjectStore;
  readonly pull: Pull;
  /** Keeps these files on the disk until `release`. They need not be there yet. */
  hold(files: readonly DataFile[]): Promise<() => void>;
  /** Fetches a data file, unless it is here. Resolves to the stamp of the file if its checksum was just found right. */
  fetch(file: DataFile): Promise<string | null>;
  /** Fetches a data file again that is damaged here. Resolves to its stamp. */
  replace(file: DataFile): Promise<string | null>;
}

const opened = new Map<string, Promise<Mirror | null>>();

/** Makes a new data directory the mirror of a bucket, or opens it again. */
export async function openMirror(root: string, binding: Binding): Promise<Mirror> {
  await bindMirror(root, binding);
  opened.delete(root);
  return (await mirrorOf(layoutOf(root)))!;
}

/** The mirror in a data directory; null if the lake itself is there. A process opens each mirror once. */
export function mirrorOf(layout: Layout): Promise<Mirror | null> {
  let mirror = opened.get(layout.root);
  if (!mirror) {
    mirror = open(layout);
    opened.set(layout.root, mirror);
    mirror.catch(() => opened.delete(layout.root));
  }
  return mirror;
}

/** Milliseconds after which a request is answered with an error rather than repeated. */
const PATIENCE = 8_000;

async function open(layout: Layout): Promise<Mirror | null> {
  const binding = await bindingOf(layout);
  if (binding === null) return null;
  const objects = await openObjects(binding.address, { patience: PATIENCE, stall: PATIENCE });
  const holds = createHolds(layout);
  const room = createRoom(layout, binding.size, holds);
  const fetch = createFetch(layout, objects, room);
  const { versions, adopt, file, immutable } = createPull(layout, objects);
  return {
    objects,
    pull: {
      versions: (thorough) => orUnavailable(versions(thorough)),
      adopt,
      file: (path) => orUnavailable(file(path)),
      immutable: (path) => orUnavailable(immutable(path)),
    },
    async hold(files) {
      const paths = files.map(({ path }) => path);
      holds.hold(paths);
      for (const path of paths) await untilUnmarked(join(layout.lake, path));
      return () => holds.release(paths);
    },
    fetch: (one) => orUnavailable(fetch(one)),
    async replace(one) {
      await rm(join(layout.lake, one.path), { force: true });
      return orUnavailable(fetch(one));
    },
  };
}

const orUnavailable = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    if (error instanceof UnreachableError) throw new BucketAwayError(error.message);
    throw error;
  });
