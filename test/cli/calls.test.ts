import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { run } from "../../src/cli/program.js";
import { withLakeLocked } from "../../src/store/session.js";
import { temporaryFolder } from "../support/folders.js";

let root: string;
let out = "";
let err = "";

beforeEach(async () => {
  root = await temporaryFolder();
  out = err = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => ((out += String(text)), true));
  vi.spyOn(process.stderr, "write").mockImplementation((text) => ((err += String(text)), true));
});
afterEach(() => void vi.restoreAllMocks());

function csv(text: string): string {
  const path = join(root, "x.csv");
  writeFileSync(path, text);
  return path;
}

describe("a missing lake", () => {
  test.each([
    ["verify"],
    ["verify", "--repair"],
    ["versions"],
    ["status"],
    ["compact"],
    ["vacuum"],
    ["backup", "copy"],
    ["gaps", "list"],
    ["gaps", "resolve", "1"],
    ["gaps", "add", "daily", "--start", "20240102", "--end", "20240103"],
    ["token", "list"],
    ["token", "revoke", "alice"],
  ])("is reported by %s %s and is not created", async (...args) => {
    const data = join(root, "mistyped");
    expect(await run([...args, "--data", data])).toBe(1);
    expect(err).toBe(`tapehouse: there is no lake in ${data} (create one with: tapehouse import, or tapehouse demo)\n`);
    expect(out).toBe("");
    expect(existsSync(data)).toBe(false);
  });

  test("is reported for a folder with other content", async () => {
    expect(await run(["verify", "--data", root])).toBe(1);
    expect(err).toContain(`there is no lake in ${root}`);
  });

  test("is begun by a token", async () => {
    const data = join(root, "new");
    expect(await run(["token", "create", "alice", "--data", data])).toBe(0);
    out = "";
    expect(await run(["token", "list", "--data", data])).toBe(0);
    expect(out).toContain("alice");
  });
});

test("a damaged manifest is reported in one line by commands that only read", async () => {
  const file = csv("ts_code,trade_date,adj_factor\n000001.SZ,20240102,1\n");
  expect(await run(["import", "adj_factor", file, "--data", root])).toBe(0);
  writeFileSync(join(root, "state/current"), "garbage");
  err = "";
  for (const command of ["status", "versions"]) expect(await run([command, "--data", root])).toBe(1);
  const line = "tapehouse: the pointer to the current version is damaged; see: tapehouse verify\n";
  expect(err).toBe(line + line);
});

test.each([
  ["tokens.json", ["token", "list"]],
  ["gaps.json", ["gaps", "list"]],
])("a damaged %s is reported in one line", async (file, args) => {
  mkdirSync(join(root, "state"));
  writeFileSync(join(root, "state", file), '[{"name":');
  expect(await run([...args, "--data", root])).toBe(1);
  expect(err).toBe(
    `tapehouse: ${join(root, "state", file)} is damaged: restore it from a backup, or move it away and start a new one\n`,
  );
});

describe("an incorrect call is reported in one line, with exit code 2", () => {
  test.each([
    [["compact", "--memory", "abc"], /^tapehouse: --memory must be a size such as 512MB or 4GB, not "abc"\n$/],
    [["versions", "--data", ""], /^tapehouse: --data must name a folder, not nothing\n$/],
    [["token", "create", ""], /^tapehouse: a token needs a name on one line, not ""\n$/],
    [["token", "create", "two\nlines"], /^tapehouse: a token needs a name on one line, not "two\\nlines"\n$/],
    [["token", "create", "\u001b[31m"], /^tapehouse: a token needs a name on one line/],
  ])("%j", async (args, message) => {
    const data = args.includes("--data") ? [] : ["--data", join(root, "lake")];
    expect(await run([...args, ...data])).toBe(2);
    expect(err).toMatch(message);
  });

  test("a file for a data directory", async () => {
    const file = csv("");
    expect(await run(["import", "daily", file, "--data", file])).toBe(2);
    expect(err).toBe(`tapehouse: --data must name a folder: ${file} is a file\n`);
  });
});

test.each([
  ["EACCES", "permission denied"],
  ["EPERM", "operation not permitted"],
  ["EROFS", "the disk is read-only"],
])("a disk that fails with %s while a lake is written is reported in one line", async (code, reason) => {
  const fault = Object.assign(new Error(`${code}: failed`), { code, path: "some/file" });
  await expect(
    withLakeLocked(
      root,
      () => Promise.reject(fault),
      () => Promise.resolve(),
    ),
  ).rejects.toMatchObject({
    name: "OperatorError",
    message: `the lake in ${root} cannot be written: ${reason} (some/file)`,
  });
});

test("a file in place of a folder of the lake is reported in one line", async () => {
  writeFileSync(join(root, "state"), "");
  expect(await run(["token", "create", "alice", "--data", root])).toBe(1);
  expect(err).toMatch(/^tapehouse: the lake in .* cannot be written: a file is in the place of a folder/);
});

describe("what the commands show", () => {
  const TEXT = "ts_code,trade_date,adj_factor,,extra\n000001.SZ,20240102,1.5,,1\n";

  test("an unnamed column that is not used is shown as empty quotes", async () => {
    expect(await run(["import", "adj_factor", csv(TEXT), "--data", join(root, "lake")])).toBe(0);
    expect(out).toContain('  columns not used: "", extra\n');
  });

  test("the report of an import in JSON names no temporary table", async () => {
    expect(await run(["import", "adj_factor", csv(TEXT), "--json", "--data", join(root, "lake")])).toBe(0);
    const report = JSON.parse(out) as { files: Record<string, unknown>[] };
    expect(report.files[0]).toMatchObject({ rows: 1, format: "csv", ignored: ["", "extra"] });
    expect(report.files[0]).not.toHaveProperty("table");
  });

  test("a file of ticks that replaces more rows than it has says so, and why", async () => {
    const ticks = (...times: string[]): string =>
      ["ts_code,trade_date,time", ...times.map((time) => `000001.SZ,20240102,${time}`), ""].join("\n");
    const data = ["--data", join(root, "lake")];
    expect(await run(["import", "stk_auction", csv(ticks("09:15", "09:20", "09:25")), ...data])).toBe(0);
    expect(out).not.toContain("put them into one file");
    expect(await run(["import", "stk_auction", csv(ticks("14:57")), ...data])).toBe(0);
    expect(out).toContain(
      "stk_auction: 1 row from 20240102 to 20240102: 2 fewer than before, 3 replaced\n" +
        "  a file replaces all rows of the same ts_code, trade_date: put them into one file\n",
    );
  });

  test("the default of a duration is shown as users write it", async () => {
    expect(await run(["vacuum", "--help"])).toBe(0);
    expect(out).toContain("(default: 7d)");
  });
});
