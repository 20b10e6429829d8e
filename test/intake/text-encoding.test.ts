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
