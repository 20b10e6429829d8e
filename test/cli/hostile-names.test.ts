// Files whose names and contents try to deceive readers of the terminal or the log: real files, real processes.
import { unlinkSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import { run } from "../../src/cli/program.js";
import { openLake } from "../../src/lake/lake.js";
import { temporaryFolder } from "../support/folders.js";
import { drop, factors, outcomesOf } from "../support/ingest.js";
import { UNPRINTABLE } from "../support/printable.js";
import { endAll, expectTold, tapehouse as startProcess, until } from "../support/processes.js";

const FORGED = "refused inbox/adj_factor/honest.csv: it is empty";
const TAKEN: readonly string[] = [
  `a.csv: 1 row\n${FORGED}.csv`,
  "\u001b[2J\u001b[31mred.csv",
  "over\rtaken.csv",
  "\u202evsc.sevah.csv",
  "\u009b31mc1.csv",
  "zero\u200bwidth\u2028line.csv",
];
const REFUSED: readonly string[] = [`b\n${FORGED}.csv`, "\u001b]0;title\u0007.csv", "bad\u202e.json", "\ttab.parquet"];

/** A header and a cell that try to deceive. */
const BAD = `ts_code,trade_date,adj_factor,"x\n\u202e"\n000001.SZ,20240102,"1\n${FORGED}\u001b[1A\u202e\u0085",2\n`;

let data: string;

/** The printed lines; none contains anything that could control a terminal or imitate one of our lines. */
function linesOf(text: string): readonly string[] {
  const lines = text.split("\n").filter(Boolean);
  for (const line of lines) {
    expect(line).not.toMatch(UNPRINTABLE);
    expect(line.trim().startsWith(FORGED)).toBe(false);
  }
  return lines;
}

/** Runs a command and returns the lines of both its outputs. */
async function tapehouse(...args: readonly string[]): Promise<readonly string[]> {
  let printed = "";
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, "write").mockImplementation((text) => ((printed += String(text)), true));
  }
  try {
    await run([...args, "--data", data]);
  } finally {
    vi.restoreAllMocks();
  }
  return linesOf(printed);
}

beforeAll(async () => {
  data = await temporaryFolder();
  for (const [i, name] of TAKEN.entries()) await drop(data, `adj_factor/${name}`, factors(`00000${i}.SZ,20240102,1`));
  for (const name of REFUSED) await drop(data, `adj_factor/${name}`, BAD);
  await drop(data, "adj_factor/cells.csv", BAD);
  await drop(data, "no\n\u202eentity/a.csv", BAD);
  const named = Buffer.concat([
    Buffer.from(`${data}/inbox/adj_factor/`),
    Buffer.from([0xc8, 0xd5, 0xff]),
    Buffer.from(".csv"),
  ]);
  await writeFile(named, factors("000009.SZ,20240102,1"));
  const ingester = startProcess("ingest", "--data", data);
  await until("all is settled", async () => {
    const { length } = Object.keys(await outcomesOf(data));
    return length === TAKEN.length + REFUSED.length + 3 || undefined;
  });
  await expectTold(ingester, /^refused inbox\/adj_factor\/[^/]*\ufffd+\.csv: its name is not UTF-8; rename it$/m);
  const outcomes = await outcomesOf(data);
  for (const name of TAKEN) expect([name, outcomes[`adj_factor/${name}`]]).toEqual([name, "taken"]);
  for (const name of REFUSED) expect([name, outcomes[`adj_factor/${name}`]]).toEqual([name, "refused"]);
  await until(
    "each has its line",
    () => ingester.told.stderr.split("\n").length > TAKEN.length + REFUSED.length + 3 || undefined,
  );
  const lines = linesOf(ingester.told.stderr);
  expect(lines.filter((line) => line.startsWith("imported inbox/"))).toHaveLength(TAKEN.length);
  expect(lines.filter((line) => line.startsWith("refused inbox/"))).toHaveLength(REFUSED.length + 3);
  expect(lines).toHaveLength(TAKEN.length + REFUSED.length + 3);
  await endAll();
}, 180_000);

test("the ledger contains the names unchanged, but nothing that controls a terminal", async () => {
  const text = await readFile(join(data, "state/ledger.ndjson"), "utf8");
  expect(text.replaceAll("\n", "")).not.toMatch(UNPRINTABLE);
  expect(Object.keys(await outcomesOf(data))).toContain(`adj_factor/${TAKEN[0]!}`);
});

test("status shows each drop on one line, and its JSON has the names as they are", async () => {
  const lines = await tapehouse("status");
  expect(lines.filter((line) => line.startsWith("  refused inbox/"))).toHaveLength(REFUSED.length + 3);
  expect(lines.join("\n")).toContain(String.raw`inbox/adj_factor/bad\u202e.json`);
  const json = await tapehouse("status", "--json");
  const { drops } = JSON.parse(json.join("\n")) as { drops: { refused: readonly { path: string }[] } };
  expect(drops.refused.map(({ path }) => path).sort()).toEqual(
    [...REFUSED, "cells.csv", "\ufffd\ufffd\ufffd.csv"]
      .map((name) => `adj_factor/${name}`)
      .concat("no\n\u202eentity/a.csv")
      .sort(),
  );
});

test("import shows a file's name, its columns and its cells as text of one line", async () => {
  const folder = join(await temporaryFolder(), "x\n\u001b[31m");
  for (const name of TAKEN) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), `ts_code,trade_date,adj_factor,"\u202ex\ny"\n000001.SZ,20240103,1,2\n`);
  }
  await writeFile(join(folder, "bad.csv"), BAD);
  const files = TAKEN.map((name) => join(folder, name));
  const taken = await tapehouse("import", "adj_factor", ...files, "--dry-run");
  expect(taken.filter((line) => line.endsWith(": 1 row (csv)"))).toHaveLength(TAKEN.length);
  expect(taken.filter((line) => line === String.raw`  columns not used: "\u202ex\ny"`)).toHaveLength(TAKEN.length);
  const json = await tapehouse("import", "adj_factor", ...files, "--dry-run", "--json");
  expect(
    (JSON.parse(json.find((line) => line.startsWith("{"))!) as { files: readonly { file: string }[] }).files.map(
      ({ file }) => file,
    ),
  ).toEqual(files);
  for (const args of [
    ["adj_factor", join(folder, "bad.csv")],
    ["adj_factor", join(folder, "gone\n\u202e.csv")],
    ["\u202edaily\n", ...files],
  ]) {
    const lines = await tapehouse("import", ...args);
    expect(lines.filter((line) => line.startsWith("tapehouse: "))).toEqual(lines.slice(-1));
  }
});

test("doctor and verify --repair show them in the same way", async () => {
  const checked = await tapehouse("doctor");
  expect(checked.filter((line) => line.includes("inbox/adj_factor/"))).toHaveLength(1);
  const { layout, current } = await openLake(data);
  unlinkSync(join(layout.lake, current().files("adj_factor").byDate[0]!.path));
  for (const name of [TAKEN[0]!, TAKEN[3]!]) unlinkSync(join(layout.inbox, "adj_factor", name));
  const repaired = await tapehouse("verify", "--repair");
  expect(repaired.filter((line) => line.endsWith(" is gone or has changed"))).toHaveLength(2);
});
