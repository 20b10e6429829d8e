// Many writers of one lake in a bucket: processes that publish at the same time, and races for one version.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import { fileList, sha256, type FileList } from "../../src/lake/manifest.js";
import { verify } from "../../src/repair/verify.js";
import { LostRaceError } from "../../src/store/contention.js";
import { publish } from "../../src/store/session.js";
import { newAddress, newMirror, pull, STORES } from "../support/mirrors.js";
import { run } from "../support/run.js";
import { isLong, size } from "../support/size.js";
import { MEMORY } from "../support/upkeep.js";

// A hundred versions, most of which several processes try to publish.
vi.setConfig({ testTimeout: 600_000 });

const PROGRAM = join(import.meta.dirname, "../support/publish-process.mjs");
const PUBLISHES = size("PUBLISHES", 4, 25);
const RACES = size("RACES", 15, 100);

/** A list of one file, which is not Parquet, in the mirror. */
async function listOf(root: string, name: string): Promise<FileList> {
  const path = `adj_factor/${name}.parquet`;
  const { lake } = layoutOf(root);
  await mkdir(join(lake, "adj_factor"), { recursive: true });
  await writeFile(join(lake, path), name);
  const bounds = { first: "20240102", last: "20240102", firstCode: "a", lastCode: "z" };
  return fileList("adj_factor", [{ path, sha256: sha256(name), bytes: name.length, rows: 1, ...bounds }]);
}

describe.each(STORES)("a lake in a %s", (store) => {
  test.skipIf(!isLong && store !== STORES.at(-1))(
    "has every row that four processes publish at the same time, one more with each version",
    async () => {
      const address = await newAddress(store);
      // Two writers of each entity: some races are lost, and some publications go on top of others.
      const entities = ["adj_factor", "adj_factor", "stk_limit", "stk_limit"];
      const args = (entity: string, data: string, i: number): readonly string[] => [
        ...["--import", import.meta.resolve("tsx"), PROGRAM],
        ...[data, entity, `00000${i}.SZ`, String(PUBLISHES)],
      ];
      const writers = entities.map(async (entity, i) =>
        run(process.execPath, args(entity, await newMirror(address), i), { env: process.env }),
      );
      for (const { output, exitCode } of await Promise.all(writers)) expect([exitCode, output]).toEqual([0, ""]);

      const reader = await newMirror(address);
      await pull(reader);
      const lake = await openLake(reader);
      const versions = await lake.versions();
      const count = entities.length * PUBLISHES;
      expect(versions.map(({ sequence }) => sequence)).toEqual(Array.from({ length: count }, (_, i) => i + 1));
      const names = versions.map(({ data_version }) => data_version);
      expect(names).toEqual([...new Set(names)].sort());
      for (const { sequence, data_version } of versions) {
        const found = await lake.at(data_version);
        if (typeof found === "string") throw new Error(`version ${sequence} is ${found}`);
        expect(found.files("adj_factor").rows + found.files("stk_limit").rows).toBe(sequence);
      }
      expect((await verify(reader, { ...MEMORY, deep: true })).faults).toEqual([]);
    },
  );

  test("gets each version from exactly one of the writers that race for it", async () => {
    const address = await newAddress(store);
    const roots = await Promise.all(Array.from({ length: 4 }, () => newMirror(address)));
    for (let race = 1; race <= RACES; race++) {
      const attempts = await Promise.allSettled(
        roots.map(async (root, i) => {
          const base = (await openLake(root)).current();
          const changes = [await listOf(root, `${race}-${i}`)];
          return publish(layoutOf(root), base, changes, { reason: `writer ${i}`, now: new Date() });
        }),
      );
      const won = attempts.filter((attempt) => attempt.status === "fulfilled").map(({ value }) => value);
      const lost = attempts.filter((attempt) => attempt.status === "rejected").map(({ reason }) => reason as unknown);
      expect(won.map(({ sequence }) => sequence)).toEqual([race]);
      expect(lost.every((error) => error instanceof LostRaceError)).toBe(true);
      await Promise.all(roots.map(pull));
      for (const root of roots) expect((await openLake(root)).current().version).toEqual(won[0]);
    }
  });
});
