// File lists on the disk. A short list is one file. A long one names its parts, which are files too, and versions share
// those that did not change.
import { join } from "node:path";
import { ahead } from "../ahead.js";
import { stampAt } from "../files.js";
import { listFile, type Layout } from "./layout.js";
import { DamagedManifestError, sha256, type DataFile, type FileList, type LongList, type Version } from "./manifest.js";
import { countUntil } from "./ordered.js";
import { readStateFile } from "./state-file.js";

/** A list with more data files than this is stored in parts, none of which names more. */
export const FILES_PER_PART = 1_000;

/** Consecutive data files of a long list, all of one clustering. The checksum of its text is its name. */
interface ListPart {
  readonly files: readonly DataFile[];
  /** Those of these files; none in a part of the code copy. */
  readonly codeRanges: FileList["codeRanges"];
}

/** A file in the folder of the lists. */
export interface ListFile {
  readonly sha256: string;
  /** Null for a part that was read from there and has not changed. */
  readonly text: string | null;
}

/** The files that store a list: first its parts, if it is long, and its own file last. */
export function listFiles(list: FileList, most = FILES_PER_PART): readonly ListFile[] {
  const { entity, rows, first, last, byDate, byCode, codeRanges, findings } = list;
  const others = findings === undefined ? {} : { findings };
  if (byDate.length + byCode.length <= most)
    return [fileOf({ entity, rows, first, last, byDate, byCode, codeRanges, ...others })];
  const dateParts = partsByDate(list, most).map(partFile);
  const codeParts = cut(byCode, most).map((files) => partFile({ files, codeRanges: [] }));
  const parts = { byDate: dateParts.map((part) => part.sha256), byCode: codeParts.map((part) => part.sha256) };
  return [...dateParts, ...codeParts, fileOf({ entity, rows, first, last, parts, ...others })];
}

/** Whether two lists are stored in the same files. */
export const isSameList = (a: FileList, b: FileList): boolean =>
  a === b || listFiles(a).at(-1)!.sha256 === listFiles(b).at(-1)!.sha256;

function partsByDate({ byDate, codeRanges }: FileList, most: number): readonly ListPart[] {
  let end = 0;
  return cut(byDate, most).map((files) => {
    const { last } = files.at(-1)!;
    const begin = end;
    end = countUntil(codeRanges, ([first]) => last === null || first <= last);
    return { files, codeRanges: codeRanges.slice(begin, end) };
  });
}

function fileOf(content: FileList | LongList | ListPart): ListFile {
  const text = JSON.stringify(content);
  return { sha256: sha256(text), text };
}

function partFile(part: ListPart): ListFile {
  const known = readParts.get(part.files[0]!);
  return known !== undefined && isSamePart(known.part, part) ? { sha256: known.sha256, text: null } : fileOf(part);
}

const isSamePart = (a: ListPart, b: ListPart): boolean =>
  a.files.length === b.files.length &&
  a.codeRanges.length === b.codeRanges.length &&
  a.files.every((file, i) => file === b.files[i]) &&
  a.codeRanges.every(([first, last], i) => first === b.codeRanges[i]![0] && last === b.codeRanges[i]![1]);

/**
 * Cuts a long row of files before the file with the lowest checksum, then its pieces in the same way, until none has
 * more than `most`. So the borders depend on the files alone, and a change moves only those next to it.
 */
function cut(files: readonly DataFile[], most: number): readonly (readonly DataFile[])[] {
  // A file is a border if the piece of which it has the lowest checksum is too long. Each piece begins after the nearest
  // lower checksum before it and ends before the next one. `lower` has the checksums so far that may still end one.
  const borders: number[] = [];
  const lower = [0];
  for (let i = 1; i <= files.length; i++) {
    while (lower.length > 1 && (i === files.length || files[i]!.sha256 < files[lower.at(-1)!]!.sha256)) {
      const border = lower.pop()!;
      if (i - lower.at(-1)! > most) borders.push(border);
    }
    lower.push(i);
  }
  const ends = [...borders.sort((a, b) => a - b), files.length];
  return ends.map((end, i) => files.slice(ends[i - 1] ?? 0, end)).filter((piece) => piece.length > 0);
}

// Reading. Parts are kept in memory while a list that was read uses them, so that versions share them there too.

interface ReadPart {
  readonly part: ListPart;
  readonly sha256: string;
}

/** The first file of a part that was read → the part. */
const readParts = new WeakMap<DataFile, ReadPart>();

/** The checksums of the parts from which a list was read. */
const partsOfList = new WeakMap<FileList, readonly string[]>();

/** Path of a part → what was read from it, and the state of the file then. */
const kept = new Map<string, { readonly stamp: string; readonly read: WeakRef<ReadPart> }>();
const unused = new FinalizationRegistry<string>((path) => {
  if (kept.get(path)?.read.deref() === undefined) kept.delete(path);
});

/** Parts that are read at the same time. */
const AT_A_TIME = 32;

/** What the folder of the lists holds of a list. */
export interface InspectedList {
  /** Null if one of its files is faulty. */
  readonly list: FileList | null;
  /** Its missing, damaged or unreadable files. */
  readonly faults: readonly { readonly sha256: string; readonly error: unknown }[];
}

/** Reads a list with its parts. Throws DamagedManifestError or UnreadableError. */
export async function readList(layout: Layout, sha: string, entity: string): Promise<FileList> {
  const { list, faults } = await inspectList(layout, sha, entity);
  if (list === null) throw faults[0]!.error;
  return list;
}

/** The same, but resolves to all faults. */
export async function inspectList(layout: Layout, sha: string, entity: string): Promise<InspectedList> {
  const found = await readJson<FileList | LongList>(layout, sha, `file list ${short(sha)} of ${entity}`).catch(faultOf);
  if (found instanceof Fault) return { list: null, faults: [{ sha256: sha, error: found.error }] };
  if (!("parts" in found)) return { list: found, faults: [] };
  const { parts, ...others } = found;
  const names = [...parts.byDate, ...parts.byCode];
  const read: ListPart[] = [];
  const faults: InspectedList["faults"][number][] = [];
  const readOne = (name: string): Promise<ListPart | Fault> => readPart(layout, name, entity).catch(faultOf);
  for await (const [name, one] of ahead(names, AT_A_TIME, readOne)) {
    if (one instanceof Fault) faults.push({ sha256: name, error: one.error });
    else read.push(one);
  }
  if (faults.length > 0) return { list: null, faults };
  const [dated, coded] = [read.slice(0, parts.byDate.length), read.slice(parts.byDate.length)];
  const list: FileList = {
    ...others,
    byDate: joined(dated.map(({ files }) => files)),
    byCode: joined(coded.map(({ files }) => files)),
    codeRanges: joined(dated.map(({ codeRanges }) => codeRanges)),
  };
  partsOfList.set(list, names);
  return { list, faults };
}

/** Faster than `flat` for thousands of parts. */
const joined = <T>(arrays: readonly (readonly T[])[]): readonly T[] => ([] as T[]).concat(...arrays);

class Fault {
  constructor(readonly error: unknown) {}
}

const faultOf = (error: unknown): Fault => new Fault(error);

/** The checksums of the files from which a list with this checksum was read. */
export const namesOf = (list: FileList, sha: string): readonly string[] => [sha, ...(partsOfList.get(list) ?? [])];

/** The lists of some versions, each once: checksum → entity. */
export const listsOf = (versions: readonly Version[]): ReadonlyMap<string, string> =>
  new Map(versions.flatMap(({ lists }) => Object.entries(lists).map(([entity, sha]) => [sha, entity] as const)));

/** The text of a list or a part. Throws DamagedManifestError or UnreadableError; `what` names it in messages. */
export const readListText = (layout: Layout, sha: string, what: string): Promise<string> =>
  readStateFile(layout, join(layout.lists, listFile(sha)), what, (text) => {
    if (sha256(text) !== sha) throw new DamagedManifestError(`${what} is damaged`);
    return text;
  });

const readJson = async <T>(layout: Layout, sha: string, what: string): Promise<T> =>
  JSON.parse(await readListText(layout, sha, what)) as T;

async function readPart(layout: Layout, sha: string, entity: string): Promise<ListPart> {
  const path = join(layout.lists, listFile(sha));
  const stamp = await stampAt(path);
  const before = kept.get(path);
  const known = before?.stamp === stamp ? before.read.deref() : undefined;
  if (known !== undefined) return known.part;
  const part = await readJson<ListPart>(layout, sha, `part ${short(sha)} of the file list of ${entity}`);
  const read = { part, sha256: sha };
  readParts.set(part.files[0]!, read);
  kept.set(path, { stamp, read: new WeakRef(read) });
  unused.register(read, path);
  return part;
}

const short = (sha: string): string => sha.slice(0, 12);
