// For tests of writing: drops as CSV, the rows of a version read past the server, every file of a lake, and child processes.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { entityNamed } from "../../src/catalog/index.js";
import { openWriter, type Writer } from "../../src/engine/writer.js";
import { createIntegrity } from "../../src/lake/integrity.js";
import { openLake, type Snapshot } from "../../src/lake/lake.js";
import { layoutOf, listFile, versionFile } from "../../src/lake/layout.js";
import type { DataFile, FileList } from "../../src/lake/manifest.js";
import { importFiles, type ImportReport } from "../../src/store/import.js";
import { columnList, scan } from "../../src/store/datafile.js";
import { afterEachFile, temporaryFolder } from "./folders.js";

export const MEMORY = { memory: "1GB" };

let shared: Promise<Writer> | undefined;

/** A DuckDB that the whole test file uses. */
export async function sharedWriter(): Promise<Writer> {
  shared ??= temporaryFolder().then((tempDirectory) => openWriter({ ...MEMORY, tempDirectory }));
  return shared;
}

afterEachFile(async () => {
  (await shared)?.close();
  shared = undefined;
});

/** A CSV file in a folder of its own: a header of column names and lines of values. */
export async function csvFile(columns: string, lines: readonly string[]): Promise<string> {
  const path = join(await temporaryFolder(), "drop.csv");
  await writeFile(path, `${[columns, ...lines].join("\n")}\n`);
  return path;
}

/** Lines such as `000001.SZ,20240102,1.5` as a file of `adj_factor`. */
export const factorFile = (lines: readonly string[]): Promise<string> =>
  csvFile("ts_code,trade_date,adj_factor", lines);

/** Imports lines of `adj_factor`. */
export async function dropFactors(root: string, lines: readonly string[], now?: Date): Promise<ImportReport> {
  const options = { map: {}, set: {}, ...MEMORY, ...(now ? { now: () => now } : {}) };
  return importFiles(root, entityNamed("adj_factor")!, [await factorFile(lines)], options);
}

/** The rows of one entity in one version, as the date files hold them, one JSON text a row, in their order. */
export async function rowsOf(root: string, snapshot: Snapshot, entity: string): Promise<readonly string[]> {
  const { byDate } = snapshot.files(entity);
  if (byDate.length === 0) return [];
  await createIntegrity(layoutOf(root)).check(byDate);
  const columns = columnList(entityNamed(entity)!);
  const rows = await (await sharedWriter()).rows(`SELECT ${columns} FROM ${scan(layoutOf(root), byDate)}`);
  return rows.map((row) => JSON.stringify(Object.values(row)));
}

/** The rows that are served now. */
export async function servedRows(root: string, entity = "adj_factor"): Promise<readonly string[]> {
  return rowsOf(root, (await openLake(root)).current(), entity);
}

/** Every file below a folder, relative to it, sorted; without the lists of files in use, which a process keeps. */
export async function filesBelow(root: string): Promise<readonly string[]> {
  const { holds } = layoutOf(root);
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.parentPath !== holds)
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

/** The files that the kept versions need: more than these is a leftover. */
export async function neededFiles(root: string): Promise<readonly string[]> {
  const layout = layoutOf(root);
  const lake = await openLake(root);
  const needed = new Set<string>(lake.current().version.sequence > 0 ? [layout.pointer] : []);
  for (const path of [layout.identity, layout.bucket, layout.bucketChecked]) if (existsSync(path)) needed.add(path);
  for (const version of await lake.versions()) {
    needed.add(join(layout.versions, versionFile(version.sequence)));
    for (const sha of Object.values(version.lists)) {
      const names = await listFilesOf(root, sha);
      for (const name of names) needed.add(join(layout.lists, listFile(name)));
      for (const name of names) {
        const { byDate = [], byCode = [], files = [] } = await readListFile(root, name);
        for (const file of [...byDate, ...byCode, ...files]) needed.add(join(layout.lake, file.path));
      }
    }
  }
  return [...needed].map((path) => relative(root, path)).sort();
}

/** A list as stored, or a part of one. */
interface StoredList extends Partial<Pick<FileList, "byDate" | "byCode">> {
  readonly files?: readonly DataFile[];
  readonly parts?: { readonly byDate: readonly string[]; readonly byCode: readonly string[] };
}

const readListFile = async (root: string, sha: string): Promise<StoredList> =>
  JSON.parse(await readFile(join(layoutOf(root).lists, listFile(sha)), "utf8")) as StoredList;

/** The checksums of the files that store a list: its own, and those of its parts. */
export async function listFilesOf(root: string, sha: string): Promise<readonly string[]> {
  const { parts } = await readListFile(root, sha);
  return [sha, ...(parts ? [...parts.byDate, ...parts.byCode] : [])];
}

/** Claims of a lock that do not say whose they are are left alone for a minute: lets that minute pass. */
export async function letClaimsAge(root: string): Promise<void> {
  const { state } = layoutOf(root);
  const longAgo = new Date(Date.now() - 3_600_000);
  for (const name of await readdir(state).catch(() => [])) {
    if (/\.lock\./.test(name)) await utimes(join(state, name), longAgo, longAgo);
  }
}

export interface Ended {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script of plain Node to its end. */
export function runNode(script: string, args: readonly string[]): Promise<Ended> {
  const path = fileURLToPath(new URL(`../../${script}`, import.meta.url));
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [path, ...args], { maxBuffer: 1 << 26 }, (_error, stdout, stderr) =>
      resolve({ exitCode: child.exitCode, signal: child.signalCode, stdout, stderr }),
    );
  });
}

/** Runs the built command `tapehouse`. */
export const tapehouse = (...args: string[]): Promise<Ended> => runNode("dist/main.js", args);
