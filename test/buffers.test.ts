import { expect, test } from "vitest";
import { cutBuffer, giveBuffer, takeBuffer } from "../src/buffers.js";

const SIZE = 1 << 20;

test("a buffer is used again only after it was given back", () => {
  const one = takeBuffer(SIZE);
  const other = takeBuffer(SIZE);
  expect([one.length, other.buffer === one.buffer]).toEqual([SIZE, false]);
  giveBuffer(one);
  const again = takeBuffer(SIZE - 10);
  expect([again.length, again.buffer === one.buffer]).toEqual([SIZE - 10, true]);
});

test("bytes that are given back twice are lent once, even if others hold them by then", () => {
  const one = takeBuffer(SIZE);
  giveBuffer(one);
  const next = takeBuffer(SIZE);
  expect(next.buffer).toBe(one.buffer);
  giveBuffer(one);
  giveBuffer(Buffer.alloc(SIZE));
  giveBuffer(next.subarray(0, 10));
  const taken = Array.from({ length: 20 }, () => takeBuffer(SIZE));
  expect(new Set([next, ...taken].map(({ buffer }) => buffer)).size).toBe(21);
});

test("a part takes the place of the whole", () => {
  const one = takeBuffer(SIZE);
  const part = cutBuffer(one, 1, 100);
  giveBuffer(one);
  expect(takeBuffer(SIZE).buffer).not.toBe(one.buffer);
  giveBuffer(part);
  expect(takeBuffer(SIZE).buffer).toBe(one.buffer);
});

test("few unused buffers are kept", () => {
  const taken = Array.from({ length: 80 }, () => takeBuffer(SIZE));
  taken.forEach(giveBuffer);
  const known = new Set(taken.map(({ buffer }) => buffer));
  const again = Array.from({ length: 80 }, () => takeBuffer(SIZE));
  expect(again.filter(({ buffer }) => known.has(buffer)).length).toBeLessThanOrEqual(64);
});
