// Finds entities of the open version whose data files are missing.
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { UnavailableError } from "./continuity.js";
import type { Layout } from "./layout.js";
import type { DataFile, FileList, Version } from "./manifest.js";

/** The open version; null if none could be opened yet. */
type Opened = { readonly version: Version; files(entity: string): FileList } | null;

/** `fault` is why the manifest cannot be followed, or null. */
type FindAbsent = (opened: Opened, fault: Error | null) => Promise<readonly string[]>;

/**
 * Returns a function that names the entities whose data files are missing. It checks their folders at each call, and
 * their files once when the directory has become unavailable.
 */
export function createPresence(layout: Layout): FindAbsent {
  let known: string | null = null;
  let incomplete: readonly string[] = [];
  return async (opened, fault) => {
    const reason = fault instanceof UnavailableError ? fault.message : null;
    if (reason !== known) incomplete = reason === null ? [] : await incompleteEntities(layout, opened);
    known = reason;
    const needed = entitiesOf(opened);
    if (needed.length === 0) return [];
    const folders = await readdir(layout.lake).catch((): string[] => []);
    return needed.filter((entity) => !folders.includes(entity) || incomplete.includes(entity));
  };
}

const entitiesOf = (opened: Opened): readonly string[] => Object.keys(opened?.version.lists ?? {});

async function incompleteEntities(layout: Layout, opened: Opened): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entity of entitiesOf(opened)) {
    const { byDate, byCode } = opened!.files(entity);
    if (await lacksOne(layout, [...byDate, ...byCode])) found.push(entity);
  }
  return found;
}

async function lacksOne(layout: Layout, files: readonly DataFile[]): Promise<boolean> {
  for (const { path } of files) {
    const isThere = await stat(join(layout.lake, path)).then(
      () => true,
      () => false,
    );
    if (!isThere) return true;
  }
  return false;
}
