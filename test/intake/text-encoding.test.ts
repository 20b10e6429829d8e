// Encodings are detected in one pass, whatever characters are split between two pieces of the file.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { asUtf8, oneNewline } from "../../src/intake/text-encoding.js";
import { temporaryFolder } from "../support/folders.js";

/** Files are read in pieces of this size. */
const PIECE = 1 << 20;

const encodingOf = async (content: Buffer): Promise<string | null> => {
  const folder = await temporaryFolder();
  const path = join(folder, "x");
  await writeFile(path, content);
  return (await asUtf8(path, "x", folder)).decodedFrom;
};

const repeated = (offset: number, pattern: Buffer): Buffer =>
  Buffer.concat([
    Buffer.alloc(offset, "a"),
    Buffer.alloc(Math.ceil((2 * PIECE) / pattern.length) * pattern.length, pattern),
  ]);

describe.each([0, 1, 2, 3])("text with characters split %i bytes after the start of pieces,", (offset) => {
  test.each(["é", "数", "𠀀"])("is UTF-8 if it is full of %s", async (character) => {
    expect(await encodingOf(repeated(offset, Buffer.from(character)))).toBeNull();
  });

  test("is GB18030 if it is full of its pairs", async () => {
    expect(await encodingOf(repeated(offset, Buffer.from("caf5", "hex")))).toBe("GB18030");
  });

  test("is in an unknown encoding if a character is damaged", async () => {
    const damaged = repeated(offset, Buffer.from("数"));
    damaged[PIECE + 7] = 0xff;
    await expect(encodingOf(damaged)).rejects.toThrow("is not UTF-8 and is not recognized as GB18030");
  });
});

describe("a small file with a rare character", () => {
  const named = (...names: readonly string[]): Buffer =>
    Buffer.concat([Buffer.from("ts_code,name\n"), ...names.map((hex) => Buffer.from(`302c${hex}0a`, "hex"))]);

  test.each([
    ["of GBK: 镕 after 平安银行", named("c6bdb0b2d2f8d0d0e946")],
    ["of GBK: 瓛 beside 贵州茅台", named("b9f3d6ddc3a9cca8", "ad92")],
    ["of four bytes: 深㛃股份", named("c9ee8230b731b9c9b7dd")],
  ])("%s, is GB18030", async (_name, content) => {
    expect(await encodingOf(content)).toBe("GB18030");
  });

  test.each([
    ["and no other", named("ad92")],
    ["in Big5: 國泰金", named("b0eaaef5aaf7")],
    ["in Latin-1: é1é2", named("e931e932")],
  ])("%s, is refused with the way to convert it", async (_name, content) => {
    await expect(encodingOf(content)).rejects.toThrow("save it as UTF-8, e.g. with iconv -f GB18030 -t UTF-8");
  });
});

/** Milliseconds of the processor. */
const costOf = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

test("text without ASCII, or with one different line end at the end, takes about as long as other text", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "x");
  const read = async (content: Buffer): Promise<number> => {
    await writeFile(path, content);
    return costOf(async () => oneNewline((await asUtf8(path, "x", folder)).path, folder));
  };
  const size = 12 * PIECE;
  const odd = Buffer.alloc(size, "\n");
  for (let at = PIECE - 1; at < size; at += PIECE) odd[at] = 0x0d;
  const usual = await read(Buffer.alloc(size, "a,b\r\n"));
  expect(await read(Buffer.alloc(size, "数"))).toBeLessThan(usual * 5 + 200);
  expect(await read(odd)).toBeLessThan(usual * 5 + 200);
});
