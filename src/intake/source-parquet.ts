// Parquet files: columns of any type. Names of folders above the file add no columns.
import { OperatorError, fileFault } from "../errors.js";
import type { Writer } from "../engine/writer.js";
import { quoteName } from "../sql-text.js";
import { count } from "../words.js";
import { readFooter, type Footer } from "./parquet-footer.js";
import { requireFewColumns, requireFewRows, requireUnpackedSize } from "./limits.js";
import { type Source, type SourceFile, kindOf, requireContent } from "./source-types.js";
import { readAt } from "./text-encoding.js";

const SMALLEST = 12;
const ROW = "file_row_number";

/** Opens a Parquet file. Throws an OperatorError if it is cut short, encrypted or damaged. */
export async function openParquet(writer: Writer, file: SourceFile): Promise<Source> {
  await requireComplete(file);
  await requireReasonableSize(file);
  const damaged = (error: unknown): OperatorError =>
    new OperatorError(`${file.label} is not readable as Parquet and may be damaged: ${reasonOf(error, file.path)}`);
  const read = (options: string): string =>
    `read_parquet($1, hive_partitioning = false, binary_as_string = true${options})`;
  const ask = (sql: string): ReturnType<Writer["rows"]> =>
    writer.rows(sql, [file.path]).catch((error: unknown) => {
      throw damaged(fileFault(error));
    });
  const described = await ask(`DESCRIBE SELECT * FROM ${read("")}`);
  const names = namesOf(await ask("SELECT name, num_children AS children FROM parquet_schema($1)"));
  const columns = described.map(({ column_name: name, column_type: type }, i) => ({
    name: names.length === described.length ? names[i]! : String(name),
    sql: quoteName(String(name)),
    kind: kindOf(String(type)),
  }));
  const text = columns.filter(({ kind }) => kind === "text").map(({ sql }) => `coalesce(strlen(${sql}), 0)`);
  if (text.length > 0 && Number.isFinite(file.limits.unpacked)) {
    // The footer counts a value that a dictionary repeats once.
    const [total] = await ask(`SELECT coalesce(sum((${text.join(" + ")})::DOUBLE), 0) AS bytes FROM ${read("")}`);
    requireUnpackedSize(Number(total!["bytes"]), file.size, file.limits, file.label);
  }
  const numbered = !columns.some(({ name }) => name.toLowerCase() === ROW);
  return {
    format: "parquet",
    columns,
    relation: read(numbered ? ", file_row_number = true" : ""),
    values: [file.path],
    row: numbered ? `${ROW} + 1` : null,
    locate: async (row) => `row ${row}`,
    explain: async (error) => damaged(error),
    footnotes: [],
    openEnd: false,
    warnings: [],
  };
}

/** The names of the columns in the file. DuckDB renames names that differ only in case. */
function namesOf(nodes: Awaited<ReturnType<Writer["rows"]>>): readonly string[] {
  const names: string[] = [];
  let below = 0;
  for (const { name, children } of nodes.slice(1)) {
    if (below === 0) names.push(String(name));
    else below--;
    below += Number(children ?? 0);
  }
  return names;
}

/** Refuses a file without its end, as writers leave it that died or are still working. */
async function requireComplete({ path, label, size }: SourceFile): Promise<void> {
  requireContent(await readAt(path, 0, 16), "Parquet", "Parquet", label);
  const end = (await readAt(path, size - 4, 4)).toString("latin1");
  if (end === "PARE") throw new OperatorError(`${label} is encrypted Parquet, which cannot be read`);
  if (size < SMALLEST || end !== "PAR1") {
    throw new OperatorError(`${label} is cut short or still being written: its Parquet end is missing`);
  }
}

/** In bytes. Footers of real files have kilobytes, or a few megabytes for thousands of row groups. */
const LARGEST_FOOTER = 64 << 20;
const MOST_GROUPS = 100_000;
const DEEPEST = 64;

/** Refuses a file that is, or unpacks to, absurdly large before DuckDB opens it. */
async function requireReasonableSize({ path, label, size, limits }: SourceFile): Promise<void> {
  const length = (await readAt(path, size - 8, 4)).readUInt32LE();
  if (length > Math.min(size - SMALLEST, LARGEST_FOOTER)) {
    throw new OperatorError(`${label} is not readable as Parquet: its footer claims to have ${count(length)} bytes`);
  }
  const { nodes, depth, groups, rows, unpacked } = footerOf(await readAt(path, size - 8 - length, length), label);
  requireFewColumns(nodes, label);
  if (depth > DEEPEST) throw new OperatorError(`${label} has columns that are nested ${count(depth)} levels deep`);
  if (groups > MOST_GROUPS) {
    throw new OperatorError(`${label} has ${count(groups)} row groups: write about 100,000 rows into each`);
  }
  requireFewRows(rows, limits, label);
  requireUnpackedSize(unpacked, size, limits, label);
}

function footerOf(bytes: Buffer, label: string): Footer {
  try {
    return readFooter(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new OperatorError(`${label} is not readable as Parquet and may be damaged: ${error.message}`);
  }
}

/** The first line of DuckDB's message, without the class of the error and the path. */
export function reasonOf(error: unknown, path: string): string {
  return String(error)
    .replaceAll(`file "${path}"`, "the file")
    .replaceAll(`file '${path}'`, "the file")
    .replaceAll(path, "the file")
    .split("\n")[0]!
    .replace(/^(Error: )?(\w+ ){1,3}(Error|Exception): /, "")
    .trim();
}
