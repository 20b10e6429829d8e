// Real files by other people's tools, beside the project. Tests that need them are skipped where they are absent.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { DuckDBInstance } from "@duckdb/node-api";
import { readFile } from "node:fs/promises";
import { describe } from "vitest";

const FOLDER = fileURLToPath(new URL("../../../shared/realdata/", import.meta.url));

export const realFile = (path: string): string => FOLDER + path;
export const hasRealData = existsSync(FOLDER);

/** `describe`, skipped with a message where the real files are absent. */
export const describeReal = (name: string, body: () => void): void => {
  if (hasRealData) describe(name, body);
  else describe.skip(`${name} (skipped: ../shared/realdata is not here)`, body);
};

const FAULTS = fileURLToPath(new URL("../../../shared/faults/", import.meta.url));

/** The same for files that were once misread. `body` gets the path of a file in the folder `name`. */
export const describeFaults = (name: string, body: (fileIn: (file: string) => string) => void): void => {
  const fileIn = (file: string): string => `${FAULTS}${name}/${file}`;
  if (existsSync(FAULTS + name)) describe(name, () => body(fileIn));
  else describe.skip(`${name} (skipped: ../shared/faults is not here)`, () => body(fileIn));
};

export type SourceValue = string | number | boolean | null | undefined;
export type SourceRow = Readonly<Record<string, SourceValue>>;

/** The rows of a file as its own tools would show them: text from CSV, values from Parquet and JSON. */
export async function readSource(path: string): Promise<readonly SourceRow[]> {
  if (path.endsWith(".json")) {
    const columns = JSON.parse(await readFile(path, "utf8")) as Record<string, Record<string, SourceValue>>;
    const names = Object.keys(columns);
    return Object.keys(columns[names[0]!]!).map((row) =>
      Object.fromEntries(names.map((name) => [name, columns[name]![row]])),
    );
  }
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const scan = path.endsWith(".parquet")
    ? `read_parquet('${path}', hive_partitioning = false)`
    : `read_csv('${await asUtf8(path)}', all_varchar = true, header = true, delim = ',', null_padding = true)`;
  const reader = await connection.runAndReadAll(`SELECT * FROM ${scan}`);
  const rows = reader.getRowObjectsJson() as readonly SourceRow[];
  connection.disconnectSync();
  instance.closeSync();
  return rows;
}

/** DuckDB reads UTF-8 only; a GBK file is decoded beside the test's own folder. */
async function asUtf8(path: string): Promise<string> {
  const bytes = await readFile(path);
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return path;
  } catch {
    const { temporaryFolder } = await import("./folders.js");
    const { writeFile } = await import("node:fs/promises");
    const copy = `${await temporaryFolder()}/utf8.csv`;
    await writeFile(copy, new TextDecoder("gb18030", { fatal: true }).decode(bytes));
    return copy;
  }
}
