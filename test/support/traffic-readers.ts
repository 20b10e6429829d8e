// Bodies of every format read back into rows, by readers that know nothing of the server.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { tableFromIPC } from "apache-arrow";
import { afterEachFile, temporaryFolder } from "./folders.js";
import type { Row } from "./traffic-model.js";
import type { Format } from "../../src/catalog/formats.js";

type Reader = (body: Buffer, columns: readonly string[]) => readonly Row[] | Promise<readonly Row[]>;

/** Values as in JSON, but those of CSV as text. */
export const READERS: Record<Format, Reader> = {
  json: (body) => (JSON.parse(body.toString()) as { rows: Row[] }).rows,
  ndjson: (body, columns) =>
    lines(body).map((line) => {
      const row = JSON.parse(line) as Record<string, Row[number]>;
      return columns.map((name) => row[name]!);
    }),
  csv: (body) => lines(body).slice(1).map(csvRow),
  arrow: (body, columns) => {
    const table = tableFromIPC(body);
    const vectors = columns.map((name) => table.getChild(name)!);
    return Array.from({ length: table.numRows }, (_, i) => vectors.map((vector) => plain(vector.get(i))));
  },
  parquet: parquetRows,
};

/** As JSON has them. */
const plain = (value: unknown): Row[number] => (typeof value === "bigint" ? Number(value) : value) as Row[number];

const lines = (body: Buffer): readonly string[] => body.toString().split("\n").slice(0, -1);

/** A missing value is an empty field, an empty text is `""`; numbers are compared as text. */
const csvRow = (line: string): Row =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, bare]) =>
    quoted === undefined ? (bare === "" ? null : bare!) : quoted.replaceAll('""', '"'),
  );

let duckdb: Promise<{ readonly instance: DuckDBInstance; readonly folder: string }> | undefined;
let files = 0;

afterEachFile(async () => {
  (await duckdb)?.instance.closeSync();
  duckdb = undefined;
});

/** Read by a plain DuckDB, which reads only files. */
async function parquetRows(body: Buffer, columns: readonly string[]): Promise<readonly Row[]> {
  duckdb ??= (async () => ({
    instance: await DuckDBInstance.create(":memory:", { threads: "1" }),
    folder: await temporaryFolder(),
  }))();
  const { instance, folder } = await duckdb;
  const path = join(folder, `${files++}.parquet`);
  await writeFile(path, body);
  const connection = await instance.connect();
  try {
    const names = columns.map((name) => `"${name}"`).join(", ");
    const reader = await connection.runAndReadAll(`SELECT ${names} FROM read_parquet('${path}')`);
    return reader.getRows().map((row) => row.map(plain));
  } finally {
    connection.disconnectSync();
    await rm(path);
  }
}
