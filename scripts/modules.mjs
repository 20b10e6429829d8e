// The modules of CONTRIBUTING.md, and what each may import.

/**
 * Each module: its files, the modules it may import, the packages it may use, and why.
 * A module imports only modules above it in this list.
 */
export default {
  words: {
    owns: "^src/words\\.ts$",
    imports: [],
    why: "Text in messages of every module.",
  },
  errors: {
    owns: "^src/errors\\.ts$",
    imports: ["words"],
    why: "Errors of every module.",
  },
  ahead: {
    owns: "^src/ahead\\.ts$",
    imports: [],
    why: "Work that begins before its turn: files are opened, read or encoded ahead.",
  },
  buffers: { owns: "^src/buffers\\.ts$", imports: [], why: "One pool for all bytes that are read, encoded and sent." },
  zstd: { owns: "^src/zstd\\.ts$", imports: [], why: "What Node may lack, for record batches and whole bodies." },
  dates: { owns: "^src/dates\\.ts$", imports: [], why: "Calendar dates without time zones." },
  "sql-tree": {
    owns: "^src/sql-tree\\.ts$",
    imports: [],
    why: "The parse tree of a statement, for who checks it and who translates it.",
  },
  "sql-text": { owns: "^src/sql-text\\.ts$", imports: [], why: "Names and text as SQL, for reading and writing." },
  files: {
    owns: "^src/files\\.ts$",
    imports: ["errors", "words"],
    why: "Files that are absent, unreadable or replaced.",
  },
  durable: {
    owns: "^src/(durable|lock)\\.ts$",
    imports: ["errors", "files"],
    why: "Files that survive a crash, and locks between processes, for all that writes.",
  },
  objects: {
    owns: "^src/objects/",
    imports: ["words", "errors", "ahead", "files", "durable"],
    packages: ["aws4", "@aws-sdk/credential-provider-node", "@smithy/core"],
    why: "Objects in a folder or a bucket; it knows nothing of lakes.",
  },
  machine: { owns: "^src/machine\\.ts$", imports: [], why: "What a process may use, for settings and processes." },
  config: {
    owns: "^src/(config|settings|setting-values|setting-shares|setting-types|sql-settings)\\.ts$",
    imports: ["errors", "dates", "objects", "machine"],
    why: "All settings in one table, which depends on nothing that it configures.",
  },
  client: { owns: "^src/client/", imports: [], why: "It runs in browsers and needs only fetch." },
  catalog: { owns: "^src/catalog/", imports: [], why: "Entities are data; no library is needed." },
  "arrow-data": {
    owns: "^src/arrow-data\\.ts$",
    imports: ["catalog"],
    packages: ["apache-arrow"],
    why: "The buffers of Arrow columns, for the engine and the encoders.",
  },
  lake: {
    owns: "^src/lake/",
    imports: ["errors", "ahead", "dates", "words", "files", "durable", "objects", "catalog"],
    why: "Reading the lake: manifests and files, here or in a bucket, without an engine.",
  },
  query: {
    owns: "^src/query/",
    imports: ["errors", "dates", "sql-text", "words", "catalog", "lake"],
    why: "From a request to SQL without I/O, so that tests need neither files nor a library.",
  },
  encode: {
    owns: "^src/encode/",
    imports: ["buffers", "zstd", "dates", "arrow-data", "catalog"],
    packages: ["apache-arrow", "hyparquet-writer"],
    why: "Functions over Arrow record batches, wherever they come from.",
  },
  copies: {
    owns: "^src/copies/",
    imports: ["ahead", "buffers", "files", "dates", "arrow-data", "catalog", "lake", "query", "encode"],
    packages: ["apache-arrow", "lru-cache"],
    why: "Rows of Parquet files as Arrow files that are read by position, without an engine.",
  },
  engine: {
    owns: "^src/engine/",
    imports: ["errors", "dates", "sql-text", "arrow-data", "config", "catalog", "lake", "query", "encode", "copies"],
    packages: ["@duckdb/node-api", "@duckdb/node-bindings", "apache-arrow", "lru-cache"],
    why: "The only module with DuckDB.",
  },
  cluster: {
    owns: "^src/cluster/",
    imports: ["words", "sql-tree", "arrow-data", "catalog"],
    packages: ["@grpc/grpc-js", "protobufjs", "apache-arrow"],
    why: "SQL on a cluster by Spark Connect; it knows neither DuckDB nor HTTP.",
  },
  threads: {
    owns: "^src/threads/",
    imports: ["buffers", "catalog", "encode", "copies"],
    packages: ["lru-cache"],
    why: "Encodes rows of serving copies on other threads; the engine only knows what they give.",
  },
  delta: {
    owns: "^src/delta/",
    imports: ["errors", "dates", "catalog", "lake", "objects"],
    packages: ["hyparquet", "hyparquet-writer"],
    why: "Versions of the lake as commits of Delta tables, without an engine.",
  },
  checks: {
    owns: "^src/checks/",
    imports: ["dates", "sql-text", "catalog", "lake", "engine"],
    why: "Runs the checks of the catalog over rows, stored or about to be.",
  },
  intake: {
    owns: "^src/intake/",
    imports: ["errors", "ahead", "files", "sql-text", "words", "catalog", "engine"],
    why: "Turns one foreign file into one typed table or rejects it; it depends on neither versions nor the inbox.",
  },
  store: {
    owns: "^src/store/",
    imports: [
      ...["errors", "files", "durable", "objects", "dates", "sql-text", "words"],
      ...["catalog", "lake", "query", "engine", "delta", "checks", "intake"],
    ],
    why: "Writing the lake: tables become versions. The http module does not depend on it.",
  },
  copier: {
    owns: "^src/copier/",
    imports: ["errors", "files", "durable", "catalog", "lake", "query", "copies", "engine"],
    why: "Makes and removes serving copies; who reads them does not depend on it.",
  },
  inbox: {
    owns: "^src/inbox/",
    imports: [
      ...["errors", "ahead", "files", "durable", "objects", "dates", "words", "config"],
      ...["catalog", "lake", "engine", "intake", "store"],
    ],
    why: "Drops: watched, checked, imported, recorded.",
  },
  repair: {
    owns: "^src/repair/",
    imports: [
      ...["errors", "files", "durable", "objects", "sql-text", "words"],
      ...["catalog", "lake", "engine", "intake", "store", "inbox"],
    ],
    why: "Finds damage, and writes what is damaged again.",
  },
  backup: {
    owns: "^src/backup/",
    imports: ["errors", "files", "durable", "objects", "lake", "store", "repair"],
    why: "Copies a lake and restores the copy, without an engine.",
  },
  demo: {
    owns: "^src/demo/",
    imports: ["errors", "dates", "sql-text", "catalog", "engine"],
    why: "A synthetic market as SQL; it does not depend on the lake.",
  },
  segments: {
    owns: "^src/segments/",
    imports: ["buffers", "zstd", "files", "encode", "copies"],
    packages: ["apache-arrow", "lru-cache"],
    why: "Response bodies from rows and from cached bytes, without HTTP and without an engine.",
  },
  sql: {
    owns: "^src/sql/",
    imports: [
      ...["errors", "objects", "dates", "sql-tree", "sql-text", "machine", "config", "catalog", "lake", "query"],
      ...["encode", "engine", "cluster", "segments"],
    ],
    packages: ["apache-arrow"],
    why: "Statements of users: checked, defined over the files of a version, and run in processes of their own.",
  },
  web: {
    owns: "^src/web/",
    imports: ["catalog"],
    packages: ["lightweight-charts"],
    why: "Runs in the browser; it shares only types with the server.",
  },
  http: {
    owns: "^src/http/",
    imports: [
      ...["buffers", "zstd", "errors", "words", "config", "files", "catalog", "lake", "query"],
      ...["copies", "engine", "encode", "threads", "segments", "sql", "web"],
    ],
    packages: ["express", "lru-cache", "pino", "prom-client"],
    why: "The only module with Express, the log and the metrics. It reads the lake and never writes it.",
  },
  processes: {
    owns: "^src/processes/",
    imports: ["errors", "machine", "config", "files", "http"],
    why: "Starts, replaces and ends processes; it does not depend on what they serve.",
  },
  cli: {
    owns: "^src/cli/",
    imports: [
      ...["errors", "dates", "words", "objects", "machine", "config", "catalog", "lake"],
      ...["query", "engine", "cluster", "encode"],
      ...["delta", "store", "copier", "inbox", "repair", "backup", "demo"],
      ...["files", "durable", "sql", "http", "processes"],
    ],
    packages: ["commander"],
    why: "Each command calls one function of another module.",
  },
  main: {
    owns: "^src/main\\.ts$",
    imports: ["cli"],
    why: "The command `tapehouse` itself.",
  },
};
