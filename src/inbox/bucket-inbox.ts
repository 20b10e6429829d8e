// Drops in a bucket: objects below `inbox/` are fetched into the inbox of the mirror, where they are handled like others.
import { lstat, mkdir, readdir, rename, rm, utimes } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { reasonOf } from "../errors.js";
import type { DropState } from "../lake/drop-file.js";
import { INBOX_KEYS, isSameTime, isWrongPath } from "../lake/inbox-files.js";
import type { Layout } from "../lake/layout.js";
import type { Mirror } from "../lake/mirror/mirror.js";
import { fetchToFile } from "../objects/fetch.js";
import type { ListedObject } from "../objects/object-store.js";
import { printable } from "../words.js";

export interface BucketInbox {
  /** Looks at the bucket if it is time to; returns at once. */
  look(): void;
  /** Resolves when no drop is being fetched. */
  ended(): Promise<void>;
}

interface Options {
  /** Whether the ledger says what became of this state of a drop. */
  readonly isKnown: (state: DropState) => boolean;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Milliseconds between two lists of the bucket. */
const LOOK_EVERY = 2_000;

export function createBucketInbox(mirror: Mirror, layout: Layout, options: Options): BucketInbox {
  const { isKnown, clock, log, signal } = options;
  const { objects } = mirror;
  const reported = new Map<string, string>();
  let next = -Infinity;
  let running: Promise<void> | null = null;

  const fetch = async (key: string, path: string, { size, modified }: ListedObject): Promise<void> => {
    const temporary = join(layout.fetching, randomUUID());
    try {
      await fetchToFile(objects, key, size, temporary, signal);
      await utimes(temporary, modified, modified);
      await mkdir(dirname(join(layout.inbox, path)), { recursive: true });
      await rename(temporary, join(layout.inbox, path));
    } finally {
      await rm(temporary, { force: true });
    }
  };

  /** Fetches an object that is new, and removes what was fetched of one that is settled. */
  const bring = async (object: ListedObject): Promise<void> => {
    const path = object.key.slice(INBOX_KEYS.length);
    const state = { path, size: object.size, mtime: object.modified.getTime() };
    const local = await lstat(join(layout.inbox, path)).catch(() => undefined);
    if (isKnown(state)) {
      if (local) await rm(join(layout.inbox, path), { force: true });
    } else if (!local || local.size !== state.size || !isSameTime(local.mtimeMs, state.mtime)) {
      await fetch(object.key, path, object);
    }
  };

  const report = (key: string, reason: string): void => {
    if (reported.get(key) !== reason) log(`${printable(key)} is not imported: ${reason}`);
    reported.set(key, reason);
  };

  const lookNow = async (): Promise<void> => {
    const paths = new Set<string>();
    for await (const object of objects.list(INBOX_KEYS)) {
      const path = object.key.slice(INBOX_KEYS.length);
      if (signal.aborted) return;
      if (path === "" || path.endsWith("/")) continue;
      if (isWrongPath(path)) {
        report(object.key, "its key cannot be the path of a file");
        continue;
      }
      paths.add(path);
      await bring(object).then(
        () => reported.delete(object.key),
        (error: unknown) => report(object.key, reasonOf(error)),
      );
    }
    // Objects that were removed from the bucket.
    await mkdir(layout.inbox, { recursive: true });
    const local = await readdir(layout.inbox, { recursive: true, withFileTypes: true });
    for (const entry of local) {
      const path = join(entry.parentPath, entry.name).slice(layout.inbox.length + 1);
      if (!entry.isDirectory() && !paths.has(path)) await rm(join(layout.inbox, path), { force: true });
    }
  };

  return {
    look() {
      if (running || clock() < next) return;
      running = lookNow()
        .then(
          () => reported.delete(INBOX_KEYS),
          (error: unknown) => {
            if (!signal.aborted) report(INBOX_KEYS, reasonOf(error));
          },
        )
        .then(() => {
          running = null;
          next = clock() + LOOK_EVERY;
        });
    },
    ended: async () => (await running) ?? undefined,
  };
}
