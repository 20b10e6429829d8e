// The rooms of the house drawn in CONTRIBUTING.md: who may import whom.

/**
 * Each room: the files it owns, the rooms it may import, the packages it may use, and why.
 * From the bottom up; a room imports only rooms above it in this list.
 */
module.exports = {
  errors: {
    owns: "^src/errors\\.ts$",
    imports: [],
    why: "The bottom: everything may fail, nothing else is needed to say so.",
  },
  dates: { owns: "^src/dates\\.ts$", imports: [], why: "The bottom: calendar dates without time zones." },
  "sql-text": { owns: "^src/sql-text\\.ts$", imports: [], why: "The bottom: names and text as SQL, for every side." },
  files: {
    owns: "^src/files\\.ts$",
    imports: ["errors"],
    why: "The bottom: what may be wrong with a file or folder.",
  },
  words: {
    owns: "^src/words\\.ts$",
    imports: [],
    why: "The bottom: text in messages of every side.",
  },
  "arrow-data": {
    owns: "^src/arrow-data\\.ts$",
    imports: [],
    packages: ["apache-arrow"],
    why: "The bottom: the buffers of Arrow columns, for the engine and the encoders.",
  },
  config: {
    owns: "^src/(config|settings|setting-values)\\.ts$",
    imports: ["errors", "dates"],
    why: "Every setting in one table; it knows no room it sets.",
  },
  client: { owns: "^src/client/", imports: [], why: "It runs in browsers: it needs fetch, and nothing of the server." },
  catalog: { owns: "^src/catalog/", imports: [], why: "What exists is data. It needs no library." },
  lake: {
    owns: "^src/lake/",
    imports: ["errors", "dates", "words", "files", "catalog"],
    why: "The read side of the lake: manifests and files, without an engine.",
  },
  query: {
    owns: "^src/query/",
    imports: ["errors", "dates", "sql-text", "words", "catalog", "lake"],
    why: "From request to SQL is pure: tested without I/O and without a library.",
  },
  engine: {
    owns: "^src/engine/",
    imports: ["errors", "dates", "sql-text", "arrow-data", "config", "catalog", "lake", "query"],
    packages: ["@duckdb/node-api", "@duckdb/node-bindings", "apache-arrow", "lru-cache"],
    why: "The only room with DuckDB.",
  },
  intake: {
    owns: "^src/intake/",
    imports: ["errors", "files", "sql-text", "words", "catalog", "engine"],
    why: "One foreign file becomes one typed table, or is refused; it knows no version and no inbox.",
  },
  store: {
    owns: "^src/store/",
    imports: ["errors", "files", "dates", "sql-text", "words", "catalog", "lake", "engine", "intake"],
    why: "The write side of the lake: tables become versions. It stands beside http: they meet only in the manifest.",
  },
  inbox: {
    owns: "^src/inbox/",
    imports: ["errors", "files", "dates", "words", "config", "catalog", "lake", "engine", "intake", "store"],
    why: "What is dropped: watched, judged, taken, recorded.",
  },
  repair: {
    owns: "^src/repair/",
    imports: ["errors", "files", "sql-text", "words", "catalog", "lake", "engine", "intake", "store", "inbox"],
    why: "What is damaged: found, and written again from what is left.",
  },
  demo: {
    owns: "^src/demo/",
    imports: ["errors", "dates", "sql-text", "catalog", "engine"],
    why: "A synthetic market as SQL; it knows no lake.",
  },
  encode: {
    owns: "^src/encode/",
    imports: ["dates", "arrow-data", "catalog"],
    packages: ["apache-arrow", "hyparquet-writer"],
    why: "Functions over Arrow record batches, whoever made them.",
  },
  segments: {
    owns: "^src/segments/",
    imports: ["files", "encode"],
    packages: ["apache-arrow", "xxhash-wasm"],
    why: "Bodies from rows and from bytes kept of earlier bodies; it knows no HTTP and no engine.",
  },
  web: {
    owns: "^src/web/",
    imports: ["catalog"],
    packages: ["lightweight-charts"],
    why: "What people see runs in their browser: of the server it knows types alone.",
  },
  http: {
    owns: "^src/http/",
    imports: ["errors", "words", "config", "files", "catalog", "lake", "query", "engine", "encode", "segments", "web"],
    packages: ["express", "lru-cache", "pino", "prom-client"],
    why: "The only room with Express, the log and the metrics. It reads the lake and never writes it.",
  },
  processes: {
    owns: "^src/processes/",
    imports: ["errors", "config", "files", "http"],
    why: "Who lives and dies: nothing here knows what is served.",
  },
  cli: {
    owns: "^src/cli/",
    imports: [
      ...["errors", "dates", "words", "config", "catalog", "lake", "engine", "encode"],
      ...["store", "inbox", "repair", "demo"],
      ...["files", "words", "http", "processes"],
    ],
    packages: ["commander"],
    why: "The top: each command calls one function of any room.",
  },
  main: {
    owns: "^src/main\\.ts$",
    imports: ["cli"],
    why: "The command `tapehouse` itself.",
  },
};
