// Reads responses with what Node programs use. See test/readers/README.md.
import { readFile } from "node:fs/promises";
import { tableFromIPC } from "apache-arrow";
import { parquetReadObjects, parquetSchema, parquetMetadata } from "hyparquet";
import { dumped, type Answer, type Kind, type Value } from "./answers.js";

type Reader = (answer: Answer) => Promise<string>;

const ARROW_KINDS: Readonly<Record<string, Kind>> = { Utf8: "text", Float64: "float", Int64: "int" };
const PARQUET_KINDS: Readonly<Record<string, Kind>> = { BYTE_ARRAY: "text", DOUBLE: "float", INT64: "int" };
const JSON_KINDS: Readonly<Record<string, Kind>> = { string: "text", float64: "float", int64: "int" };

const valuesOf = (row: Readonly<Record<string, Value>>, columns: Answer["columns"]): Value[] =>
  columns.map(([name]) => row[name] ?? null);

export const NODE_READERS: Readonly<Record<string, Reader>> = {
  "apache-arrow.arrow": async ({ path }) => {
    const table = tableFromIPC(await readFile(path));
    const columns = table.schema.fields.map(({ name, type }) => [name, ARROW_KINDS[type.toString()]!] as const);
    return dumped(
      columns,
      Array.from(table, (row) => Object.values<Value>(row.toJSON())),
    );
  },
  "hyparquet.parquet": async ({ path }) => {
    const bytes = await readFile(path);
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    const { children } = parquetSchema(parquetMetadata(file));
    const columns = children.map(({ element }) => [element.name, PARQUET_KINDS[element.type!]!] as const);
    const rows = await parquetReadObjects({ file });
    return dumped(
      columns,
      rows.map((row) => valuesOf(row as Record<string, Value>, columns)),
    );
  },
  "JSON.parse.json": async ({ path }) => {
    const { columns, rows } = JSON.parse(await readFile(path, "utf8"));
    return dumped(
      columns.map(({ name, dtype }: { name: string; dtype: string }) => [name, JSON_KINDS[dtype]!]),
      rows,
    );
  },
  "JSON.parse.ndjson": async ({ path, columns }) => {
    const lines = (await readFile(path, "utf8")).split("\n").slice(0, -1);
    return dumped(
      columns,
      lines.map((line) => valuesOf(JSON.parse(line), columns)),
    );
  },
};
