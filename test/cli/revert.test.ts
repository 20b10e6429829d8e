// `tapehouse revert` while a server runs, and how it asks.
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { confirm } from "../../src/cli/confirm.js";
import { temporaryFolder } from "../support/folders.js";
import { drop, factors, outcomesOf } from "../support/ingest.js";
import { AUTHORIZED, expectTold, serveInProcess, tapehouse, until } from "../support/processes.js";

test("a running server serves the earlier rows again, reports the withdrawn drop, and takes it when it is touched", async () => {
  const data = await temporaryFolder();
  const server = await serveInProcess(data);
  const served = async (factor: number): Promise<unknown> =>
    until(`${factor} is served`, async () => {
      const response = await fetch(`${server.url}/api/v1/entities/adj_factor`, { headers: AUTHORIZED });
      const { rows } = (await response.json()) as { rows?: readonly (readonly unknown[])[] };
      return rows?.[0]?.includes(factor) || undefined;
    });
  await drop(data, "adj_factor/good.csv", factors("000001.SZ,20240102,1"));
  await served(1);
  const bad = await drop(data, "adj_factor/bad.csv", factors("000001.SZ,20240102,2"));
  await served(2);

  const unasked = tapehouse("revert", "1", "--data", data);
  expect(await unasked.ended).toBe(2);
  expect(unasked.told.stdout).toBe(
    "adj_factor: 1 row from 20240102 to 20240102 → 1 row from 20240102 to 20240102; 1 go, 1 come back, on 20240102\n" +
      "withdraws 1 drop: inbox/adj_factor/bad.csv\n",
  );
  expect(unasked.told.stderr).toBe("tapehouse: nothing was changed: add --yes to do this, or --dry-run to only look\n");
  const dry = tapehouse("revert", "1", "--dry-run", "--json", "--data", data);
  expect(await dry.ended).toBe(0);
  expect(JSON.parse(dry.told.stdout)).toMatchObject({ withdrawn: ["adj_factor/bad.csv"], version: null });

  const done = tapehouse("revert", "1", "--yes", "--entity", "adj_factor", "--data", data);
  expect(await done.ended).toBe(0);
  expect(done.told.stdout).toMatch(/^published as data_version \d/m);
  await served(1);
  await expectTold(server, /^withdrawn inbox\/adj_factor\/bad\.csv: its rows were taken back/m);
  expect(await outcomesOf(data)).toMatchObject({ "adj_factor/bad.csv": "withdrawn" });
  const metrics = await (await fetch(`${server.url}/metrics`, { headers: AUTHORIZED })).text();
  expect(metrics).toMatch(/^tapehouse_drops_withdrawn(\{.*\})? 1$/m);
  const status = tapehouse("status", "--data", data);
  expect(await status.ended).toBe(0);
  expect(status.told.stdout).toContain("drops: 1 imported, 0 with known content, 0 refused, 1 withdrawn\n");
  expect(status.told.stdout).toMatch(/^ {2}withdrawn inbox\/adj_factor\/bad\.csv: its rows were taken back \(revert/m);

  await utimes(join(bad), 1_700_000_000, 1_700_000_000);
  await served(2);

  const listed = tapehouse("status", "--data", data);
  expect(await listed.ended).toBe(0);
  const id = /^ {2}imported ([\da-f]{8}) inbox\/adj_factor\/bad\.csv: 1 row, 20/m.exec(listed.told.stdout)![1]!;
  const one = tapehouse("revert", "--drop", id, "--yes", "--data", data);
  expect(await one.ended).toBe(0);
  expect(one.told.stdout).toMatch(
    /^adj_factor: 1 row .*; 1 go, 1 come back, on 20240102\nwithdraws 1 drop: inbox\/adj_factor\/bad\.csv\npublished as data_version 2/,
  );
  await served(1);
  const nothing = tapehouse("revert", "--drop", "good.csv", "--json", "--dry-run", "--data", data);
  expect(await nothing.ended).toBe(0);
  expect(JSON.parse(nothing.told.stdout)).toMatchObject({ to: null, entities: [{ after: { rows: 0 } }] });
});

test.each([
  [["revert"], "which version? Name its number; see: tapehouse versions. Or name a drop with --drop"],
  [["revert", "1", "--drop", "a.csv"], "give a version or --drop, not both"],
  [["revert", "--drop", "b.csv"], "no drop is named b.csv; see: tapehouse status"],
  [["revert", "last"], '"last" is neither the number of a version nor a data_version such as'],
  [["revert", "1", "--entity", "dayly"], 'there is no entity "dayly"; did you mean daily?'],
])("%j is refused with exit code 2", async (args, message) => {
  const data = await temporaryFolder();
  await drop(data, "adj_factor/a.csv", "");
  const command = tapehouse(...args, "--data", data);
  expect(await command.ended).toBe(2);
  expect(command.told.stderr).toContain(message);
});

test.each([
  ["y\n", true],
  ["Yes\n", true],
  ["\n", false],
  ["no\n", false],
  [null, false],
] as const)("the answer %j means %s", async (answer, isYes) => {
  const [input, output] = [0, 1].map(() => Object.assign(new PassThrough(), { isTTY: true })) as [
    PassThrough & { isTTY: boolean },
    PassThrough & { isTTY: boolean },
  ];
  const asked = confirm("Do it?", { input, output });
  input.end(answer ?? "");
  if (isYes) await asked;
  else await expect(asked).rejects.toThrow("nothing was changed");
  expect(String(output.read())).toContain("Do it? [y/N] ");
});
