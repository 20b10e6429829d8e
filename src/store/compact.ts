// Compaction: small neighbouring date files become large ones, and the code copy is built where it pays. No row changes.
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
  /** Entities to compact; all if absent. */
  readonly entities?: readonly string[];
  /**
   * For work in the background: so many of the latest dates that lie in files of their own stay so, since they are
   * dropped again soon, and the code copy is built anew only when enough rows are missing in it.
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
  /** Null if nothing was to do. */
  readonly version: Version | null;
}

/** A file with this many rows is large enough: it is never merged again, so that a row is written a few times only. */
const LARGE_ROWS = ROWS_PER_FILE / 2;

/**
 * Compacts the lake and publishes it as one version. Readers go on with the files they have, which stay until vacuum.
 * Writers go on too: files are made beside them, and only what still holds the rows of the lake is taken in the end.
 * `onProgress` is told the entity, the rows written so far and those that there are to write.
 */
export async function compact(
  root: string,
  options: CompactOptions & WriteOptions,
  onProgress: (entity: string, rows: number, total: number) => void = () => undefined,
): Promise<CompactReport> {
  const { layout, current } = await openComplete(root, options.after);
  const asked = ENTITIES.filter(({ name }) => options.entities?.includes(name) ?? true);
  const due = asked.map((entity) => planEntity(entity, current().files(entity.name), options)).filter(isDue);
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
        const { list, files } = takeIn(one, before);
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
  /** Date files that become one. */
  readonly runs: readonly (readonly DataFile[])[];
  readonly buildsCode: boolean;
}

function planEntity(entity: Entity, before: FileList, { keepRecent }: CompactOptions): CompactPlan {
  const buildsCode = wantsCodeCopy(entity, before, keepRecent !== undefined);
  return { entity, before, runs: planGroups(before, keepRecent ?? 0, buildsCode), buildsCode };
}

const rowsToWrite = ({ before, runs, buildsCode }: CompactPlan): number =>
  runs.flat().reduce((sum, { rows }) => sum + rows, buildsCode ? before.rows : 0);

const isDue = ({ runs, buildsCode }: CompactPlan): boolean => runs.length > 0 || buildsCode;

interface Built {
  readonly before: FileList;
  readonly runs: readonly { readonly parts: readonly DataFile[]; readonly file: DataFile }[];
  /** The copy by code of every date of `before`; empty if it is not built. */
  readonly byCode: readonly DataFile[];
}

async function build(
  writing: Writing,
  { entity, before, runs: planned, buildsCode }: CompactPlan,
  onRows: (written: number) => void,
): Promise<Built> {
  const { layout } = writing;
  await createIntegrity(layout.lake).check(buildsCode ? before.byDate : planned.flat());
  let rows = 0;
  const runs: Built["runs"][number][] = [];
  const joined = planned.map((parts) => ({ relation: scan(layout, parts), sorted: true }));
  for await (const file of writeDataFiles(writing, entity, joined)) {
    runs.push({ parts: planned[runs.length]!, file });
    onRows((rows += file.rows));
  }
  if (!buildsCode) return { before, runs, byCode: [] };
  const { byCode } = await buildCodeCopy(writing, entity, before, (written) => onRows(rows + written));
  return { before, runs, byCode };
}

/** What was built on `before` as a change of the list that is served now, and the new files that this needs. */
function takeIn(
  { before, runs: made, byCode }: Built,
  list: FileList,
): { readonly list: FileList; readonly files: readonly DataFile[] } {
  const served = new Set(list.byDate.map(({ path }) => path));
  const runs = made.filter(({ parts }) => parts.every(({ path }) => served.has(path)));
  const gone = new Set(runs.flatMap(({ parts }) => parts.map(({ path }) => path)));
  const files = runs.map(({ file }) => file);
  const byDate = [...list.byDate.filter(({ path }) => !gone.has(path)), ...files].sort(compareFiles);
  if (byCode.length > 0) {
    const known = new Set([...before.byDate, ...files].map(({ path }) => path));
    const ranges = byDate.filter(({ path, first }) => first !== null && known.has(path)).map(rangeOf);
    return {
      list: fileList(list.entity, byDate, byCode, ranges),
      files: [...files, ...(ranges.length > 0 ? byCode : [])],
    };
  }
  const covered = runs
    .filter(({ parts }) => parts.every((part) => isCovered(list, part)))
    .map(({ file }) => rangeOf(file));
  const others = list.codeRanges.filter(([first]) => !covered.some(([from, to]) => from <= first && first <= to));
  return { list: fileList(list.entity, byDate, list.byCode, [...others, ...covered].sort()), files };
}

const rangeOf = ({ first, last }: DataFile): DateRange => [first!, last!];

/**
 * Runs of two or more neighbouring small files, each to become one file. Where the code copy is not built anew, files
 * that it covers and files that it does not stay apart.
 */
export function planGroups(list: FileList, keepRecent: number, mixCovered: boolean): readonly (readonly DataFile[])[] {
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
