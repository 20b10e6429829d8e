// Who may import whom: the house drawn in CONTRIBUTING.md, as rules that CI checks.

/**
 * Each room: the files it owns, the rooms it may import, the packages it may use, and why.
 * From the bottom up; a room imports only rooms above it in this list.
 */
const ROOMS = {
  errors: {
    owns: "^src/errors\\.ts$",
    imports: [],
    why: "The bottom: everything may fail, nothing else is needed to say so.",
  },
  dates: { owns: "^src/dates\\.ts$", imports: ["errors"], why: "The bottom: calendar dates without time zones." },
  "sql-text": { owns: "^src/sql-text\\.ts$", imports: [], why: "The bottom: names and text as SQL, for every side." },
  "own-folder": {
    owns: "^src/own-folder\\.ts$",
    imports: ["errors"],
    why: "The bottom: folders that nobody else may write to, for whoever writes aside.",
  },
  printable: {
    owns: "^src/printable\\.ts$",
    imports: [],
    why: "The bottom: text from elsewhere in a line, for whoever prints one.",
  },
  words: {
    owns: "^src/words\\.ts$",
    imports: ["printable"],
    why: "The bottom: numbers as people are told them, by every side.",
  },
  "arrow-data": {
    owns: "^src/arrow-data\\.ts$",
    imports: [],
    packages: ["apache-arrow"],
    why: "The bottom: the buffers of Arrow columns, for the engine and the encoders.",
  },
  config: {
    owns: "^src/config\\.ts$",
    imports: ["errors", "dates"],
    why: "Every setting in one table; it knows no room it sets.",
  },
  client: { owns: "^src/client/", imports: [], why: "It runs in browsers: it needs fetch, and nothing of the server." },
  catalog: { owns: "^src/catalog/", imports: ["errors", "dates"], why: "What exists is data. It needs no library." },
  lake: {
    owns: "^src/lake/[^/]+$",
    imports: ["errors", "dates", "printable", "config", "catalog"],
    why: "The read side of the lake: manifests and files, without an engine.",
  },
  query: {
    owns: "^src/query/",
    imports: ["errors", "dates", "sql-text", "printable", "config", "catalog", "lake"],
    why: "From request to SQL is pure: tested without I/O and without a library.",
  },
  engine: {
    owns: "^src/engine/",
    imports: ["errors", "dates", "sql-text", "arrow-data", "config", "catalog", "lake", "query"],
    packages: ["@duckdb/node-api", "@duckdb/node-bindings", "apache-arrow"],
    why: "The only room with DuckDB.",
  },
  "lake-write": {
    owns: "^src/lake/write/",
    imports: ["errors", "dates", "sql-text", "printable", "words", "config", "catalog", "lake", "engine"],
    why: "The write side stands beside http: they meet only in the manifest.",
  },
  encode: {
    owns: "^src/encode/",
    imports: ["errors", "dates", "arrow-data", "catalog"],
    packages: ["apache-arrow", "hyparquet-writer"],
    why: "Functions over Arrow record batches, whoever made them.",
  },
  segments: {
    owns: "^src/segments/",
    imports: ["errors", "own-folder", "encode"],
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
    imports: [
      "errors",
      "dates",
      "printable",
      "config",
      "own-folder",
      "catalog",
      "lake",
      "query",
      "engine",
      "encode",
      "segments",
      "web",
    ],
    packages: ["express", "pino", "prom-client"],
    why: "The only room with Express, the log and the metrics. It reads the lake and never writes it.",
  },
  processes: {
    owns: "^src/processes/",
    imports: ["errors", "config", "own-folder", "http"],
    why: "Who lives and dies: nothing here knows what is served.",
  },
  cli: {
    owns: "^src/cli/",
    imports: [
      ...["errors", "dates", "words", "config", "catalog", "lake", "query", "engine", "lake-write", "encode", "web"],
      ...["own-folder", "printable", "http", "processes"],
    ],
    packages: ["commander"],
    why: "The top: each command calls one function of any room.",
  },
  main: {
    owns: "^src/main\\.ts$",
    imports: ["config", "cli"],
    packages: ["commander"],
    why: "The command `tapehouse` itself.",
  },
};

const anyOf = (names) => names.map((name) => ROOMS[name].owns);
const anyPackage = (names) => names.map((name) => `^node_modules/(@types/)?${name}/`);

const walls = Object.entries(ROOMS).flatMap(([name, { owns, imports, packages = [], why }]) => [
  {
    name: `${name}-imports-only-what-lies-below`,
    comment: `${why} It may import: ${imports.join(", ") || "nothing"}.`,
    severity: "error",
    from: { path: owns },
    to: { path: "^src/", pathNot: [owns, ...anyOf(imports)] },
  },
  {
    name: `${name}-uses-only-its-packages`,
    comment: `${why} It may use: ${packages.join(", ") || "no package"}.`,
    severity: "error",
    from: { path: owns },
    to: { path: "node_modules/", pathNot: anyPackage(packages) },
  },
]);

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    ...walls,
    {
      name: "what-is-asked-is-pure",
      comment: "catalog and query do no I/O; of Node itself they may use only hashing and bytes.",
      severity: "error",
      from: { path: anyOf(["catalog", "query"]) },
      to: { dependencyTypes: ["core"], pathNot: "^(node:)?(crypto|buffer)$" },
    },
    {
      name: "the-client-runs-in-browsers",
      comment: "It needs nothing that Node alone has.",
      severity: "error",
      from: { path: anyOf(["client"]) },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "every-file-has-a-room",
      comment: "A new folder under src gets a line in ROOMS, which says what it may import.",
      severity: "error",
      from: { path: "^src/", pathNot: [...anyOf(Object.keys(ROOMS)), "^src/encode/kernel/"] },
      to: {},
    },
    {
      name: "product-knows-no-tests",
      comment: "What is shipped stands without test, bench and scripts.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|bench|scripts)/" },
    },
    {
      name: "no-cycles",
      comment: "Two files that need each other are one file, or hide a third.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-orphans",
      comment: "A file that nothing imports and that imports nothing is dead.",
      severity: "error",
      from: { orphan: true, pathNot: "\\.d\\.ts$" },
      to: {},
    },
    {
      name: "every-import-resolves",
      comment: "A typo, a file not committed, or a package not in package.json.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^src/encode/kernel/" },
    tsConfig: { fileName: "tsconfig.json" },
    // Type-only imports count: a room that knows the types of another depends on it.
    tsPreCompilationDeps: true,
  },
};
