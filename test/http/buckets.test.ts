import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createBuckets, createWrongTokens, networkOf } from "../../src/http/limits.js";

const SECOND = 1000;

describe("a bucket", () => {
  test("gives its quota at once, then refills evenly", () => {
    const buckets = createBuckets(6, 60 * SECOND, 10);
    const given = Array.from({ length: 7 }, () => buckets.take("a", 0));
    expect(given.map(({ allowed }) => allowed)).toEqual([true, true, true, true, true, true, false]);
    expect(given.map(({ remaining }) => remaining)).toEqual([5, 4, 3, 2, 1, 0, 0]);
    expect(given.at(-1)).toEqual({ allowed: false, remaining: 0, reset: 60, retryAfter: 10 });
    expect(buckets.hasAny("a", 9 * SECOND)).toBe(false);
    expect(buckets.take("a", 10 * SECOND).allowed).toBe(true);
    expect(buckets.take("a", 10 * SECOND).allowed).toBe(false);
    expect(buckets.take("a", 1000 * SECOND).remaining).toBe(5);
  });

  test("counts each key for itself", () => {
    const buckets = createBuckets(1, SECOND, 10);
    expect([buckets.take("a", 0), buckets.take("b", 0), buckets.take("a", 0)].map(({ allowed }) => allowed)).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("is forgotten when too many other keys were used after it", () => {
    const buckets = createBuckets(1, 60 * SECOND, 3);
    buckets.take("a", 0);
    for (const key of ["b", "c"]) buckets.take(key, 0);
    expect(buckets.hasAny("a", 0)).toBe(false);
    buckets.take("d", 0);
    expect(buckets.hasAny("a", 0)).toBe(true);
    expect(buckets.hasAny("b", 0)).toBe(false);
  });

  test("gives no more than its quota and what refilled, and is right about when to come back", () => {
    const steps = fc.array(fc.integer({ min: 0, max: 5 * SECOND }), { maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), steps, (quota, waits) => {
        const window = 10 * SECOND;
        const buckets = createBuckets(quota, window, 5);
        let at = 0;
        let given = 0;
        for (const wait of waits) {
          at += wait;
          const { allowed, retryAfter } = buckets.take("a", at);
          if (allowed) given++;
          else expect(buckets.hasAny("a", at + retryAfter * SECOND + 1)).toBe(true);
        }
        expect(given).toBeLessThanOrEqual(quota + (at / window) * quota + 1e-6);
      }),
    );
  });
});

describe("wrong tokens", () => {
  test("from one address are slowed after thirty in a minute; another address is not", () => {
    let now = 0;
    const wrong = createWrongTokens(30, () => now);
    const codes = Array.from({ length: 31 }, () => wrong.count("10.0.0.1").code);
    expect(codes.filter((code) => code === "unauthorized")).toHaveLength(30);
    expect(wrong.count("10.0.0.1")).toMatchObject({ code: "too_many_requests", extras: { retryAfter: 2 } });
    expect([wrong.mayTry("10.0.0.1"), wrong.mayTry("10.0.0.2")]).toEqual([false, true]);
    now += 2 * SECOND;
    expect(wrong.count("10.0.0.1").code).toBe("unauthorized");
  });

  test.each([
    ["10.0.0.1", "10.0.0.1"],
    ["::ffff:10.0.0.1", "::ffff:10.0.0.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["2001:db8:1:2::", "2001:db8:1:2"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    [undefined, ""],
  ])("%s is counted as %s", (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
