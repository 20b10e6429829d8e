// Delta tables of a lake in a bucket: they are beside the data files there, whoever publishes.
import { describe, expect, test } from "vitest";
import { beginTables, endTables, listTables } from "../../src/store/tables.js";
import { mirrorAt, newAddress, newMirror, pull, STORES } from "../support/mirrors.js";
import { dropFactors } from "../support/upkeep.js";

async function logOf(root: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of (await mirrorAt(root)).objects.list("lake/adj_factor/_delta_log/")) keys.push(key);
  return keys.map((key) => key.split("/").at(-1)!);
}

describe.each(STORES)("a lake in a %s", (store) => {
  test("has Delta tables that every mirror keeps, until one ends them", async () => {
    const address = await newAddress(store);
    const [one, other] = [await newMirror(address), await newMirror(address)];
    await dropFactors(one, ["000001.SZ,20240102,1"]);
    await beginTables(one);
    await dropFactors(other, ["000001.SZ,20240103,1"]);
    await dropFactors(one, ["000001.SZ,20240104,1"]);
    expect(await logOf(one)).toEqual([0, 1, 2].map((n) => `${String(n).padStart(20, "0")}.json`));
    await pull(other);
    expect((await listTables(other)).map(({ entity, version }) => [entity, version])).toEqual([["adj_factor", 2]]);
    await endTables(other);
    expect(await logOf(one)).toEqual([]);
    await dropFactors(one, ["000001.SZ,20240105,1"]);
    expect(await logOf(one)).toEqual([]);
  });
});
