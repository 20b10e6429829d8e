// Small files with huge or absurd content are refused early and once, and delay no others.
import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../support/folders.js";
import { drop, factors, ingester, ledgerOf, outcomesOf } from "../support/ingest.js";
import { openStaging, type Staging } from "./staging.js";

let staging: Staging;
beforeAll(async () => {
  staging = await openStaging();
});
afterAll(() => staging.close());

const LIMITS = { rows: 1_000, unpacked: 1e6 };
const HEADER = "ts_code,trade_date,adj_factor\n";

test("a gzip file that unpacks to too many bytes is refused during unpacking", async () => {
  const file = staging.put("bomb.csv.gz", gzipSync(HEADER + "000001.SZ,20240102,1\n".repeat(1_000_000)));
  expect(await staging.refusal("adj_factor", file, { limits: { ...LIMITS, rows: 1e9 } })).toBe(
    "bomb.csv.gz unpacks to more than 1,000,000 bytes, --max-unpacked allows: split it",
  );
  expect(await staging.leftovers()).toEqual([]);
});

test("a Parquet file with too many rows is refused by its footer", async () => {
  const rows = "SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, 1.0 AS adj_factor FROM range(1001)";
  const file = await staging.parquet("rows.parquet", rows);
  expect(await staging.refusal("adj_factor", file, { limits: LIMITS })).toBe(
    "rows.parquet has 1,001 rows, more than the 1,000 that --max-file-rows allows: split it",
  );
});

test("a Parquet file whose text fits its footer only because it repeats is refused", async () => {
  const rows = `SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, 1.0 AS adj_factor,
                       repeat('x', 100000) AS note FROM range(1000)`;
  const file = await staging.parquet("text.parquet", rows);
  expect(await staging.refusal("adj_factor", file, { limits: { rows: 1e9, unpacked: 20e6 } })).toBe(
    "text.parquet unpacks to more than 20,000,000 bytes, --max-unpacked allows: split it",
  );
});

test.each(["csv", "ndjson"])("so is a %s file, once its rows are counted", async (format) => {
  const row = {
    csv: "000001.SZ,20240102,1\n",
    ndjson: '{"ts_code":"000001.SZ","trade_date":"20240102","adj_factor":1}\n',
  };
  const text = (format === "csv" ? HEADER : "") + row[format as keyof typeof row].repeat(1_001);
  expect(await staging.refusal("adj_factor", staging.put(`rows.${format}`, text), { limits: LIMITS })).toContain(
    "has 1,001 rows",
  );
});

test("a file that exceeds its limits is refused once, and not read again", async () => {
  const root = await temporaryFolder();
  await drop(root, "adj_factor/bomb.csv.gz", gzipSync(HEADER + "000001.SZ,20240102,1\n".repeat(100_000)));
  await drop(root, "adj_factor/good.csv", factors("000001.SZ,20240102,1"));
  const { settle } = await ingester(root, undefined, { limits: { ...LIMITS, spill: "1GB" } });
  for (let i = 0; i < 3; i++) await settle();
  expect(await outcomesOf(root)).toEqual({ "adj_factor/bomb.csv.gz": "refused", "adj_factor/good.csv": "taken" });
  expect(await ledgerOf(root)).toHaveLength(2);
});

test("a file that needs too much temporary disk is refused, and those beside it are taken", async () => {
  const root = await temporaryFolder();
  const many = `SELECT lpad((range % 299993)::VARCHAR, 6, '0') || '.SZ' AS ts_code, random() AS adj_factor,
                       DATE '2000-01-01' + (range // 299993)::INTEGER AS trade_date FROM range(4000000)`;
  await drop(root, "adj_factor/b.csv", factors("000001.SZ,20240102,1"));
  const file = await staging.parquet("many.parquet", many);
  await drop(root, "adj_factor/many.parquet", await readFile(file));
  await drop(root, "adj_factor/z.csv", factors("000001.SZ,20240103,1"));
  const limits = { rows: 1e9, unpacked: 1e9, spill: "16MB" };
  const { after } = await ingester(root, undefined, { memory: "100MB", limits });
  for (let i = 0; i < 12; i++) await after(5_000);
  expect(await outcomesOf(root)).toEqual({
    "adj_factor/b.csv": "taken",
    "adj_factor/many.parquet": "refused",
    "adj_factor/z.csv": "taken",
  });
  const refused = (await ledgerOf(root)).filter(({ outcome }) => outcome === "refused");
  expect(refused.map(({ reason }) => reason)).toEqual([
    expect.stringMatching(/^it needs more (memory|disk) than --ingest-(memory|spill) allows: split it/),
  ]);
});

const MANY_COLUMNS = Array.from({ length: 2_001 }, (_, i) => `c${i}`);
const one = JSON.stringify(Object.fromEntries(MANY_COLUMNS.map((name) => [name, 1])));

test.each([
  ["columns.csv", `${MANY_COLUMNS.join(",")}\n`],
  ["record.json", `[${one}]`],
  ["one.json", one],
  ["lines.ndjson", MANY_COLUMNS.map((name) => `{"${name}": 1}\n`).join("")],
  ["split.json", JSON.stringify({ columns: MANY_COLUMNS, data: [MANY_COLUMNS] })],
  ["vendor.json", JSON.stringify({ data: { fields: MANY_COLUMNS, items: [MANY_COLUMNS] } })],
  ["frame.json", JSON.stringify(Object.fromEntries(MANY_COLUMNS.map((name) => [name, { 0: 1 }])))],
])("%s is refused for too many columns", async (name, text) => {
  expect(await staging.refusal("adj_factor", staging.put(name, text))).toContain(`${name} has more than 2,000 columns`);
});

test("a frame with more rows than the limit of columns is taken, even with a column named data", async () => {
  const columns = { ts_code: "000001.SZ", trade_date: 0, adj_factor: 1, data: 1 };
  const dayOf = (i: number): string => new Date(Date.UTC(2000, 0, 1 + i)).toISOString().slice(0, 10);
  const frame = Object.entries(columns).map(([name, value]) => [
    name,
    Object.fromEntries(MANY_COLUMNS.map((_, i) => [i, name === "trade_date" ? dayOf(i) : value])),
  ]);
  const file = staging.put("rows.json", JSON.stringify(Object.fromEntries(frame)));
  expect((await staging.stage("adj_factor", file)).rows).toBe(MANY_COLUMNS.length);
});

const LONG_NAMES = MANY_COLUMNS.map((name) => name.padEnd(1_100, "x"));

test.each([
  [
    "of few long names",
    LONG_NAMES.slice(0, 1_900).join(","),
    ": the header does not end within 2,000,000 bytes: " +
      "shorten its names, or write one row for each code and day, and one column for each value",
  ],
  [
    "of many long names",
    MANY_COLUMNS.map((name) => name.padEnd(900, "x"))
      .join(",")
      .repeat(2),
    " has more than 2,000 columns: write one row for each code and day, and one column for each value",
  ],
  ["with an open quote", `ts_code,"trade_date,adj_factor\n${"x".repeat(3e6)}`, ": a quote in the header is not closed"],
  ["with an open quote in a small file", 'ts_code,"trade_date\n1,2', ": a quote in the header is not closed"],
  [
    "below blank lines",
    "\n".repeat(2_100_000) + HEADER,
    " has no header line: its first 2,000,000 bytes are blank lines",
  ],
])("an absurdly long header, %s, is refused with the reason", async (_what, header, message) => {
  expect(await staging.refusal("adj_factor", staging.put("header.csv", `${header}\n`))).toBe(`header.csv${message}`);
});

const headerOf = (names: readonly string[]): string =>
  `${HEADER.trim()},${names.join(",")}\n000001.SZ,20240102,1${",".repeat(names.length)}\n`;

test("a header of more than a megabyte is taken", async () => {
  const names = MANY_COLUMNS.slice(0, 1_800).map((name) => name.padEnd(256, "名"));
  expect((await staging.stage("adj_factor", staging.put("header.csv", headerOf(names)))).rows).toBe(1);
});

test("a name of more than 256 characters is not, and the message shows how it begins", async () => {
  const file = staging.put("name.csv", headerOf(["good", "x".repeat(257)]));
  expect(await staging.refusal("adj_factor", file)).toBe(
    `name.csv has a column whose name has 257 characters, more than 256: ${"x".repeat(39)}…`,
  );
});

/** A column `x` of integers, in Thrift's compact protocol. */
const LEAF = Buffer.from("1502250218017800", "hex");

/** A Parquet file without rows whose footer has this schema and this number of row groups. */
function footerOnly(schema: readonly Buffer[], groups: number): Buffer {
  const list = (items: readonly Buffer[]): Buffer =>
    Buffer.concat([Buffer.from([0xfc]), varint(items.length), ...items]);
  const group = Buffer.from("190c1600160000", "hex");
  const footer = Buffer.concat([
    ...[Buffer.from("150219", "hex"), list(schema), Buffer.from("160019", "hex")],
    ...[list(Array.from({ length: groups }, () => group)), Buffer.from([0])],
  ]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([Buffer.from("PAR1"), footer, length, Buffer.from("PAR1")]);
}

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
};

/** A node called `g` that holds some children. */
const node = (children: number): Buffer =>
  Buffer.concat([Buffer.from("48016715", "hex"), varint(children * 2), Buffer.from([0])]);

test.each([
  [
    "100,000 columns",
    [node(100_000), ...Array.from({ length: 100_000 }, () => LEAF)],
    0,
    "has more than 2,000 columns",
  ],
  ["columns nested 1,000 deep", [...Array.from({ length: 1_000 }, () => node(1)), LEAF], 0, "nested 1,000 levels deep"],
  ["a million row groups", [node(1), LEAF], 1_000_000, "has 1,000,000 row groups"],
] as const)("a Parquet file with %s is refused before it is opened", async (_what, schema, groups, reason) => {
  const file = staging.put("absurd.parquet", footerOnly(schema, groups));
  expect(await staging.refusal("adj_factor", file)).toContain(reason);
});

test("a Parquet file whose footer was changed anywhere is refused in one line", async () => {
  const file = await staging.parquet("sound.parquet", "SELECT 'a' AS a, [1, 2] AS b, {c: 1, d: {e: 2}} AS s");
  const sound = await readFile(file);
  for (let at = sound.length - sound.readUInt32LE(sound.length - 8) - 8; at < sound.length - 8; at++) {
    const changed = Buffer.from(sound);
    changed[at]! ^= 0xff;
    const outcome = await staging.refusal("adj_factor", staging.put("changed.parquet", changed));
    expect(outcome).toMatch(/^changed\.parquet /);
  }
});

const GOOD = "000001.SZ,20240102,1\n".repeat(1_000);
/** More than DuckDB's buffer holds: without a check it leaves such a last record out. */
const LONG = 33_000_000;

test.each([
  ["with a line end", "x.csv", Buffer.from(`${HEADER}${GOOD}${"b".repeat(LONG)},20240102,1\n`)],
  ["without one", "x.csv", Buffer.from(`${HEADER}${GOOD}${"b".repeat(LONG)},20240102,1`)],
  ["with blank lines below", "x.csv", Buffer.from(`${HEADER}${GOOD}${"b".repeat(LONG)},20240102,1\r\n\r\n`)],
  ["of quotes in quotes", "x.csv", Buffer.from(`${HEADER}${GOOD}"${'""'.repeat(LONG / 2)}",20240102,1\n`)],
  ["after a byte order mark", "x.csv", Buffer.from(`\ufeff${HEADER}${GOOD}${"b".repeat(LONG)},20240102,1\n`)],
  ["after carriage returns", "x.csv", Buffer.from(`${HEADER}${GOOD}${"b".repeat(LONG)},,1\n`.replaceAll("\n", "\r"))],
  ["in GB18030", "x.csv", Buffer.concat([Buffer.from(HEADER + GOOD), Buffer.alloc(LONG, "c3fb", "hex")])],
  ["in gzip", "x.csv.gz", gzipSync(`${HEADER}${GOOD}${"b".repeat(LONG)},20240102,1\n`)],
  ["of NDJSON", "x.ndjson", Buffer.from(`{"ts_code": "a"}\n{"ts_code": "${"b".repeat(2.2 * LONG)}"}\n`)],
  ["of JSON", "x.json", Buffer.from(`[{"ts_code": "a"},{"ts_code": "${"b".repeat(2.2 * LONG)}"}]`)],
])("a last record that is too long for the reader, %s, is refused and not dropped", async (_what, name, content) => {
  const refusal = await staging.refusal("adj_factor", staging.put(name, content));
  expect(refusal).toMatch(
    /: the last line has more than 2,000,000 bytes: is a quote not closed\?$|maximum_object_size/,
  );
});
