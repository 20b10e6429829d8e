// Parquet files: any types, their own columns only, whatever the folders above are called.
import { CommandError } from "../../errors.js";
import type { Writer } from "../../engine/writer.js";
import { quoteName } from "../../sql-text.js";
import { requireContent } from "./source-signature.js";
import { kindOf, type Source, type SourceFile } from "./source-types.js";
import { readAt } from "./text-encoding.js";

const SMALLEST = 12;
const ROW = "file_row_number";

/** Opens a Parquet file. One that is cut short, encrypted or damaged is a CommandError. */
export async function openParquet(writer: Writer, file: SourceFile): Promise<Source> {
  await requireWhole(file);
  const damaged = (error: unknown): CommandError =>
    new CommandError(`${file.label} is not readable as Parquet, it may be damaged: ${reasonOf(error, file.path)}`);
  const read = (options: string): string =>
    `read_parquet($1, hive_partitioning = false, binary_as_string = true${options})`;
  const described = await writer.rows(`DESCRIBE SELECT * FROM ${read("")}`, [file.path]).catch((error: unknown) => {
    throw damaged(error);
  });
  const names = await trueNames(writer, file.path);
  const columns = described.map(({ column_name: name, column_type: type }, i) => ({
    name: names.length === described.length ? names[i]! : String(name),
    sql: quoteName(String(name)),
    kind: kindOf(String(type)),
  }));
  const numbered = !columns.some(({ name }) => name.toLowerCase() === ROW);
  return {
    format: "parquet",
    columns,
    relation: read(numbered ? ", file_row_number = true" : ""),
    values: [file.path],
    row: numbered ? `${ROW} + 1` : null,
    place: async (row) => `row ${row}`,
    explain: async (error) => damaged(error),
    footnotes: [],
    openEnd: false,
    warnings: [],
  };
}

/** The names of the columns as the file has them: DuckDB renames those that it takes for the same. */
async function trueNames(writer: Writer, path: string): Promise<readonly string[]> {
  const nodes = await writer.rows("SELECT name, num_children AS children FROM parquet_schema($1)", [path]);
  const names: string[] = [];
  let below = 0;
  for (const { name, children } of nodes.slice(1)) {
    if (below === 0) names.push(String(name));
    else below--;
    below += Number(children ?? 0);
  }
  return names;
}

/** A writer that died, or that is still at work, leaves a file without its end. */
async function requireWhole({ path, label, size }: SourceFile): Promise<void> {
  requireContent(await readAt(path, 0, 16), "Parquet", "Parquet", label);
  const end = (await readAt(path, size - 4, 4)).toString("latin1");
  if (end === "PARE") throw new CommandError(`${label} is encrypted Parquet, which cannot be read`);
  if (size < SMALLEST || end !== "PAR1") {
    throw new CommandError(`${label} is cut short or still being written: its Parquet end is missing`);
  }
}

/** The first line of DuckDB's message, without its class and without the path. */
export function reasonOf(error: unknown, path: string): string {
  return String(error)
    .replaceAll(`file "${path}"`, "the file")
    .replaceAll(`file '${path}'`, "the file")
    .replaceAll(path, "the file")
    .split("\n")[0]!
    .replace(/^(Error: )?(\w+ ){1,3}(Error|Exception): /, "")
    .trim();
}
