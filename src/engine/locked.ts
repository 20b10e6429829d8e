// A DuckDB that opens files in one folder and its own temporary one, loads nothing, and keeps its settings.
import { DuckDBInstance } from "@duckdb/node-api";
import { quoteText } from "../sql-text.js";

export interface LockedOptions {
  /** The only folder that DuckDB may open files in. */
  readonly lakeFolder: string;
  readonly memory: string;
  readonly tempDirectory: string;
  /** What may lie in it at the same time, e.g. `10GB`. */
  readonly spill: string;
  readonly threads: number;
}

/** The lock is the second guard: the first is that no text of a user ever becomes SQL. */
export async function openLocked({
  lakeFolder,
  memory,
  tempDirectory,
  spill,
  threads,
}: LockedOptions): Promise<DuckDBInstance> {
  const instance = await DuckDBInstance.create(":memory:", {
    memory_limit: memory,
    temp_directory: tempDirectory,
    threads: String(threads),
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    allow_community_extensions: "false",
    // A file never changes under its name here, but a damaged one does: what is read is what was checked.
    enable_external_file_cache: "false",
    preserve_insertion_order: "true",
  });
  const setup = await instance.connect();
  // Given when the instance is made, DuckDB shows this setting and does not keep it.
  await setup.run(`SET max_temp_directory_size = ${quoteText(spill)}`);
  await setup.run(`SET allowed_directories = [${quoteText(`${lakeFolder}/`)}]`);
  // Footers are kept as long as a file's size and time stay; a file that changed is refused before it is opened.
  await setup.run("SET parquet_metadata_cache = true");
  await setup.run("SET enable_external_access = false");
  await setup.run("SET lock_configuration = true");
  setup.disconnectSync();
  return instance;
}
