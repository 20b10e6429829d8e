// Compaction: joins small neighbouring date files, and builds the code copy of large entities. No row changes.
import { join } from "node:path";
import { ENTITIES } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import { stampAt } from "../files.js";
import { createIntegrity } from "../lake/integrity.js";
import type { Lake } from "../lake/lake.js";
import {
  fileList,
  isCovered,
  type DataFile,
  type DateRange,
  type FileList,
  type Version,
  ROW_GROUP_ROWS,
} from "../lake/manifest.js";
import { rangesWithout } from "../lake/ordered.js";
import { scan, writeDataFiles, type Writing, orderOf } from "./datafile.js";
import { compareFiles, compareRanges, ROWS_PER_FILE } from "./merge.js";
import { LostRaceError, untilWon } from "./contention.js";
import { openComplete, openServed, withSessionOn, type WriteOptions } from "./session.js";
import { moveIn, withStaging } from "./staging.js";
import type { Writer } from "../engine/writer.js";
import { quoteName, quoteText } from "../sql-text.js";

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
 * before publication. If sources are removed meanwhile, it begins again. `onProgress` gets the entity, the rows written so
 * far and the rows to write.
 */
export const compact = (
  root: string,
  options: Options,
  onProgress: OnProgress = () => undefined,
): Promise<CompactReport> => untilWon("the files of the same entities", () => compactOnce(root, options, onProgress));

type Options = CompactOptions & WriteOptions;
type OnProgress = (entity: string, rows: number, total: number) => void;

async function compactOnce(root: string, options: Options, onProgress: OnProgress): Promise<CompactReport> {
  const lake = await openComplete(root, options.after);
  const { layout, current } = lake;
  const wanted = ENTITIES.filter(({ name }) => options.entities?.includes(name) ?? true);
  const due = wanted.map((entity) => planEntity(entity, current().files(entity.name), options)).filter(isDue);
  if (due.length === 0) return { entities: [], version: null };
  const work = withStaging(layout, options, async (writer, staging) => {
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
    return withSessionOn(root, { ...options, writer }, openServed, async ({ base, publish }) => {
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
  return work.catch(async (error: unknown) => {
    if (await wereReplaced(lake, due)) throw new LostRaceError();
    throw error;
  });
}

/** Whether a file that was to be read is gone because another process replaced it and removed the earlier versions. */
async function wereReplaced(lake: Lake, due: readonly CompactPlan[]): Promise<boolean> {
  await lake.refresh();
  for (const { before } of due) {
    const { byDate, byCode } = lake.current().files(before.entity);
    const served = new Set([...byDate, ...byCode].map(({ path }) => path));
    for (const { path } of before.byDate) {
      if (!served.has(path) && (await stampAt(join(lake.layout.lake, path))) === "") return true;
    }
  }
  return false;
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
  await createIntegrity(layout).check(buildsCode ? before.byDate : groups.flat());
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
  const sources = valid.flatMap(({ parts }) => parts);
  const gone = new Set(sources.map(({ path }) => path));
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
  const ranges = [...rangesWithout(list.codeRanges, sources), ...covered].sort(compareRanges);
  return { list: fileList(list.entity, byDate, list.byCode, ranges), files };
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

// The code copy of a large entity: a second set of files, each with some tens of codes, so that the series of one code
// is a small part of one file.

/**
 * Rows in a file of the code copy: only six row groups, since a reader checks all groups of a file to find the right one.
 * A code is never split, so a file may hold more.
 */
const ROWS_PER_CODE_FILE = 6 * ROW_GROUP_ROWS.byCode;

/** With fewer rows than this, reading the date files is as fast. */
const LEAST_ROWS = 200_000;

/** In the background the copy is rebuilt only if more rows than this are missing in it, and a larger share of all rows. */
const MISSING_ROWS = 250_000;
const MISSING_SHARE = 0.05;

/** Whether to rebuild the code copy: rows are missing in it or, with `inBackground`, many rows are. */
export function wantsCodeCopy(entity: Entity, list: FileList, inBackground: boolean): boolean {
  if (!entity.codeCopy || list.rows < LEAST_ROWS) return false;
  const missing = list.byDate.filter((file) => file.first !== null && !isCovered(list, file));
  const rows = missing.reduce((sum, file) => sum + file.rows, 0);
  return inBackground ? rows > Math.max(MISSING_ROWS, list.rows * MISSING_SHARE) : rows > 0;
}

/**
 * Rebuilds the code copy from all dated files, and resolves to a list that uses it for every date. Data that does not
 * fit into the writer's memory spills to disk. `onRows` gets the rows written so far.
 */
export async function buildCodeCopy(
  writing: Writing,
  entity: Entity,
  list: FileList,
  onRows: (written: number) => void = () => undefined,
): Promise<FileList> {
  const { writer, layout } = writing;
  const dated = list.byDate.filter((file) => file.first !== null);
  if (!entity.codeCopy || dated.length === 0) return list;
  const code = quoteName(entity.code);
  const order = orderOf(entity, "byCode");
  const sorted = `by_code_of_${entity.name}`;
  await writer.run(`CREATE TEMP TABLE ${sorted} AS SELECT * FROM ${scan(layout, dated)} ORDER BY ${order}`);
  const byCode: DataFile[] = [];
  let rows = 0;
  const parts = (await codeSpans(writer, sorted, code)).map(([first, last]) => ({
    relation: `(SELECT * FROM ${sorted} WHERE ${code} BETWEEN ${quoteText(first)} AND ${quoteText(last)})`,
    sorted: true,
  }));
  for await (const file of writeDataFiles(writing, entity, parts, "byCode")) {
    byCode.push(file);
    onRows((rows += file.rows));
  }
  await writer.run(`DROP TABLE ${sorted}`);
  return fileList(
    entity.name,
    list.byDate,
    byCode,
    dated.map((file) => [file.first!, file.last!]),
  );
}

/** The first and the last code of each future file. */
async function codeSpans(writer: Writer, table: string, code: string): Promise<readonly (readonly [string, string])[]> {
  const counts = await writer.rows(`SELECT ${code} AS code, count(*) AS rows FROM ${table} GROUP BY 1 ORDER BY 1`);
  const spans: [string, string][] = [];
  let rowsInSpan = Infinity;
  for (const { code: value, rows } of counts) {
    if (rowsInSpan + Number(rows) > ROWS_PER_CODE_FILE) {
      spans.push([String(value), String(value)]);
      rowsInSpan = 0;
    }
    spans.at(-1)![1] = String(value);
    rowsInSpan += Number(rows);
  }
  return spans;
}
