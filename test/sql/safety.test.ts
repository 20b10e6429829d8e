// What statements must not do: read anything else, write, change settings, tell of the server, or end the process.
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSandbox, type Sandbox } from "../../src/engine/sandbox.js";
import { Problem } from "../../src/errors.js";
import { openLake } from "../../src/lake/lake.js";
import { answerStatement, readStatement } from "../../src/sql/answer.js";
import { duckdbEngine } from "../../src/sql/engines.js";
import { temporaryFolder } from "../support/folders.js";
import { factors, publishRows } from "../support/lake.js";
import { size } from "../support/size.js";

let sandbox: Sandbox;
let folder: string;
let secret: string;
let run: (sql: string, parameters?: Record<string, string | number>) => Promise<string>;

beforeAll(async () => {
  folder = await temporaryFolder();
  const root = join(folder, "data");
  await publishRows(root, { adj_factor: factors(50) });
  secret = join(folder, "secret.csv");
  await writeFile(secret, "a,b\nTOP,SECRET\n");
  const lake = await openLake(root);
  const { files } = lake.current();
  const list = files("adj_factor");
  const paths = Object.fromEntries(list.byDate.map(({ path }) => [path, join(lake.layout.lake, path)]));
  sandbox = await openSandbox({ memory: "200MB", spill: "1MB", threads: 1, tempDirectory: join(folder, "spill") });
  run = async (sql, parameters = {}) => {
    const statement = await readStatement(sandbox, { sql, parameters });
    const answer = await answerStatement(
      duckdbEngine(sandbox),
      statement,
      { lists: { adj_factor: list }, paths },
      {
        ...{ dataVersion: "now", format: "json", dates: null, compression: null, bom: null },
        ...{ encoding: "identity", limit: 10, endFirst: false, mostRows: 1e6, deadline: Infinity },
      },
      AbortSignal.timeout(20_000),
    );
    let text = "";
    try {
      for await (const piece of answer.pieces()) text += Buffer.from(piece).toString("utf8");
    } finally {
      await answer.close();
    }
    return text;
  };
});

afterAll(() => sandbox.close());

const HOSTILE = [
  "SELECT * FROM read_csv('SECRET')",
  "SELECT * FROM 'SECRET'",
  "SELECT * FROM read_text('SECRET')",
  "SELECT * FROM read_blob('SECRET')",
  "SELECT * FROM glob('/**')",
  "SELECT * FROM read_parquet('/etc/passwd')",
  "SELECT * FROM parquet_metadata('SECRET')",
  "SELECT * FROM sniff_csv('SECRET')",
  "SELECT * FROM query('SELECT 1')",
  "SELECT * FROM query_table('adj_factor')",
  "FROM duckdb_settings()",
  "FROM duckdb_functions()",
  "FROM duckdb_secrets()",
  "FROM information_schema.tables",
  "FROM pg_catalog.pg_tables",
  "FROM sqlite_master",
  "FROM temp.adj_factor",
  "SELECT current_setting('temp_directory')",
  "SELECT getenv('HOME')",
  "SELECT version()",
  "SELECT current_user",
  "SELECT current_date",
  "SELECT now()",
  "SELECT random()",
  "SELECT uuid()",
  "SELECT nextval('s')",
  "SELECT sleep_ms(10)",
  "SELECT json_serialize_plan('SELECT 1')",
  "SELECT main.current_setting('threads')",
  "SELECT system.main.version()",
  "COPY adj_factor TO 'SECRET'",
  "COPY (SELECT 1) TO 'SECRET'",
  "ATTACH 'SECRET' AS other",
  "INSTALL httpfs",
  "LOAD httpfs",
  "SET threads = 8",
  "PRAGMA version",
  "CALL pragma_version()",
  "EXPORT DATABASE 'SECRET'",
  "CREATE TABLE x AS SELECT 1",
  "INSERT INTO adj_factor VALUES (1)",
  "DELETE FROM adj_factor",
  "UPDATE adj_factor SET adj_factor = 1",
  "DROP VIEW adj_factor",
  "BEGIN",
  "EXPLAIN ANALYZE SELECT 1",
  "SHOW TABLES",
  "SUMMARIZE adj_factor",
  "SELECT 1; SELECT 2",
  "SELECT 1; COPY adj_factor TO 'SECRET'",
  "SELECT 1) UNION ALL SELECT 2, true --",
  "SELECT * FROM adj_factor USING SAMPLE 10%",
  "SELECT * FROM adj_factor TABLESAMPLE reservoir(2)",
  "SELECT * FROM adj_factor AT (VERSION => 1)",
  "WITH x AS (FROM read_csv('SECRET')) FROM x",
  "SELECT (SELECT a FROM read_csv('SECRET'))",
  "SELECT * FROM adj_factor WHERE EXISTS (FROM read_csv('SECRET'))",
  "SELECT list_transform([1], x -> (SELECT max(a) FROM read_csv('SECRET')))",
  "SELECT * FROM adj_factor ORDER BY (SELECT a FROM read_csv('SECRET'))",
  "SELECT * FROM adj_factor LIMIT (SELECT 1 FROM read_csv('SECRET'))",
  "FROM known('read_csv', '20240101')",
  "FROM known(adj_factor, 'x'' ) UNION SELECT 1 --')",
  "FROM panel('daily:close''); DROP')",
  "FROM KNO00(adj_factor)",
  "FROM __open_days",
  "SELECT q.* FROM pg_settings q, (WITH pg_settings AS (SELECT 1 z) SELECT z FROM pg_settings)",
  "WITH duckdb_views AS (FROM duckdb_views) FROM duckdb_views",
  "WITH RECURSIVE duckdb_columns AS (FROM duckdb_columns) FROM duckdb_columns",
  "WITH a AS (FROM sqlite_master), sqlite_master AS (SELECT 1) FROM a",
  "WITH RECURSIVE pg_class AS (FROM pg_class UNION ALL SELECT 1) FROM pg_class",
  "SELECT * FROM (WITH x AS (SELECT 1) FROM x), x",
  'SELECT * FROM \'SECRET\' q, (WITH "SECRET" AS (SELECT 1 z) FROM "SECRET")',
  "SELECT age(DATE '2020-01-01')",
  "SELECT vector_type(adj_factor) FROM adj_factor",
  "SELECT DATE 'infinity'",
  "",
  ";",
  "--",
];

const isRefused = (error: unknown): boolean => error instanceof Problem && error.status === 400;

test.each(HOSTILE)("%s is refused with a problem that names no path", async (sql) => {
  const text = sql.replaceAll("SECRET", secret);
  const problem = await run(text).then(
    (rows) => rows,
    (error: unknown) => error,
  );
  expect(problem).toSatisfy(isRefused);
  // A name in the statement is repeated.
  expect((problem as Problem).detail.replaceAll(secret, "")).not.toContain(folder);
  expect(await readdir(folder)).toEqual(expect.arrayContaining(["data", "secret.csv"]));
});

test("every function of DuckDB that depends on time, chance or the session is refused", async () => {
  const impure = [...(await sandbox.functions())].filter(([, isPure]) => !isPure).map(([name]) => name);
  expect(impure.length).toBeGreaterThan(15);
  for (const name of impure.filter((one) => /^\w+$/.test(one))) {
    await expect(run(`SELECT ${name}()`), name).rejects.toSatisfy(isRefused);
  }
});

test("names of WITH are known where DuckDB knows them", async () => {
  for (const sql of [
    "WITH x AS (SELECT 1 AS a), y AS (SELECT a + 1 AS a FROM x) SELECT a FROM y",
    "WITH RECURSIVE t AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM t WHERE a < 3) SELECT max(a) AS a FROM t",
    "WITH adj_factor AS (SELECT ts_code FROM adj_factor) SELECT count(ts_code) AS a FROM adj_factor",
    "WITH x AS (SELECT 1 AS a) SELECT (SELECT a FROM x) AS a UNION SELECT a FROM x",
  ]) {
    expect(await run(sql), sql).toContain('"count":1');
  }
});

test("a statement that needs more memory and disk than it may use fails, and the next one works", async () => {
  const big =
    "SELECT string_agg(a.ts_code || b.ts_code || c.ts_code, ',') FROM adj_factor a, adj_factor b, adj_factor c, range(200)";
  const sorted =
    "SELECT hash(i) AS h, repeat(i::VARCHAR, 20) AS t FROM range(20_000_000) r(i) ORDER BY h LIMIT 19_000_000";
  for (const sql of [big, sorted]) {
    await expect(run(sql)).rejects.toMatchObject({ code: "out_of_room" });
  }
  expect(await run("SELECT count(*) AS n FROM adj_factor")).toContain('"rows":[[50]]');
});

/** A generator of numbers that depends on its seed alone. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const SOUND = [
  "SELECT ts_code, sum(adj_factor) OVER (PARTITION BY ts_code ORDER BY trade_date) AS s FROM adj_factor ORDER BY 1, 2",
  "WITH x AS (SELECT trade_date, avg(adj_factor) AS mean FROM adj_factor GROUP BY 1) SELECT * FROM x WHERE mean > 0",
  "SELECT * FROM adj_factor a JOIN adj_factor b USING (ts_code) WHERE a.trade_date < b.trade_date QUALIFY row_number() OVER () < 5",
  "SELECT DISTINCT ON (ts_code) ts_code, list(adj_factor) AS l, {'a': 1} AS s FROM adj_factor GROUP BY ALL",
  "FROM known(adj_factor, '20240101')",
  "SELECT CASE WHEN adj_factor > 1 THEN 'x' ELSE NULL END AS c, trade_date + INTERVAL 1 DAY AS d FROM adj_factor",
];

const PIECES = [
  ...[
    "SELECT",
    "FROM",
    "WHERE",
    "(",
    ")",
    ",",
    ";",
    "'",
    '"',
    "--",
    "/*",
    "*/",
    "$x",
    "$1",
    "?",
    "::",
    "[",
    "]",
    "{",
    "}",
  ],
  ...[
    "adj_factor",
    "ts_code",
    "read_csv",
    "known",
    "UNION ALL",
    "JOIN",
    "LATERAL",
    "WITH RECURSIVE",
    "COPY",
    "TO",
    "SET",
  ],
  ...[
    "ATTACH",
    "current_setting",
    "PIVOT",
    "ON",
    "USING",
    "VALUES",
    "NULL",
    "1",
    "1e308",
    "-1",
    "'\\0'",
    "é",
    "𝄞",
    "\u0000",
  ],
  ...[
    "LIMIT",
    "OFFSET",
    "ORDER BY",
    "GROUP BY ALL",
    "QUALIFY",
    "WINDOW",
    "SAMPLE",
    "AT",
    "range(9)",
    "unnest",
    "x -> x",
  ],
];

/** A statement that nobody would write: a sound or hostile one with parts removed, repeated, moved and inserted. */
function mutated(random: (below: number) => number): string {
  const all = [...SOUND, ...HOSTILE.map((sql) => sql.replaceAll("SECRET", secret))];
  const isSound = random(4) > 0;
  const words = (isSound ? SOUND[random(SOUND.length)]! : all[random(all.length)]!).split(/\b/);
  for (let i = random(isSound ? 3 : 6); i >= 0; i--) {
    const at = random(words.length + 1);
    const kind = random(4);
    if (kind === 0) words.splice(at, 1 + random(3));
    else if (kind === 1) words.splice(at, 0, ` ${PIECES[random(PIECES.length)]!} `);
    else if (kind === 2) words.splice(at, 0, ...words.slice(random(words.length), random(words.length) + 3));
    else words.splice(at, 0, all[random(all.length)]!);
  }
  return words.join("");
}

const COUNT = size("FUZZED", 3_000, 20_000);
const MOST_MILLISECONDS = 180_000 + COUNT * 20;

test(
  `${COUNT.toLocaleString("en")} mutated statements are answered or refused, and none of them tells a secret`,
  async () => {
    const random = randomFrom(20_240_105);
    const before = await readdir(folder, { recursive: true });
    let answered = 0;
    for (let i = 0; i < COUNT; i++) {
      const sql = mutated(random);
      const found = await run(sql).then(
        (text) => text,
        (error: unknown) => error,
      );
      if (typeof found === "string") answered++;
      const shown = typeof found === "string" ? found : (found as Error).message;
      // The statement itself may hold the path, as text or as a name.
      if (shown.includes("TOP") || (found instanceof Error && !(found instanceof Problem))) {
        throw new Error(`${JSON.stringify(sql)} → ${shown}`);
      }
    }
    expect(answered).toBeGreaterThan(COUNT / 50);
    expect((await readdir(folder, { recursive: true })).filter((name) => !name.startsWith("spill"))).toEqual(
      before.filter((name) => !name.startsWith("spill")),
    );
  },
  MOST_MILLISECONDS,
);
