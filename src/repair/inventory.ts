// Lists everything that the kept versions name, and what of it cannot be read.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { whyUnreadable } from "../files.js";
import { listFile, nameOf, versionFile, type Layout } from "../lake/layout.js";
import { inspectList, listsOf } from "../lake/lists.js";
import {
  DamagedManifestError,
  decodeVersion,
  type DataFile,
  type FileList,
  type Version,
  type Clustering,
} from "../lake/manifest.js";
import { requirePointer, sequences } from "../lake/kept-versions.js";

/** A fault of the lake. */
export interface Fault {
  /** The file, relative to the data directory. */
  readonly path: string;
  /** Null for a file of the state folder. */
  readonly entity: string | null;
  /** `damaged`: missing, cut short or changed on the disk. `wrong`: unchanged since it was written, but with wrong content. */
  readonly kind: "damaged" | "wrong";
  readonly problem: string;
  /** The `data_version` of each version that needs it, oldest first; for a damaged version its number. */
  readonly versions: readonly string[];
}

export interface KeptFile {
  readonly file: DataFile;
  readonly entity: string;
  readonly clustering: Clustering;
  /** The lists that name it. */
  readonly lists: Set<string>;
}

export interface Inventory {
  /** Oldest first, without damaged ones. */
  readonly versions: readonly Version[];
  /** The served version; undefined if it is damaged or nothing was published. */
  readonly current: Version | undefined;
  /** Lists by checksum. */
  readonly lists: ReadonlyMap<string, FileList>;
  /** Data files by path. */
  readonly files: ReadonlyMap<string, KeptFile>;
  readonly faults: readonly Fault[];
}

const MISSING = "the file is missing";

/** A list that cannot be read, or a part of some. */
interface FaultyListFile {
  readonly entity: string;
  readonly error: unknown;
  /** The lists that need it. */
  readonly lists: Set<string>;
}

export async function takeInventory(layout: Layout): Promise<Inventory> {
  const faults: Fault[] = [];
  const describe = (problem: unknown): string => {
    if (problem instanceof DamagedManifestError) return problem.isMissing ? MISSING : problem.problem;
    return whyUnreadable(problem) ?? (problem as NodeJS.ErrnoException).code ?? (problem as Error).message;
  };
  const report = (path: string, entity: string | null, problem: unknown, versions: readonly string[]): void => {
    const reason = describe(problem) === "ENOENT" ? MISSING : describe(problem);
    faults.push({ path: nameOf(layout, path), entity, kind: "damaged", problem: reason, versions });
  };

  const served = await requirePointer(layout).catch((error: unknown) => {
    report(layout.pointer, null, error, []);
    return Infinity;
  });
  const versions: Version[] = [];
  for (const sequence of await keptSequences(layout, served)) {
    const path = join(layout.versions, versionFile(sequence));
    try {
      versions.push(decodeVersion(await readFile(path, "utf8"), sequence));
    } catch (error) {
      report(path, null, error, [`number ${sequence}`]);
    }
  }

  const lists = new Map<string, FileList>();
  const files = new Map<string, KeptFile>();
  const faulty = new Map<string, FaultyListFile>();
  for (const [sha, entity] of listsOf(versions)) {
    const { list, faults: ofList } = await inspectList(layout, sha, entity);
    for (const { sha256, error } of ofList) {
      const known = faulty.get(sha256);
      if (known) known.lists.add(sha);
      else faulty.set(sha256, { entity, error, lists: new Set([sha]) });
    }
    if (list === null) continue;
    lists.set(sha, list);
    for (const file of list.byDate) keep(files, file, entity, "byDate", sha);
    for (const file of list.byCode) keep(files, file, entity, "byCode", sha);
  }
  for (const [sha, { entity, error, lists: naming }] of faulty)
    report(join(layout.lists, listFile(sha)), entity, error, versionsNaming(versions, naming));
  const current = versions.find((version) => version.sequence === served);
  return { versions, current, lists, files, faults };
}

/** The numbers of the kept versions, including the served one even if its file is missing. */
async function keptSequences(layout: Layout, served: number): Promise<readonly number[]> {
  const all = new Set((await sequences(layout)).filter((sequence) => sequence <= served));
  if (Number.isFinite(served) && served > 0) all.add(served);
  return [...all].sort((a, b) => a - b);
}

function keep(files: Map<string, KeptFile>, file: DataFile, entity: string, clustering: Clustering, sha: string): void {
  const known = files.get(file.path);
  if (known) known.lists.add(sha);
  else files.set(file.path, { file, entity, clustering, lists: new Set([sha]) });
}

/** The `data_version` of each version that names one of the lists, oldest first. */
export function versionsNaming(versions: readonly Version[], lists: ReadonlySet<string>): readonly string[] {
  const naming = versions.filter((version) => Object.values(version.lists).some((sha) => lists.has(sha)));
  return naming.map((version) => version.data_version);
}
