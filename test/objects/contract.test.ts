// What every store of objects does, a folder or a bucket.
import { createHash, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { fetchObject } from "../../src/objects/fetch.js";
import type { ObjectStore } from "../../src/objects/object-store.js";
import { openObjects } from "../../src/objects/open.js";
import { collect } from "../support/collect.js";
import { temporaryFolder } from "../support/folders.js";
import { size } from "../support/size.js";
import { hasVersitygw, startBucket } from "../support/versitygw.js";

const MAKERS: Readonly<Record<string, () => Promise<() => Promise<ObjectStore>>>> = {
  "a folder": async () => async () => openObjects(await temporaryFolder()),
  "a bucket": async () => {
    const { name, env } = await startBucket();
    let prefixes = 0;
    return () => openObjects(`s3://${name}/test/${prefixes++}`, { env });
  },
};

const text = (value: string): Buffer => Buffer.from(value);

const keysOf = async (store: ObjectStore, prefix?: string, after?: string): Promise<string[]> =>
  (await collect(store.list(prefix ?? "", after))).map(({ key }) => key);

for (const [kind, makeMaker] of Object.entries(MAKERS)) {
  describe.skipIf(kind === "a bucket" && !hasVersitygw)(kind, () => {
    let make: () => Promise<ObjectStore>;
    beforeAll(async () => {
      make = await makeMaker();
    });

    test("returns what was written, with a tag and a time", async () => {
      const store = await make();
      const tag = await store.put("state/a.json", text("one"));
      const found = await store.get("state/a.json");
      expect(found).toMatchObject({ bytes: text("one"), tag });
      expect(Math.abs(found!.modified.getTime() - Date.now())).toBeLessThan(600_000);
      expect(await collect(store.list(""))).toEqual([
        { key: "state/a.json", size: 3, tag, modified: expect.any(Date) as Date },
      ]);
    });

    test("has no object that was never written, nor one at the path of a folder", async () => {
      const store = await make();
      await store.put("a/b/c", text("x"));
      expect(await store.get("a/b")).toBeUndefined();
      expect(await store.get("a/b/c/d")).toBeUndefined();
      expect(await store.get("b", { unless: "x" })).toBeUndefined();
      expect(await store.get("b", { range: [0, 1] })).toBeUndefined();
    });

    test("resolves to null for an object whose tag is known, until it is replaced", async () => {
      const store = await make();
      const tag = await store.put("a", text("one"));
      expect(await store.get("a", { unless: tag })).toBeNull();
      await store.put("a", text("two"));
      expect(await store.get("a", { unless: tag })).toMatchObject({ bytes: text("two") });
    });

    test("gives each replacement another tag", async () => {
      const store = await make();
      const tags = new Set<string>();
      for (let i = 0; i < 50; i++) tags.add(await store.put("a", text(String(100 + i))));
      expect(tags.size).toBe(50);
    });

    test("reads ranges, and refuses those beyond the end", async () => {
      const store = await make();
      await store.put("a", text("0123456789"));
      expect((await store.get("a", { range: [2, 5] }))!.bytes).toEqual(text("234"));
      expect((await store.get("a", { range: [9, 10] }))!.bytes).toEqual(text("9"));
      await expect(store.get("a", { range: [5, 11] })).rejects.toThrow("bytes 5 to 11 were requested");
      await expect(store.get("a", { range: [20, 30] })).rejects.toThrow("bytes 20 to 30 were requested");
      await expect(store.get("a", { range: [3, 3] })).rejects.toThrow(RangeError);
    });

    test("creates an object once", async () => {
      const store = await make();
      const tag = await store.create("v/0000000001.json", text("one"));
      expect(tag).toBeDefined();
      expect(await store.create("v/0000000001.json", text("two"))).toBeUndefined();
      expect(await store.create("v/0000000001.json", text("one"))).toBeUndefined();
      expect(await store.get("v/0000000001.json")).toMatchObject({ bytes: text("one"), tag });
    });

    test("has exactly one winner of 100 that create the same object", async () => {
      const store = await make();
      const tags = await Promise.all(
        Array.from({ length: 100 }, (_, i) => store.create("v/1", text(`writer ${i} ${"x".repeat(4_000)}`))),
      );
      const winners = tags.flatMap((tag, i) => (tag === undefined ? [] : [{ tag, i }]));
      expect(winners).toHaveLength(1);
      const found = await store.get("v/1");
      expect(found!.bytes.toString()).toMatch(new RegExp(`^writer ${winners[0]!.i} `));
      expect(found!.tag).toBe(winners[0]!.tag);
    });

    test("replaces an object only if its tag is the expected one", async () => {
      const store = await make();
      expect(await store.replaceIf("a", text("x"), "none")).toBeUndefined();
      const first = await store.put("a", text("one"));
      const second = await store.replaceIf("a", text("two"), first);
      expect(second).toBeDefined();
      expect(await store.replaceIf("a", text("three"), first)).toBeUndefined();
      expect(await store.get("a")).toMatchObject({ bytes: text("two"), tag: second });
      await store.remove(["a"]);
      expect(await store.replaceIf("a", text("four"), second!)).toBeUndefined();
      expect(await store.get("a")).toBeUndefined();
    });

    test("lists objects in the order of their keys, by prefix and after a key", async () => {
      const store = await make();
      const keys = ["a.b", "a/b.c", "a/b/c", "a0", "b/1", "b/10", "b/2", "Z", "é", "日本/語", "a b/c+d&e%20'(x)"];
      await Promise.all(keys.map((key) => store.put(key, text(key))));
      const ordered = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect(await keysOf(store)).toEqual(ordered);
      for (const prefix of ["a", "a/", "a/b", "b/1", "b", "日本/", "none/", "a b/"]) {
        const expected = ordered.filter((key) => key.startsWith(prefix));
        expect(await keysOf(store, prefix)).toEqual(expected);
        for (const after of expected) {
          expect(await keysOf(store, prefix, after)).toEqual(expected.slice(expected.indexOf(after) + 1));
        }
      }
      expect(await keysOf(store, "b/", "b/0")).toEqual(["b/1", "b/10", "b/2"]);
      for (const key of keys) expect((await store.get(key))!.bytes.toString()).toBe(key);
    });

    test("lists and removes more objects than fit into a page or a request", async () => {
      const store = await make();
      const keys = Array.from({ length: size("OBJECTS", 150, 1_100) }, (_, i) => `many/${String(i).padStart(5, "0")}`);
      for (let i = 0; i < keys.length; i += 50) {
        await Promise.all(keys.slice(i, i + 50).map((key) => store.create(key, text("x"))));
      }
      expect(await keysOf(store, "many/")).toEqual(keys);
      await store.remove(keys.slice(0, -50));
      expect(await keysOf(store, "many/")).toEqual(keys.slice(-50));
    });

    test("removes objects, and those that do not exist too", async () => {
      const store = await make();
      await store.put("a & <b>", text("x"));
      await store.put("d/c", text("x"));
      await store.remove(["a & <b>", "d/none", "e/none"]);
      expect(await keysOf(store)).toEqual(["d/c"]);
      await store.remove([]);
      await store.remove(["d/c"]);
      expect(await keysOf(store)).toEqual([]);
    });

    test("stores files and empty objects", async () => {
      const store = await make();
      const path = join(await temporaryFolder(), "file");
      const bytes = randomBytes(3_000_000);
      await writeFile(path, bytes);
      const tag = await store.put("data/file", { path });
      expect((await store.get("data/file"))!.bytes.equals(bytes)).toBe(true);
      expect(await collect(store.list(""))).toMatchObject([{ size: bytes.length, tag }]);
      await store.put("data/empty", text(""));
      expect((await store.get("data/empty"))!.bytes).toHaveLength(0);
    });

    test("yields the parts of a large object in order", async () => {
      const store = await make();
      const bytes = randomBytes((20 << 20) + 12_345);
      await store.put("large", bytes);
      const hash = createHash("sha256");
      const sizes: number[] = [];
      for await (const piece of fetchObject(store, "large", [0, bytes.length])) {
        hash.update(piece);
        sizes.push(piece.length);
      }
      expect(hash.digest("hex")).toBe(createHash("sha256").update(bytes).digest("hex"));
      expect(sizes).toHaveLength(7);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(8 << 20);
    });

    test("does not take a shorter or missing object for the expected one", async () => {
      const store = await make();
      await store.put("short", randomBytes(9 << 20));
      const readAll = (key: string, bytes: number): Promise<unknown> => collect(fetchObject(store, key, [0, bytes]));
      await expect(readAll("short", 10 << 20)).rejects.toThrow("were requested");
      await expect(readAll("short", 20 << 20)).rejects.toThrow("were requested");
      await expect(readAll("none", 20 << 20)).rejects.toThrow("none does not exist");
    });

    test("yields some bytes of an object", async () => {
      const store = await make();
      const bytes = randomBytes(3 << 20);
      await store.put("large", bytes);
      for (const [from, to] of [
        [5, 9],
        [1_000_000, bytes.length],
        [7, 7],
      ] as const) {
        const pieces: Buffer[] = [];
        for await (const piece of fetchObject(store, "large", [from, to])) pieces.push(piece);
        expect(Buffer.concat(pieces).equals(bytes.subarray(from, to))).toBe(true);
      }
    });

    test("ends a download when the caller leaves it", async () => {
      const store = await make();
      const size = 60 << 20;
      await store.put("large", randomBytes(size));
      for await (const piece of fetchObject(store, "large", [0, size])) {
        expect(piece).toHaveLength(8 << 20);
        break;
      }
      const stop = AbortSignal.abort(new Error("enough"));
      await expect(fetchObject(store, "large", [0, size], stop).next()).rejects.toThrow("enough");
    });

    test.each(["", "/a", "a/", "a//b", "../a", "a/../b", "./a", "a\0b", "a\nb", "a\\b", ".objects/x", "x".repeat(300)])(
      "refuses the key %j",
      async (key) => {
        const store = await make();
        await expect((async () => store.put(key, text("x")))()).rejects.toThrow(RangeError);
        await expect((async () => store.get(key))()).rejects.toThrow(RangeError);
        await expect((async () => store.remove([key]))()).rejects.toThrow(RangeError);
      },
    );

    test("refuses prefixes that lead out of it", async () => {
      const store = await make();
      for (const prefix of ["../", "a/../../", "/etc/", "./"]) {
        await expect(collect(store.list(prefix))).rejects.toThrow(RangeError);
      }
    });
  });
}
