// JSON files: records, lines of records, and tables as one object. All values are read as text, so that integers keep all
// their digits.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { OperatorError, fileFault } from "../errors.js";
import type { Writer } from "../engine/writer.js";
import { quoteText } from "../sql-text.js";
import { unwrap, type JsonRows } from "./json-tables.js";
import { MOST_COLUMNS, requireFewColumns } from "./limits.js";
import { reasonOf } from "./source-parquet.js";
import { type Source, type SourceColumn, type SourceFile, requireContent } from "./source-types.js";
import { asUtf8, readAt } from "./text-encoding.js";

const HEAD = 1 << 20;

type Row = Record<string, unknown>;

/** The names of the columns, and a relation with the list `cells` of their values in that order. */
interface Shape {
  readonly names: readonly string[];
  readonly relation: string;
}

/** Opens a JSON or NDJSON file. Throws an OperatorError if it is malformed or not a table. */
export async function openJson(writer: Writer, file: SourceFile, named: "json" | "ndjson"): Promise<Source> {
  const { label, scratch } = file;
  requireContent(await readAt(file.path, 0, 256), named === "json" ? "JSON" : "NDJSON", "JSON", label);
  const { path, decodedFrom } = await asUtf8(file.path, label, scratch);
  const head = (await readAt(path, 0, HEAD)).toString("utf8").replace(/^\ufeff?\s*/, "");
  if (named === "ndjson" && head.startsWith("[")) {
    throw new OperatorError(`${label} is not NDJSON: it holds a JSON array; name it .json`);
  }
  const lines = named === "ndjson" || holdsLines(head);
  const rows = await rowsIn(path, head, lines, file);
  const explain = async (error: unknown): Promise<OperatorError> =>
    new OperatorError(`${label} is not readable as JSON: ${await explainJson(error, rows, lines)}`);
  const relation =
    `(SELECT json AS r FROM read_json_objects($1, format = '${rows.layout}', hive_partitioning = false, ` +
    `maximum_object_size = ${LARGEST_RECORD}))`;
  const run = (sql: string): Promise<Row[]> =>
    writer.rows(sql, [rows.path]).catch(async (error: unknown) => {
      throw await explain(fileFault(error));
    });
  requireFewColumns(rows.names?.length ?? 0, label);
  const shape = rows.names ? listShape(rows.names, relation) : await recordShape(run, relation, label);
  return {
    format: lines ? "ndjson" : "json",
    columns: shape.names.map((name, i): SourceColumn => ({ name, sql: `cells[${i + 1}]`, kind: "text" })),
    relation: shape.relation,
    values: [rows.path],
    shape: null,
    bytes: file.size,
    text: null,
    row: null,
    locate: async (row) => (lines ? `record ${row}` : `row ${row}`),
    explain,
    footnotes: [],
    openEnd: false,
    warnings: [
      ...(decodedFrom === null ? [] : [`the text was decoded from ${decodedFrom}`]),
      ...(rows.isPart ? ["the file says that there are more rows than it holds: request the next page as well"] : []),
    ],
  };
}

/** The rows of the file as they are, or extracted from the one object that holds them. */
async function rowsIn(path: string, head: string, lines: boolean, file: SourceFile): Promise<JsonRows> {
  if (lines) return { path, layout: "newline_delimited", names: null };
  if (head.startsWith("[")) return { path, layout: "array", names: null };
  return unwrap(path, file.label, file.size, file.scratch);
}

/** In bytes. */
const LARGEST_RECORD = 32 << 20;

/** Whether a file holds lines of objects: its first line is an object, and more lines follow. */
function holdsLines(head: string): boolean {
  const end = head.indexOf("\n");
  if (!head.startsWith("{") || end < 0 || head.slice(end).trim() === "") return false;
  try {
    JSON.parse(head.slice(0, end));
    return true;
  } catch {
    return false;
  }
}

type Run = (sql: string) => Promise<Row[]>;

/** Records are objects whose keys are the columns. A key that occurs twice in the first record makes two columns. */
async function recordShape(run: Run, records: string, label: string): Promise<Shape> {
  const keys = await run(
    `SELECT DISTINCT json_type(r) AS type, unnest(CASE WHEN json_type(r) = 'OBJECT' THEN json_keys(r) ELSE [''] END) ` +
      `AS key FROM ${records} LIMIT ${MOST_COLUMNS + 1}`,
  );
  const stray = keys.find(({ type }) => type !== "OBJECT");
  if (stray) {
    const kind = String(stray["type"]).toLowerCase();
    throw new OperatorError(
      `${label} is not a table: its rows must be objects {column: value}, but one is of type ${kind}`,
    );
  }
  requireFewColumns(keys.length, label);
  const [first] = await run(`SELECT to_json(json_keys(r)) AS keys FROM ${records} LIMIT 1`);
  const leading = first ? (JSON.parse(String(first["keys"])) as string[]) : [];
  const later = new Set(keys.map(({ key }) => String(key)));
  for (const key of leading) later.delete(key);
  const names = [...leading, ...[...later].sort()];
  requireFewColumns(names.length, label);
  return cellShape(names, names.map(pointer), records);
}

/** For rows that are lists, one position for each column. */
const listShape = (names: readonly string[], lists: string): Shape =>
  cellShape(
    names,
    names.map((_name, i) => `/${i}`),
    lists,
  );

const cellShape = (names: readonly string[], pointers: readonly string[], rows: string): Shape => ({
  names,
  relation: `(SELECT json_extract_string(r, [${pointers.map(quoteText).join(", ")}]) AS cells FROM ${rows})`,
});

/** The JSON pointer of a key. */
const pointer = (key: string): string => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;

async function explainJson(error: unknown, rows: JsonRows, lines: boolean): Promise<string> {
  const reason = reasonOf(error, rows.path);
  const findable = rows.layout === "newline_delimited" && reason.includes("Malformed JSON");
  const line = findable ? await malformedLine(rows.path) : null;
  return line === null ? reason : `${lines ? "line" : "row"} ${line} is malformed`;
}

/** Finds the malformed line; the number in DuckDB's message is sometimes one too high. */
async function malformedLine(file: string): Promise<number | null> {
  let line = 0;
  for await (const text of createInterface(createReadStream(file, "utf8"))) {
    line++;
    try {
      JSON.parse(text.replaceAll(/^\ufeff|-?\b(NaN|Infinity)\b/g, (word) => (word === "\ufeff" ? "" : "0")) || "0");
    } catch {
      return line;
    }
  }
  return null;
}
