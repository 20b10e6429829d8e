import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStaging, type Staging } from "./staging.js";

let box: Staging;
beforeAll(async () => {
  box = await openStaging();
});
afterAll(() => box.close());

const CSV = "ts_code,trade_date,adj_factor\n000001.SZ,20240102,1.5\n600000.SH,20240102,2\n";
const ONE = "SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, 1.5 AS adj_factor";

describe("a file is read in the format of its name", () => {
  test.each([
    ["a.csv", CSV, "csv"],
    ["UPPER.CSV", CSV, "csv"],
    ["a.csv.gz", gzipSync(CSV), "csv"],
    ["a.json", '[{"ts_code":"000001.SZ","trade_date":"20240102","adj_factor":1.5}]', "json"],
    ["a.ndjson", '{"ts_code":"000001.SZ","trade_date":"20240102","adj_factor":1.5}\n', "ndjson"],
    ["a.jsonl", '{"ts_code":"000001.SZ","trade_date":"20240102","adj_factor":1.5}', "ndjson"],
  ])("%s", async (name, content, format) => {
    const staged = await box.stage("adj_factor", box.put(name, content));
    expect(staged.format).toBe(format);
    expect((await box.rows(staged))[0]).toEqual(["000001.SZ", "2024-01-02", 1.5]);
  });

  test("a.parquet", async () => {
    const staged = await box.stage("adj_factor", await box.parquet("a.parquet", ONE));
    expect(staged.format).toBe("parquet");
    expect(await box.rows(staged)).toEqual([["000001.SZ", "2024-01-02", 1.5]]);
  });
});

describe("a file with other content than its name says is refused with its content", () => {
  test.each([
    ["gzip.csv", gzipSync(CSV), "gzip.csv is not CSV: it holds gzip"],
    ["plain.csv.gz", CSV, "plain.csv.gz is not gzip"],
    ["twice.csv.gz", gzipSync(gzipSync(CSV)), "twice.csv.gz is not CSV: it holds gzip"],
    [
      "book.csv",
      Buffer.from("PK\x03\x04rest of it"),
      "book.csv is not CSV: it holds a zip archive or an Excel workbook",
    ],
    ["page.csv", "\n <!DOCTYPE html><html>", "page.csv is not CSV: it holds HTML or XML"],
    ["json.csv", '{"code": 40001, "msg": "no right"}', "json.csv is not CSV: it holds JSON"],
    ["csv.json", CSV, "csv.json is not JSON"],
    ["csv.ndjson", CSV, "csv.ndjson is not NDJSON"],
    ["page.json", "<html>", "page.json is not JSON: it holds HTML or XML"],
    ["csv.parquet", CSV, "csv.parquet is not Parquet"],
    ["feather.parquet", Buffer.from("ARROW1\0\0"), "feather.parquet is not Parquet: it holds Arrow IPC (Feather)"],
    ["array.ndjson", '[{"ts_code":"000001.SZ"}]', "array.ndjson is not NDJSON: it holds a JSON array; name it .json"],
  ])("%s", async (name, content, message) => {
    expect(await box.refusal("adj_factor", box.put(name, content))).toBe(message);
  });

  test("Parquet named .csv and .json", async () => {
    const parquet = await box.parquet("real.parquet", ONE);
    copyFileSync(parquet, join(box.folder, "x.csv"));
    copyFileSync(parquet, join(box.folder, "x.json"));
    expect(await box.refusal("adj_factor", join(box.folder, "x.csv"))).toBe("x.csv is not CSV: it holds Parquet");
    expect(await box.refusal("adj_factor", join(box.folder, "x.json"))).toBe("x.json is not JSON: it holds Parquet");
  });
});

describe("a file that cannot be read is refused in one line", () => {
  test("missing, a folder, empty, or of an unknown format", async () => {
    mkdirSync(join(box.folder, "folder.csv"));
    expect(await box.refusal("daily", join(box.folder, "none.csv"))).toBe("none.csv does not exist");
    expect(await box.refusal("daily", join(box.folder, "folder.csv"))).toBe(
      "folder.csv is a folder, not a file: name its files, e.g. folder.csv/*.csv",
    );
    expect(await box.refusal("daily", box.put("empty.parquet", ""))).toBe("empty.parquet is empty: it has 0 bytes");
    expect(await box.refusal("daily", box.put("a.xlsx", "PK"))).toMatch(
      /^a\.xlsx has an unknown format \(\.xlsx\): save the sheet as CSV UTF-8; supported/,
    );
    expect(await box.refusal("daily", box.put("bare", "x"))).toMatch(/no extension/);
    expect(await box.refusal("daily", box.put("blank.csv", "\n\n"))).toMatch(/has no header line/);
  });

  test.skipIf(process.getuid?.() === 0)("without permission (only if tests do not run as root)", async () => {
    const file = box.put("locked.csv", CSV);
    chmodSync(file, 0);
    expect(await box.refusal("adj_factor", file)).toBe("locked.csv cannot be read: permission denied");
  });

  test("a link to nowhere does not exist", async () => {
    symlinkSync(join(box.folder, "nowhere"), join(box.folder, "link.csv"));
    expect(await box.refusal("daily", join(box.folder, "link.csv"))).toBe("link.csv does not exist");
  });

  test("Parquet cut short at any length, still being written, or damaged in its footer", async () => {
    const bytes = readFileSync(await box.parquet("whole.parquet", ONE));
    for (const length of [4, 8, 11, 100, bytes.length - 1]) {
      const message = await box.refusal("adj_factor", box.put("cut.parquet", bytes.subarray(0, length)));
      expect(message).toMatch(/^cut\.parquet is cut short or still being written/);
    }
    const damaged = Buffer.from(bytes);
    damaged.fill(0xff, bytes.length - 60, bytes.length - 8);
    const message = await box.refusal("adj_factor", box.put("damaged.parquet", damaged));
    expect(message).toMatch(/^damaged\.parquet is not readable as Parquet and may be damaged/);
    expect(message).not.toContain(box.folder);
    expect(message).not.toContain("\n");
  });

  test("gzip cut short", async () => {
    const packed = gzipSync(CSV.repeat(1000));
    const message = await box.refusal("adj_factor", box.put("cut.csv.gz", packed.subarray(0, packed.length - 20)));
    expect(message).toMatch(/^cut\.csv\.gz cannot be unpacked: unexpected end of file/);
  });

  test("no files are left after a success or a failure", async () => {
    const before = (await box.leftovers()).length;
    const staged = await box.stage("adj_factor", box.put("gone.csv.gz", gzipSync(CSV)));
    await box.writer.run(`DROP TABLE ${staged.table}`);
    await box.refusal("adj_factor", box.put("bad.csv.gz", gzipSync(CSV.replace("1.5", "x"))));
    expect((await box.leftovers()).length).toBe(before);
  });
});

describe("the name and the folders of a file do not change what is read", () => {
  test.each(["a[1].csv", "what?.csv", "all*.csv", "s3:/x.csv", "it's.csv", "ü 中文.csv", "{a,b}.csv"])(
    "%s",
    async (name) => {
      const staged = await box.stage("adj_factor", box.put(name, CSV));
      expect(staged.rows).toBe(2);
    },
  );

  test("a pattern in a name does not reach other files", async () => {
    box.put("part1.csv", CSV);
    expect(await box.refusal("adj_factor", join(box.folder, "part[0-9].csv"))).toBe("part[0-9].csv does not exist");
  });

  test("a column of the file takes precedence over its folder", async () => {
    const file = await box.parquet("trade_date=2020-01-01/part.parquet", ONE);
    const staged = await box.stage("adj_factor", file);
    expect(await box.rows(staged)).toEqual([["000001.SZ", "2024-01-02", 1.5]]);
    expect(staged.warnings).toEqual([
      "1 row has another trade_date than the folder trade_date=2020-01-01 says: what the file says counts",
    ]);
  });

  test("a folder fills a column that the file lacks, in any spelling, and this is reported", async () => {
    const query = "SELECT '000001.SZ' AS ts_code, 1.5 AS adj_factor";
    for (const folder of ["trade_date=20240102", "trade_date=2024-01-02", "trade_date=2024-01-02 00%3A00%3A00"]) {
      const staged = await box.stage("adj_factor", await box.parquet(`${folder}/part.parquet`, query));
      expect(await box.rows(staged)).toEqual([["000001.SZ", "2024-01-02", 1.5]]);
      expect(staged.warnings[0]).toMatch(/^trade_date is not in the file: .* was taken from the name of its folder$/);
    }
    const nothing = await box.parquet("trade_date=__HIVE_DEFAULT_PARTITION__/part.parquet", query);
    expect(await box.refusal("adj_factor", nothing)).toMatch(/it has no trade_date/);
    const vague = await box.parquet("trade_date=2024-01/part.parquet", query);
    expect(await box.refusal("adj_factor", vague)).toMatch(/the given trade_date: "2024-01" is not a date/);
  });
});

describe("columns of the same name are refused with their true names", () => {
  /** A Parquet file with the columns `close` and `second`, a name as long, and nested ones between. */
  async function twins(second: string): Promise<string> {
    const query = `${ONE.replace("1.5 AS adj_factor", "1.5 AS close")}, {'a': [1], 'b': 2} AS nest, 2.5 AS twin_`;
    const bytes = readFileSync(await box.parquet("twins.parquet", query)).toString("latin1");
    return box.put("twins.parquet", Buffer.from(bytes.replaceAll("twin_", second), "latin1"));
  }

  test.each(["close", "CLOSE"])("close and %s in Parquet", async (second) => {
    expect(await box.refusal("daily", await twins(second))).toBe(
      `twins.parquet: the columns close, ${second} all match close; choose one with --map, or put one aside with --map NAME=`,
    );
  });

  test("--map chooses by the exact name", async () => {
    for (const [name, value] of [
      ["close", 1.5],
      ["CLOSE", 2.5],
    ] as const) {
      const staged = await box.stage("daily", await twins("CLOSE"), { map: { [name]: "close" } });
      expect(await box.rows(staged, "close")).toEqual([[value]]);
      expect(staged.ignored).toEqual(name === "close" ? ["nest", "CLOSE"] : ["close", "nest"]);
    }
  });

  test.each([
    ["records", '[{"ts_code":"000001.SZ","trade_date":"20240102","close":1.5,"close":2.5}]', "close, close"],
    ["lines", '{"ts_code":"000001.SZ","trade_date":"20240102","close":1.5,"CLOSE":2.5}\n', "close, CLOSE"],
    [
      "columns of rows",
      '{"ts_code":{"0":"000001.SZ"},"trade_date":{"0":"20240102"},"close":{"0":1},"close":{"0":2}}',
      "close, close",
    ],
  ])("a key that occurs twice in JSON %s", async (_, content, both) => {
    expect(await box.refusal("daily", box.put("twins.json", content))).toBe(
      `twins.json: the columns ${both} all match close; choose one with --map, or put one aside with --map NAME=`,
    );
  });
});
