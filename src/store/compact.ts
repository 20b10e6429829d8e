// Compaction: joins small neighbouring date files, and builds the code copy of large entities. No row changes.
import { ENTITIES } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import { createIntegrity } from "../lake/integrity.js";
import { fileList, isCovered, type DataFile, type DateRange, type FileList, type Version } from "../lake/manifest.js";
import { buildCodeCopy, wantsCodeCopy } from "./code-copy.js";
import { scan, writeDataFiles, type Writing } from "./datafile.js";
import { compareFiles, ROWS_PER_FILE } from "./merge.js";
import { openComplete, withWriteSession, type WriteOptions } from "./session.js";
import { moveIn, withStaging } from "./staging.js";

interface CompactOptions {
  /** The entities to compact; all by default. */
  readonly entities?: readonly string[];
  /**
   * For compaction in the background: how many of the latest dates keep files of their own, since they will soon be
   * dropped again. The code copy is then rebuilt only if many rows are missing in it.
   */
  readonly keepRecent?: number;
}

interface CompactedEntity {
  readonly entity: string;
  readonly filesBefore: number;
  readonly filesAfter: number;
  readonly codeCopy: "none" | "kept" | "built";
}

export interface CompactReport {
  /** The entities that were changed. */
  readonly entities: readonly CompactedEntity[];
  /** Null if there was nothing to do. */
  readonly version: Version | null;
}

/** A file with this many rows is not joined any more, so that each row is written only a few times. */
const LARGE_ROWS = ROWS_PER_FILE / 2;

/**
 * Compacts the lake and publishes it as one version. Readers keep their files, which stay until a vacuum. Other writers
 * are not blocked: the new files are built without the lock, and those whose sources are no longer served are dropped
 * before publication. `onProgress` gets the entity, the rows written so far and the rows to write.
 */
export async function compact(
  root: string,
  options: CompactOptions & WriteOptions,
  onProgress: (entity: string, rows: number, total: number) => void = () => undefined,
): Promise<CompactReport> {
  const { layout, current } = await openComplete(root, options.after);
  const wanted = ENTITIES.filter(({ name }) => options.entities?.includes(name) ?? true);
  const due = wanted.map((entity) => planEntity(entity, current().files(entity.name), options)).filter(isDue);
  if (due.length === 0) return { entities: [], version: null };
  return withStaging(layout, options, async (writer, staging) => {
    const built: Built[] = [];
    const total = due.reduce((sum, plan) => sum + rowsToWrite(plan), 0);
    let done = 0;
    for (const plan of due) {
      built.push(
        await build({ writer, layout, target: staging }, plan, (rows) =>
          onProgress(plan.entity.name, done + rows, total),
        ),
      );
      done += rowsToWrite(plan);
    }
    return withWriteSession(root, { ...options, writer }, async ({ base, publish }) => {
      const changed: CompactedEntity[] = [];
      const lists: FileList[] = [];
      for (const one of built) {
        const before = base.files(one.before.entity);
        const { list, files } = rebase(one, before);
        if (files.length === 0) continue;
        await moveIn(layout, staging, files);
        lists.push(list);
        const codeCopy = one.byCode.length > 0 ? "built" : list.byCode.length > 0 ? "kept" : "none";
        const [filesBefore, filesAfter] = [before.byDate.length, list.byDate.length];
        changed.push({ entity: list.entity, filesBefore, filesAfter, codeCopy });
      }
      return { entities: changed, version: await publish(lists, "compact") };
    });
  });
}

interface CompactPlan {
  readonly entity: Entity;
  readonly before: FileList;
  /** Groups of date files, each to become one file. */
  readonly groups: readonly (readonly DataFile[])[];
  readonly buildsCode: boolean;
}

function planEntity(entity: Entity, before: FileList, { keepRecent }: CompactOptions): CompactPlan {
  const buildsCode = wantsCodeCopy(entity, before, keepRecent !== undefined);
  return { entity, before, groups: planGroups(before, keepRecent ?? 0, buildsCode), buildsCode };
}

const rowsToWrite = ({ before, groups, buildsCode }: CompactPlan): number =>
  groups.flat().reduce((sum, { rows }) => sum + rows, buildsCode ? before.rows : 0);

const isDue = ({ groups, buildsCode }: CompactPlan): boolean => groups.length > 0 || buildsCode;

interface Built {
  readonly before: FileList;
  readonly joined: readonly { readonly parts: readonly DataFile[]; readonly file: DataFile }[];
  /** The code copy of all dates in `before`; empty if it was not built. */
  readonly byCode: readonly DataFile[];
}

async function build(
  writing: Writing,
  { entity, before, groups, buildsCode }: CompactPlan,
  onRows: (written: number) => void,
): Promise<Built> {
  const { layout } = writing;
  await createIntegrity(layout.lake).check(buildsCode ? before.byDate : groups.flat());
  let rows = 0;
  const joined: Built["joined"][number][] = [];
  const sources = groups.map((parts) => ({ relation: scan(layout, parts), sorted: true }));
  for await (const file of writeDataFiles(writing, entity, sources)) {
    joined.push({ parts: groups[joined.length]!, file });
    onRows((rows += file.rows));
  }
  if (!buildsCode) return { before, joined, byCode: [] };
  const { byCode } = await buildCodeCopy(writing, entity, before, (written) => onRows(rows + written));
  return { before, joined, byCode };
}

/** Applies what was built on `before` to the list that is served now. Resolves to the new list and its new files. */
function rebase(
  { before, joined, byCode }: Built,
  list: FileList,
): { readonly list: FileList; readonly files: readonly DataFile[] } {
  const served = new Set(list.byDate.map(({ path }) => path));
  const valid = joined.filter(({ parts }) => parts.every(({ path }) => served.has(path)));
  const gone = new Set(valid.flatMap(({ parts }) => parts.map(({ path }) => path)));
  const files = valid.map(({ file }) => file);
  const byDate = [...list.byDate.filter(({ path }) => !gone.has(path)), ...files].sort(compareFiles);
  if (byCode.length > 0) {
    const known = new Set([...before.byDate, ...files].map(({ path }) => path));
    const ranges = byDate.filter(({ path, first }) => first !== null && known.has(path)).map(rangeOf);
    return {
      list: fileList(list.entity, byDate, byCode, ranges),
      files: [...files, ...(ranges.length > 0 ? byCode : [])],
    };
  }
  const covered = valid
    .filter(({ parts }) => parts.every((part) => isCovered(list, part)))
    .map(({ file }) => rangeOf(file));
  const others = list.codeRanges.filter(([first]) => !covered.some(([from, to]) => from <= first && first <= to));
  return { list: fileList(list.entity, byDate, list.byCode, [...others, ...covered].sort()), files };
}

const rangeOf = ({ first, last }: DataFile): DateRange => [first!, last!];

/**
 * Groups of two or more neighbouring small files, each to become one file. Without `mixCovered`, no group mixes files
 * that the code copy covers with others.
 */
export function planGroups(list: FileList, keepRecent: number, mixCovered: boolean): readonly (readonly DataFile[])[] {
  const groups: DataFile[][] = [];
  let rows = Infinity;
  for (const file of withoutRecent(list.byDate, keepRecent)) {
    if (file.first === null || file.rows >= LARGE_ROWS) {
      rows = Infinity;
      continue;
    }
    const last = groups.at(-1)?.at(-1);
    const apart = last !== undefined && !mixCovered && isCovered(list, last) !== isCovered(list, file);
    if (apart || rows + file.rows > ROWS_PER_FILE) {
      groups.push([]);
      rows = 0;
    }
    groups.at(-1)!.push(file);
    rows += file.rows;
  }
  return groups.filter((group) => group.length > 1);
}

/** Leaves out the latest files that hold a single date, at most `keep` of them. */
function withoutRecent(files: readonly DataFile[], keep: number): readonly DataFile[] {
  const dated = files.filter((file) => file.first !== null);
  let end = dated.length;
  while (end > 0 && dated.length - end < keep && dated[end - 1]!.first === dated[end - 1]!.last) end--;
  return dated.slice(0, end);
}
