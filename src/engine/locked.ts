// The locked instance of DuckDB: it can open only some files and its own temporary folder, loads no extensions, and
// cannot be reconfigured.
import { DuckDBInstance } from "@duckdb/node-api";
import { quoteText } from "../sql-text.js";

export interface LockedOptions {
  /** The only files that DuckDB may open: all in a folder, or those with these paths. */
  readonly readable: { readonly folder: string } | { readonly paths: readonly string[] };
  readonly memory: string;
  readonly tempDirectory: string;
  /** Upper bound of the size of that folder, e.g. `10GB`. */
  readonly spill: string;
  readonly threads: number;
}

/** The lock is the second line of defence: text of users never becomes SQL, or is checked before. */
export async function openLocked({
  readable,
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
    // Files are immutable, but a damaged one may change: DuckDB must read what was checked.
    enable_external_file_cache: "false",
    preserve_insertion_order: "true",
  });
  const setup = await instance.connect();
  // DuckDB accepts this setting when the instance is created, but ignores it.
  await setup.run(`SET max_temp_directory_size = ${quoteText(spill)}`);
  if ("folder" in readable) await setup.run(`SET allowed_directories = [${quoteText(`${readable.folder}/`)}]`);
  else await setup.run(`SET allowed_paths = [${readable.paths.map(quoteText).join(", ")}]`);
  // Cached footers are valid while a file's size and time are unchanged; a changed file is refused before it is opened.
  await setup.run("SET parquet_metadata_cache = true");
  await setup.run("SET enable_external_access = false");
  await setup.run("SET lock_configuration = true");
  setup.disconnectSync();
  return instance;
}
