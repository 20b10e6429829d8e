// A mirror: a data directory whose lake is in a bucket. It has the state of the lake, and the data files that were read.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { openObjects } from "../../objects/open.js";
import { UnreachableError } from "../../objects/errors.js";
import type { ObjectStore } from "../../objects/object-store.js";
import { NoSpaceError } from "../../errors.js";
import { BucketAwayError } from "../continuity.js";
import { layoutOf, type Layout } from "../layout.js";
import type { DataFile } from "../manifest.js";
import { bindingOf, bindMirror, type Binding } from "./binding.js";
import { checkingConditions } from "./conditions.js";
import { createFetch } from "./fetching.js";
import { createHolds } from "./holds.js";
import { bytesIn, excerptOf, isWhole, wholeOf, type Portion } from "./portions.js";
import { createPull, type Pull } from "./pull.js";
import { createRoom, isFull, untilUnmarked } from "./room.js";

/** Its methods throw BucketAwayError if the bucket does not answer, and NoSpaceError if the disk is full. */
export interface Mirror {
  readonly objects: ObjectStore;
  readonly pull: Pull;
  /** What to fetch of a file that is not here, to read these row groups: an excerpt if it is clearly smaller. */
  choose(file: DataFile, groups: readonly number[]): Portion;
  /** Keeps these files on the disk until `release`. They need not be there yet. */
  hold(portions: readonly Portion[]): Promise<() => void>;
  /** Fetches a portion, unless it is here. Resolves to its stamp if its checksums were just found right. */
  fetch(portion: Portion): Promise<string | null>;
  /** Fetches a portion again that is damaged here. Resolves to its stamp. */
  replace(portion: Portion): Promise<string | null>;
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

/** An excerpt has at most this part of its file. When excerpts of a file have it together, the whole file is fetched. */
const EXCERPTED = 0.5;

/** Milliseconds after which a request is answered with an error rather than repeated. */
const PATIENCE = 8_000;

async function open(layout: Layout): Promise<Mirror | null> {
  const binding = await bindingOf(layout);
  if (binding === null) return null;
  const store = await openObjects(binding.address, { patience: PATIENCE, stall: PATIENCE });
  const objects = checkingConditions(layout, store);
  const holds = createHolds(layout);
  const room = createRoom(layout, binding.size, holds);
  const fetch = createFetch(layout, objects, room);
  /** The bytes of each data file that excerpts have. */
  const excerpted = new Map<string, number>();
  const fetchPortion = async (portion: Portion): Promise<string | null> => {
    const stamp = await fetch(portion);
    const { file, stretches } = portion;
    if (isWhole(portion) || stamp === null) return stamp;
    const bytes = (excerpted.get(file.path) ?? 0) + bytesIn(stretches);
    excerpted.set(file.path, bytes);
    if (bytes > file.bytes * EXCERPTED) {
      excerpted.delete(file.path);
      // Nobody waits for it: if it cannot be fetched, the next read fails.
      fetch(wholeOf(file)).catch(() => undefined);
    }
    return stamp;
  };
  const { versions, adopt, files, immutable } = createPull(layout, objects);
  const holdOrMakeRoom = async (paths: readonly string[]): Promise<void> => {
    try {
      holds.hold(paths);
    } catch (error) {
      if (!isFull(error) || !(await room.make(paths.join().length))) throw error;
      holds.hold(paths);
    }
  };
  return {
    objects,
    pull: {
      versions: (thorough, ...paths) => translated(versions(thorough, ...paths)),
      adopt,
      files: (...paths) => translated(files(...paths)),
      immutable: (path) => translated(immutable(path)),
    },
    choose(file, groups) {
      const excerpt = file.rowGroups === undefined ? null : excerptOf(layout, file, groups);
      return excerpt !== null && bytesIn(excerpt.stretches) <= file.bytes * EXCERPTED ? excerpt : wholeOf(file);
    },
    async hold(portions) {
      const paths = portions.map(({ path }) => path);
      await translated(holdOrMakeRoom(paths));
      for (const path of paths) await untilUnmarked(join(layout.lake, path));
      return () => holds.release(paths);
    },
    fetch: (portion) => translated(fetchPortion(portion)),
    async replace(portion) {
      await rm(join(layout.lake, portion.path), { force: true });
      return translated(fetch(portion));
    },
  };
}

/** Turns errors of the bucket and of a full disk into those that readers of the mirror expect. */
const translated = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    if (error instanceof UnreachableError) throw new BucketAwayError(error.message);
    if (isFull(error)) throw new NoSpaceError(FULL);
    throw error;
  });

const FULL =
  "the disk of the mirror is full, so nothing more of the bucket can be read: free some space, or lower --mirror-size";
