// tapehouse delete: rows are withdrawn by any column, after confirmation, and older versions still have them.
import { beforeEach, describe, expect, test, vi, afterEach } from "vitest";
import { run } from "../../src/cli/program.js";
import { openLake } from "../../src/lake/lake.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { rowsOf, servedRows } from "../support/upkeep.js";

let root: string;
let out = "";
let err = "";

beforeEach(async () => {
  root = await temporaryFolder();
  [out, err] = ["", ""];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => ((out += String(text)), true));
  vi.spyOn(process.stderr, "write").mockImplementation((text) => ((err += String(text)), true));
  await publishRows(root, {
    adj_factor: `SELECT * FROM (VALUES ('000001.SZ', DATE '2024-01-02', 1), ('000002.SZ', DATE '2024-01-02', 2),
      ('000001.SZ', DATE '2024-01-03', 3), ('600000.SH', DATE '2024-01-03', 4)) t(ts_code, trade_date, adj_factor)`,
    index_basic: "SELECT '000300.SH' AS ts_code, 'CSI 300, total' AS name, 'CSI' AS market",
    income: `SELECT '600519.SH' AS ts_code, DATE '2024-04-03' AS ann_date, DATE '2023-12-31' AS end_date, t.type AS report_type
      FROM (VALUES ('1'), ('2'), (NULL)) t(type)`,
  });
});

afterEach(() => vi.restoreAllMocks());

const del = (...args: readonly string[]): Promise<number> => run(["delete", ...args, "--data", root]);
const factors = async (): Promise<readonly string[]> =>
  (await servedRows(root)).map((row) => (JSON.parse(row) as unknown[]).join(" "));

test("deletes the rows that meet all conditions as a new version, and the older version keeps them", async () => {
  const before = (await openLake(root)).current();
  expect(await del("adj_factor", "--where", "ts_code=000001.SZ,000002.SZ", "--from", "20240103", "--yes")).toBe(0);
  expect(await factors()).toEqual(["000001.SZ 2024-01-02 1", "000002.SZ 2024-01-02 2", "600000.SH 2024-01-03 4"]);
  const { version } = (await openLake(root)).current();
  expect(version.reason).toBe("delete adj_factor");
  expect(out).toBe(
    "adj_factor: 1 row of 1 day (20240103 1) deleted; older versions still have them\n" +
      `published as data_version ${version.data_version}\n`,
  );
  expect(await rowsOf(root, before, "adj_factor")).toHaveLength(4);
});

test.each([
  ["one day, by its column", ["adj_factor", "--where", "trade_date=2024-01-02"], 2],
  ["up to a day", ["adj_factor", "--to", "20240102"], 2],
  ["a range", ["adj_factor", "--from", "20240102", "--to", "20240103"], 4],
  ["an option that is repeated", ["adj_factor", "--where", "ts_code=000001.SZ", "--where", "ts_code=600000.SH"], 3],
  ["another name of a column", ["income", "--where", "period=20231231", "--where", "report_type=1"], 1],
  ["missing values", ["income", "--where", "report_type=null"], 1],
  ["a quoted text with a comma", ["index_basic", "--where", 'name="CSI 300, total"'], 1],
  ["all rows", ["adj_factor", "--all"], 4],
])("selects %s", async (_, args, rows) => {
  expect(await del(...args, "--dry-run", "--json")).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ entity: args[0], rows, version: null });
  expect((await openLake(root)).current().version.sequence).toBe(1);
});

test("an entity of which all rows are deleted is empty", async () => {
  expect(await del("adj_factor", "--all", "--yes")).toBe(0);
  expect((await openLake(root)).current().files("adj_factor").rows).toBe(0);
});

test("conditions that no row meets change nothing", async () => {
  expect(await del("adj_factor", "--where", "ts_code=000009.SZ")).toBe(0);
  expect(out).toBe("no rows of adj_factor match: nothing was changed\n");
  expect((await openLake(root)).current().version.sequence).toBe(1);
});

test("without a terminal and without --yes nothing is deleted, and the message says what would be", async () => {
  expect(await del("adj_factor", "--where", "trade_date=20240102")).toBe(2);
  expect(err).toBe(
    "adj_factor: 2 rows of 1 day (20240102 2) would be deleted\n" +
      "tapehouse: nothing was changed: add --yes to do this, or --dry-run to only look\n",
  );
  expect(await factors()).toHaveLength(4);
});

describe("a call that is not understood is refused", () => {
  test.each([
    [["adj_factor"], "say which rows with --where, --from or --to; to delete all rows of adj_factor: --all"],
    [["adj_factor", "--all", "--from", "20240102"], "--all deletes all rows, so it takes no --where, --from or --to"],
    [
      ["adj_factor", "--where", "ts_cod=000001.SZ"],
      '--where: adj_factor has no column "ts_cod"; did you mean ts_code?',
    ],
    [
      ["adj_factor", "--where", "adj_factor=1"],
      "--where: adj_factor is a number column, by which no rows are selected",
    ],
    [["adj_factor", "--where", "start_date=20240102"], "--where start_date: for a range of days use --from and --to"],
    [["adj_factor", "--where", "ts_code"], '--where "ts_code" does not have the form column=value'],
    [["adj_factor", "--where", "ts_code="], "--where ts_code: it is empty"],
    [["adj_factor", "--where", "ts_code=000001"], '--where ts_code: "000001"'],
    [["adj_factor", "--from", "20240230"], '--from: "20240230" is not a calendar day; write YYYYMMDD'],
    [["adj_factor", "--from", "20240103", "--to", "20240102"], "--from 20240103 is after --to 20240102"],
    [["index_basic", "--from", "20240102"], "index_basic has no main date, so --from has no meaning: use --where"],
    [
      ["income", "--where", "end_date=20231231"],
      "--where end_date: for a range of days use --from and --to, and for the column of this name period",
    ],
    [["adj_facto", "--all"], 'there is no entity "adj_facto"; did you mean adj_factor?'],
  ])("%j", async (args, message) => {
    expect(await del(...args, "--yes")).toBe(2);
    expect(err).toContain(message);
    expect((await openLake(root)).current().version.sequence).toBe(1);
  });
});
