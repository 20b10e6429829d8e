// Which data files get a serving copy, and which copies are removed.
import { ENTITIES } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import type { Snapshot } from "../lake/lake.js";
import type { Clustering, DataFile } from "../lake/manifest.js";

/** A data file of the served version, and the entity whose rows it has. */
export interface Source {
  readonly entity: Entity;
  readonly clustering: Clustering;
  readonly file: DataFile;
}

/** A copy in the folder, under the path of its data file. */
export interface StoredCopy {
  readonly path: string;
  readonly bytes: number;
  /** Whether the data file exists; older versions may need it. */
  readonly hasSource: boolean;
}

export const totalBytes = (copies: readonly StoredCopy[]): number => copies.reduce((sum, { bytes }) => sum + bytes, 0);

interface CopyPlan {
  /** To be made in this order. */
  readonly missing: readonly Source[];
  readonly removable: readonly StoredCopy[];
}

/** The data files of a version, those with the newest rows first. */
export function sourcesOf(snapshot: Snapshot): readonly Source[] {
  const sources = ENTITIES.filter(({ name }) => snapshot.version.lists[name]).flatMap((entity) => {
    const list = snapshot.files(entity.name);
    return (["byCode", "byDate"] as const).flatMap((clustering) =>
      list[clustering].map((file): Source => ({ entity, clustering, file })),
    );
  });
  return sources.toSorted((a, b) => compare(newestOf(b), newestOf(a)));
}

/** Files without dates are small and often read. */
const newestOf = ({ file }: Source): string => file.last ?? "99999999";

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Copies of `sources` come first, in this order, then those that only older versions need, as long as they fit into
 * `most` bytes. `sizeOf` gives the bytes of a copy that is not there.
 */
export function planCopies(
  sources: readonly Source[],
  stored: readonly StoredCopy[],
  most: number,
  sizeOf: (source: Source) => number,
): CopyPlan {
  const byPath = new Map(stored.map((copy) => [copy.path, copy]));
  const missing: Source[] = [];
  const kept = new Set<string>();
  let bytes = 0;
  const take = (size: number): boolean => {
    if (bytes + size > most) return false;
    bytes += size;
    return true;
  };
  for (const source of sources) {
    const { path } = source.file;
    const copy = byPath.get(path);
    if (!take(copy?.bytes ?? sizeOf(source))) continue;
    if (copy === undefined) missing.push(source);
    else kept.add(path);
  }
  for (const { path, bytes: size, hasSource } of stored) {
    if (hasSource && !kept.has(path) && take(size)) kept.add(path);
  }
  return { missing, removable: stored.filter(({ path }) => !kept.has(path)) };
}

const WIDTHS = { float64: 8, int64: 8, date: 4, code: 13, text: 20 };

/** About how many bytes the copy of a file has. */
export const estimatedSize = ({ entity, file }: Source): number =>
  Math.max(file.bytes, file.rows * entity.columns.reduce((sum, { type }) => sum + WIDTHS[type], 0));
