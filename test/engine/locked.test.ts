// What an injected statement could do.
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openLocked } from "../../src/engine/locked.js";
import { temporaryFolder } from "../support/folders.js";

let root: string;
let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  root = await temporaryFolder();
  for (const folder of ["lake", "lake-of-another", "temp"]) await mkdir(join(root, folder));
  await writeFile(join(root, "lake-of-another", "secret.csv"), "a,b\n1,2\n");
  await writeFile(join(root, "lake", "inside.csv"), "a,b\n3,4\n");
  instance = await openLocked({
    readable: { folder: join(root, "lake") },
    memory: "256MB",
    tempDirectory: join(root, "temp"),
    spill: "100MB",
    threads: 1,
  });
  connection = await instance.connect();
});

afterAll(() => {
  connection.disconnectSync();
  instance.closeSync();
});

describe("the DuckDB that serves", () => {
  test("reads files of the lake", async () => {
    const reader = await connection.runAndReadAll(`SELECT a, b FROM read_csv('${root}/lake/inside.csv')`);
    expect(reader.getRowsJson()).toEqual([["3", "4"]]);
  });

  test.each([
    ["read a system file", () => "SELECT * FROM read_text('/etc/passwd')"],
    ["list a folder", () => "SELECT * FROM glob('/etc/*')"],
    ["read a folder whose name begins alike", () => `SELECT * FROM read_csv('${root}/lake-of-another/secret.csv')`],
    ["leave the lake upwards", () => `SELECT * FROM read_csv('${root}/lake/../lake-of-another/secret.csv')`],
    ["read the network", () => "SELECT * FROM read_csv('http://127.0.0.1:1/x.csv')"],
    ["read a variable of the environment", () => "SELECT getenv('PATH')"],
    ["write a file", () => `COPY (SELECT 1) TO '${root}/written.csv'`],
    ["write beside the lake", () => `COPY (SELECT 1) TO '${root}/lake/../written.csv'`],
    ["export a database", () => `EXPORT DATABASE '${root}/written'`],
    ["attach a database", () => `ATTACH '${root}/written.db' AS other`],
    ["install an extension", () => "INSTALL httpfs"],
    ["load an extension", () => "LOAD httpfs"],
    ["load a library", () => `LOAD '${root}/lake/evil.duckdb_extension'`],
    ["open up again", () => "SET enable_external_access = true"],
    ["allow another folder", () => "SET allowed_directories = ['/']"],
    ["unlock", () => "SET lock_configuration = false"],
    ["unlock by a pragma", () => "PRAGMA enable_external_access = true"],
    ["reset a setting", () => "RESET lock_configuration"],
    ["take more memory", () => "SET memory_limit = '100GB'"],
    ["take more threads", () => "SET threads = 64"],
    ["spill more", () => "SET max_temp_directory_size = '100GB'"],
    ["move its temporary files", () => `SET temp_directory = '${root}/elsewhere'`],
    ["keep a secret", () => "CREATE PERSISTENT SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')"],
  ])("does not %s", async (_what, sql) => {
    await expect(connection.run(sql())).rejects.toThrow();
  });

  test("wrote nothing outside its folder", async () => {
    expect((await readdir(root)).sort()).toEqual(["lake", "lake-of-another", "temp"]);
  });
});
