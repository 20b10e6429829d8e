import { expect, test } from "vitest";
import { giveBack, lendBuffer, PIECE } from "../../src/segments/store.js";

test("a buffer is reused only after it was given back, as a whole or in part", () => {
  const one = lendBuffer();
  const other = lendBuffer();
  expect([one.length, other.buffer === one.buffer]).toEqual([PIECE, false]);
  giveBack(one.subarray(0, 10));
  const again = lendBuffer();
  expect([again.length, again.buffer === one.buffer]).toEqual([PIECE, true]);
});

test("one that is given back twice is lent once, and other bytes never", () => {
  const one = lendBuffer();
  giveBack(one);
  giveBack(one);
  giveBack(Buffer.alloc(PIECE));
  const lent = Array.from({ length: 20 }, lendBuffer);
  expect(new Set(lent.map(({ buffer }) => buffer)).size).toBe(20);
});

test("few unused buffers are kept", () => {
  const lent = Array.from({ length: 40 }, lendBuffer);
  lent.forEach(giveBack);
  const known = new Set(lent.map(({ buffer }) => buffer));
  expect(Array.from({ length: 40 }, lendBuffer).filter(({ buffer }) => known.has(buffer)).length).toBe(8);
});
