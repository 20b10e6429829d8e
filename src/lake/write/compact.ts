// Compaction: small neighbouring date files become large ones, and the code copy is built where it pays. No row changes.
import { ENTITIES } from "../../catalog/index.js";
import type { Entity } from "../../catalog/types.js";
import type { Writer } from "../../engine/writer.js";
import { createIntegrity } from "../integrity.js";
import type { Layout } from "../layout.js";
import { fileList, isCovered, type DataFile, type DateRange, type FileList, type Version } from "../manifest.js";
import { buildCodeCopy, wantsCodeCopy } from "./cluster.js";
import { writeDataFile } from "./datafile.js";
import { compareFiles, ROWS_PER_FILE } from "./merge.js";
import { scan } from "./relations.js";
import { withWriteSession, type WriteOptions } from "./session.js";

export interface CompactOptions {
  /** Entities to compact; all where absent. */
  readonly entities?: readonly string[];
  /**
   * For work in the background: so many of the latest dates that lie in files of their own stay so, since they are
   * dropped again soon, and the code copy is built anew only when enough rows are missing in it.
   */
  readonly keepRecent?: number;
}

export interface CompactedEntity {
  readonly entity: string;
  readonly filesBefore: number;
  readonly filesAfter: number;
  readonly codeCopy: "none" | "kept" | "built";
}

export interface CompactReport {
  /** The entities that were changed. */
  readonly entities: readonly CompactedEntity[];
  /** Null where nothing was to do. */
  readonly version: Version | null;
}

/** A file with this many rows is large enough: it is never merged again, so that a row is written a few times only. */
const LARGE_ROWS = ROWS_PER_FILE / 2;

/**
 * Compacts the lake and publishes it as one version. Readers go on with the files they have, which stay until vacuum.
 * `onProgress` is told the entity and the rows written so far.
 */
export async function compact(
  root: string,
  options: CompactOptions & WriteOptions,
  onProgress: (entity: string, rows: number) => void = () => undefined,
): Promise<CompactReport> {
  return withWriteSession(root, options, async ({ writer, layout, base, publish }) => {
    const lists: FileList[] = [];
    const changed: CompactedEntity[] = [];
    for (const entity of ENTITIES) {
      if (options.entities && !options.entities.includes(entity.name)) continue;
      const before = base.files(entity.name);
      const { list, codeCopy } = await compactEntity(writer, layout, entity, before, options, (rows) =>
        onProgress(entity.name, rows),
      );
      if (list === before) continue;
      lists.push(list);
      const [filesBefore, filesAfter] = [before.byDate.length, list.byDate.length];
      changed.push({ entity: entity.name, filesBefore, filesAfter, codeCopy });
    }
    return { entities: changed, version: await publish(lists, "compact") };
  });
}

async function compactEntity(
  writer: Writer,
  layout: Layout,
  entity: Entity,
  before: FileList,
  options: CompactOptions,
  onRows: (written: number) => void,
): Promise<Pick<CompactedEntity, "codeCopy"> & { readonly list: FileList }> {
  const builds = wantsCodeCopy(entity, before, options.keepRecent !== undefined);
  const runs = planRuns(before, options.keepRecent ?? 0, builds);
  if (runs.length === 0 && !builds) return { list: before, codeCopy: "none" };

  await createIntegrity(layout.lake).check(builds ? before.byDate : runs.flat());
  let rows = 0;
  const written: DataFile[] = [];
  const covered: DateRange[] = [];
  for (const run of runs) {
    const file = (await writeDataFile(writer, layout, entity, scan(layout, run)))!;
    written.push(file);
    if (run.every((part) => isCovered(before, part))) covered.push([file.first!, file.last!]);
    onRows((rows += file.rows));
  }
  const gone = new Set(runs.flat());
  const byDate = [...before.byDate.filter((file) => !gone.has(file)), ...written].sort(compareFiles);
  const others = before.codeRanges.filter(([first]) => !covered.some(([from, to]) => from <= first && first <= to));
  const merged = fileList(entity.name, byDate, before.byCode, [...others, ...covered].sort());
  if (!builds) return { list: merged, codeCopy: merged.byCode.length > 0 ? "kept" : "none" };
  return { list: await buildCodeCopy(writer, layout, entity, merged, onRows), codeCopy: "built" };
}

/**
 * Runs of two or more neighbouring small files, each to become one file. Where the code copy is not built anew, files
 * that it covers and files that it does not stay apart.
 */
export function planRuns(list: FileList, keepRecent: number, mixCovered: boolean): readonly (readonly DataFile[])[] {
  const runs: DataFile[][] = [];
  let rows = Infinity;
  for (const file of withoutRecent(list.byDate, keepRecent)) {
    if (file.first === null || file.rows >= LARGE_ROWS) {
      rows = Infinity;
      continue;
    }
    const last = runs.at(-1)?.at(-1);
    const apart = last !== undefined && !mixCovered && isCovered(list, last) !== isCovered(list, file);
    if (apart || rows + file.rows > ROWS_PER_FILE) {
      runs.push([]);
      rows = 0;
    }
    runs.at(-1)!.push(file);
    rows += file.rows;
  }
  return runs.filter((run) => run.length > 1);
}

/** Leaves out the latest files of one date each, at most `keep` of them. */
function withoutRecent(files: readonly DataFile[], keep: number): readonly DataFile[] {
  const dated = files.filter((file) => file.first !== null);
  let end = dated.length;
  while (end > 0 && dated.length - end < keep && dated[end - 1]!.first === dated[end - 1]!.last) end--;
  return dated.slice(0, end);
}
