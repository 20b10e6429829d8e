// JSON files: records, lines of records, and the ways in which tables are written as one object. Every value as text,
// so that no whole number loses a digit.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { CommandError } from "../../errors.js";
import type { Writer } from "../../engine/writer.js";
import { quoteText } from "./datafile.js";
import { reasonOf } from "./source-parquet.js";
import { requireContent } from "./source-signature.js";
import type { Source, SourceColumn, SourceFile } from "./source-types.js";
import { asUtf8, headOf } from "./text-encoding.js";

const HEAD = 1 << 20;

type Row = Record<string, unknown>;

/** Columns and rows as a relation; `names` and `sql` go together by position. */
interface Shape {
  readonly names: readonly string[];
  readonly sql: readonly string[];
  readonly relation: string;
}

/** Opens a JSON or NDJSON file. One that is malformed, or no table, is a CommandError. */
export async function openJson(writer: Writer, file: SourceFile, named: "json" | "ndjson"): Promise<Source> {
  const { label, scratch } = file;
  requireContent(await headOf(file.path, 256), named === "json" ? "JSON" : "NDJSON", "JSON", label);
  const { path, decodedFrom } = await asUtf8(file.path, label, scratch);
  const head = (await headOf(path, HEAD)).toString("utf8").replace(/^\ufeff?\s*/, "");
  if (named === "ndjson" && head.startsWith("[")) {
    throw new CommandError(`${label} is not NDJSON: it holds a JSON array; name it .json`);
  }
  const explain = async (error: Error): Promise<CommandError> =>
    new CommandError(`${label} is not readable as JSON: ${await explainJson(error, path, lines)}`);
  const lines = named === "ndjson" || holdsLines(head);
  const layout = lines ? "newline_delimited" : head.startsWith("[") ? "array" : "unstructured";
  const limit = layout === "unstructured" ? `, maximum_object_size = ${file.size * 3 + 1024}` : LARGEST_RECORD;
  const read = `read_json_objects($1, format = '${layout}', hive_partitioning = false${limit})`;
  const run = (sql: string): Promise<Row[]> =>
    writer.rows(sql, [path]).catch(async (error: Error) => {
      throw await explain(error);
    });
  const shape =
    layout === "unstructured"
      ? await shapeOfObject(run, read, label)
      : await recordShape(run, `(SELECT json AS r FROM ${read})`, label);
  return {
    format: lines ? "ndjson" : "json",
    columns: shape.names.map((name, i): SourceColumn => ({ name, sql: shape.sql[i]!, kind: "text" })),
    relation: shape.relation,
    values: [path],
    row: null,
    place: async (row) => (lines ? `record ${row}` : `row ${row}`),
    explain,
    footnotes: [],
    warnings: decodedFrom === null ? [] : [`the text was decoded from ${decodedFrom}`],
  };
}

const LARGEST_RECORD = ", maximum_object_size = 33554432";

/** Whether a file that begins with an object is lines of objects: the first line is one, and more follows. */
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

/** Records: objects whose keys are the columns. */
async function recordShape(run: Run, records: string, label: string): Promise<Shape> {
  const keys = await run(
    `SELECT DISTINCT json_type(r) AS type, unnest(CASE WHEN json_type(r) = 'OBJECT' THEN json_keys(r) ELSE [''] END) ` +
      `AS key FROM ${records}`,
  );
  const stray = keys.find(({ type }) => type !== "OBJECT");
  if (stray) {
    const kind = String(stray["type"]).toLowerCase();
    throw new CommandError(`${label} is no table: its rows must be objects {column: value}, one is of type ${kind}`);
  }
  const [first] = await run(`SELECT to_json(json_keys(r)) AS keys FROM ${records} LIMIT 1`);
  const leading = first ? (JSON.parse(String(first["keys"])) as string[]) : [];
  const names = [...new Set([...leading, ...keys.map(({ key }) => String(key)).sort()])];
  return cellShape(names, names.map(pointer), records);
}

/** Rows as lists whose positions are the columns. */
const listShape = (names: readonly string[], lists: string): Shape =>
  cellShape(
    names,
    names.map((_name, i) => `/${i}`),
    lists,
  );

const cellShape = (names: readonly string[], pointers: readonly string[], rows: string): Shape => ({
  names,
  sql: names.map((_name, i) => `cells[${i + 1}]`),
  relation: `(SELECT json_extract_string(r, [${pointers.map(quoteText).join(", ")}]) AS cells FROM ${rows})`,
});

/** The JSON pointer of a key. */
const pointer = (key: string): string => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** Tables that are one object: where their column names and their rows stand. */
const ENVELOPES = [
  { names: "$.columns[*]", rows: "$.data" },
  { names: "$.data.fields[*]", rows: "$.data.items" },
  { names: "$.columns[*].name", rows: "$.rows" },
] as const;

/** What the first row under a path is; `NONE` where there are no rows, null where there is no list. */
const rowType = (path: string): string =>
  `CASE json_type(json, '${path}') WHEN 'ARRAY' THEN coalesce(json_type(json, '${path}[0]'), 'NONE') END`;

async function shapeOfObject(run: Run, read: string, label: string): Promise<Shape> {
  const [whole] = await run(
    `SELECT count(*) AS documents, any_value(json_keys(json)) AS keys, ` +
      ENVELOPES.map(({ names }, i) => `any_value(to_json(json_extract_string(json, '${names}'))) AS names${i}, `).join(
        "",
      ) +
      ENVELOPES.map(({ rows }, i) => `any_value(${rowType(rows)}) AS rows${i}, `).join("") +
      `any_value(${rowType("$.data")}) AS records, ` +
      `any_value(to_json(list_transform(json_keys(json), lambda k: ` +
      `{'key': k, 'type': json_type(json, '/' || replace(replace(k, '~', '~0'), '/', '~1'))}))) AS members ` +
      `FROM ${read}`,
  );
  if (whole!["documents"] !== 1)
    throw new CommandError(`${label} holds several JSON objects that do not stand one a line`);
  for (const [i, { rows }] of ENVELOPES.entries()) {
    const names = JSON.parse(String(whole![`names${i}`])) as string[];
    if (names.length > 0 && ["ARRAY", "NONE"].includes(String(whole![`rows${i}`]))) {
      return listShape(names, `(SELECT unnest(json_extract(json, '${rows}[*]')) AS r FROM ${read})`);
    }
  }
  if (whole!["records"] === "OBJECT") {
    return recordShape(run, `(SELECT unnest(json_extract(json, '$.data[*]')) AS r FROM ${read})`, label);
  }
  const members = JSON.parse(String(whole!["members"])) as { key: string; type: string }[];
  if (members.length > 0 && members.every(({ type }) => type === "OBJECT")) {
    return columnShape(
      run,
      read,
      members.map(({ key }) => key),
      label,
    );
  }
  if (members.some(({ type }) => type === "OBJECT" || type === "ARRAY")) {
    throw new CommandError(`${label} is no table: known are records, {column: {row: value}} and {columns, data}`);
  }
  return recordShape(run, `(SELECT json AS r FROM ${read})`, label);
}

/** {column: {row: value}}, the rows of every column alike. */
async function columnShape(run: Run, read: string, names: readonly string[], label: string): Promise<Shape> {
  const labels = names.map((name) => `json_keys(json, ${quoteText(pointer(name))})`);
  const [rows] = await run(
    `SELECT ${labels.map((keys, i) => `${keys} = ${labels[0]} AS same${i}`).join(", ")} FROM ${read}`,
  );
  const odd = names.find((_name, i) => rows![`same${i}`] !== true);
  if (odd !== undefined)
    throw new CommandError(`${label}: its columns ${names[0]} and ${odd} do not have the same rows`);
  const values = names.map((name, i) => {
    const column = `json_extract(json, ${quoteText(pointer(name))})`;
    return `unnest(json_extract_string(${column}, '$.*')) AS c${i}`;
  });
  return { names, sql: names.map((_name, i) => `c${i}`), relation: `(SELECT ${values.join(", ")} FROM ${read})` };
}

async function explainJson(error: Error, file: string, lines: boolean): Promise<string> {
  if (error.message.startsWith("Out of Memory")) {
    return "the one object is too large for memory; write Parquet, CSV, or one record a line";
  }
  const reason = reasonOf(error, file);
  const line = lines && reason.includes("Malformed JSON") ? await malformedLine(file) : null;
  return line === null ? reason : `line ${line} is malformed`;
}

/** DuckDB's own count is one too high in places. */
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
