// Processes that write one lake at the same time.
import { expect, test } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { verify } from "../../src/repair/verify.js";
import { newLake } from "../support/lakes.js";
import { factorFile, filesBelow, MEMORY, neededFiles, servedRows, tapehouse } from "../support/upkeep.js";

test("drops of two processes at the same time both arrive, round after round", async () => {
  const root = await newLake();
  const rounds = 3;
  for (let round = 0; round < rounds; round++) {
    // Both have the same day, so that both rewrite the same file.
    const files = await Promise.all(
      ["000001.SZ", "000002.SZ"].map((code) => factorFile([`${code},20240102,${round}`])),
    );
    const ended = await Promise.all(files.map((file) => tapehouse("import", "adj_factor", file, "--data", root)));
    expect(ended.map(({ exitCode, stderr }) => [exitCode, /tapehouse:/.test(stderr)])).toEqual([
      [0, false],
      [0, false],
    ]);
    expect(await servedRows(root)).toEqual([
      `["000001.SZ","2024-01-02",${round}]`,
      `["000002.SZ","2024-01-02",${round}]`,
    ]);
  }
  const versions = await (await openLake(root)).versions();
  expect(versions.map(({ sequence }) => sequence)).toEqual(Array.from({ length: rounds * 2 }, (_, i) => i + 1));
  expect(versions.map(({ data_version }) => data_version)).toEqual(versions.map((v) => v.data_version).toSorted());
  expect((await verify(root, { deep: true, ...MEMORY })).faults).toEqual([]);
  expect(await filesBelow(root)).toEqual(await neededFiles(root));
});

test("an import, a compaction and a vacuum at the same time leave every row and no leftover", async () => {
  const root = await newLake();
  for (const day of ["20240102", "20240103"]) {
    await tapehouse("import", "adj_factor", await factorFile([`000001.SZ,${day},1`]), "--data", root);
  }
  const ended = await Promise.all([
    tapehouse("import", "adj_factor", await factorFile(["000001.SZ,20240103,2"]), "--data", root),
    tapehouse("compact", "--data", root),
    tapehouse("vacuum", "--older-than", "0d", "--data", root),
  ]);
  expect(ended.filter(({ exitCode }) => exitCode !== 0).map(({ stderr }) => stderr)).toEqual([]);
  expect(await servedRows(root)).toEqual(['["000001.SZ","2024-01-02",1]', '["000001.SZ","2024-01-03",2]']);
  expect((await verify(root, { deep: true, ...MEMORY })).faults).toEqual([]);
  await tapehouse("vacuum", "--older-than", "0d", "--data", root);
  expect((await filesBelow(root)).filter((path) => !path.endsWith("removed.txt"))).toEqual(await neededFiles(root));
});
