import { describe, expect, test } from "vitest";
import { createCache } from "../../src/engine/cache.js";

const { signal: never } = new AbortController();

/** A value that is made when the test says so, and the signal that its maker was given. */
function slow(): {
  make: (signal: AbortSignal) => Promise<string>;
  finish: (value: string) => void;
  made: AbortSignal[];
} {
  const made: AbortSignal[] = [];
  let finish!: (value: string) => void;
  const value = new Promise<string>((resolve) => (finish = resolve));
  const make = (signal: AbortSignal): Promise<string> => {
    made.push(signal);
    return value;
  };
  return { make, finish, made };
}

describe("the cache", () => {
  test("makes a value once for all callers, while it is made and afterwards", async () => {
    const cache = createCache<string>(2);
    const { make, finish, made } = slow();
    const both = [cache.get("a", make, never), cache.get("a", make, never)];
    finish("value");
    expect(await Promise.all([...both, cache.get("a", make, never)])).toEqual(["value", "value", "value"]);
    expect(made).toHaveLength(1);
  });

  test("keeps the most recently used values", async () => {
    const cache = createCache<string>(2);
    const made: string[] = [];
    const ask = (key: string) => cache.get(key, async () => made[made.push(key) - 1]!, never);
    for (const key of ["a", "b", "a", "c", "a", "b"]) await ask(key);
    expect(made).toEqual(["a", "b", "c", "b"]);
  });

  test("does not keep a failure", async () => {
    const cache = createCache<string>(2);
    await expect(cache.get("a", () => Promise.reject(new Error("no")), never)).rejects.toThrow("no");
    expect(await cache.get("a", async () => "yes", never)).toBe("yes");
  });

  test("lets one caller leave without affecting the others", async () => {
    const cache = createCache<string>(2);
    const { make, finish, made } = slow();
    const leaving = new AbortController();
    const left = cache.get("a", make, leaving.signal);
    const stayed = cache.get("a", make, never);
    leaving.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    expect(made[0]!.aborted).toBe(false);
    finish("value");
    expect(await stayed).toBe("value");
  });

  test("abandons a value when all callers have left, and makes it again for the next one", async () => {
    const cache = createCache<string>(2);
    const { make, made } = slow();
    const leaving = new AbortController();
    const left = cache.get("a", make, leaving.signal);
    leaving.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    expect(made[0]!.reason).toEqual(new Error("gone"));
    expect(await cache.get("a", async () => "again", never)).toBe("again");
  });

  test("makes nothing for a caller that has left already", async () => {
    const cache = createCache<string>(2);
    const { make, made } = slow();
    await expect(cache.get("a", make, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
    expect(made).toEqual([]);
  });
});
