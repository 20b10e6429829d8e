// Opens a serving copy and reads ranges of it. Only bytes with a verified checksum are returned.
import { readSync, type Stats } from "node:fs";
import { type FileHandle, open, rm, stat } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { type BatchTable, BLOCK, type CopyIndex, readEnd } from "./layout.js";
import type { Space } from "./space.js";

/** The bytes of a copy are not those that were written. */
export class DamagedCopyError extends Error {
  override readonly name = "DamagedCopyError";

  constructor(readonly copy: Copy) {
    super("a block of a serving copy is damaged");
  }
}

export interface Copy {
  readonly path: string;
  /** Of the file, which may not be the one with this path any more. Unique among open files. */
  readonly identity: string;
  readonly index: CopyIndex;
  readonly batches: BatchTable;
  /** The bytes of each range, in this order, in `space`. Throws DamagedCopyError, once nothing is read any more. */
  read(ranges: readonly ByteRange[], space: Space): Promise<readonly Uint8Array[]>;
  /** Whether the file still has a name. */
  isThere(): Promise<boolean>;
  /** Removes the file, unless its name belongs to another one by now. */
  remove(): Promise<void>;
  close(): Promise<void>;
}

/** Positions in the file, from inclusive to exclusive. */
export type ByteRange = readonly [from: number, to: number];

/** Ranges that are at most this many bytes apart are read at once: another read would take longer. */
const NEAR = 32 << 10;

/** A file that is no whole copy of the data file. */
export interface DamagedFile {
  readonly damaged: Pick<Copy, "remove">;
}

/** Reads bytes of a file, at most as many as `bytes` has; returns how many there were. */
export type ReadFile = (file: FileHandle, bytes: Buffer, at: number) => Promise<number>;

const readWhileOthersRun: ReadFile = async (file, bytes, at) => (await file.read(bytes, 0, bytes.length, at)).bytesRead;

/** Costs less, but the thread does nothing else meanwhile. */
export const readAtOnce: ReadFile = async ({ fd }, bytes, at) => readSync(fd, bytes, 0, bytes.length, at);

/** The copy of the data file with this checksum. Null if there is no file that can be read. */
export async function openCopy(
  path: string,
  sha256: string,
  readFile: ReadFile = readWhileOthersRun,
): Promise<Copy | DamagedFile | null> {
  const file = await open(path, "r").catch(() => null);
  if (file === null) return null;
  const readInto = async (bytes: Buffer, at: number): Promise<Buffer> =>
    bytes.subarray(0, await readFile(file, bytes, at));
  const found = await file.stat().catch(() => null);
  const known =
    found && (await readEnd(found.size, (at, length) => readInto(Buffer.alloc(length), at)).catch(() => null));
  if (found === null || known?.index.sha256 !== sha256) {
    await file.close();
    return { damaged: { remove: () => rm(path, { force: true }) } };
  }
  const { index, batches, checksums } = known;

  const check = (bytes: Buffer, block: number): void => {
    const isLast = block === checksums.length - 1;
    if (crc32(isLast ? bytes.subarray(0, index.bytes - block * BLOCK) : bytes) !== checksums[block]) {
      throw new DamagedCopyError(copy);
    }
  };
  const readSpan = async ({ from, to, blocks }: Span, space: Space): Promise<Buffer> => {
    const bytes = await readInto(space.take(to - from), from).catch(() => {
      throw new DamagedCopyError(copy);
    });
    for (const block of blocks) check(bytes.subarray(block * BLOCK - from, (block + 1) * BLOCK - from), block);
    return bytes;
  };

  const copy: Copy = {
    path,
    identity: identityOf(found),
    index,
    batches,
    async read(ranges, space) {
      const spans = spansOf(ranges);
      const read = await allDone(spans.map((span) => readSpan(span, space)));
      return ranges.map(([from, to]) => {
        if (from === to) return NOTHING;
        const i = spans.findIndex((span) => span.from <= from && to <= span.to);
        return read[i]!.subarray(from - spans[i]!.from, to - spans[i]!.from);
      });
    },
    isThere: async () => (await file.stat()).nlink > 0,
    async remove() {
      if (identityOf(await stat(path)) === copy.identity) await rm(path, { force: true });
    },
    close: () => file.close(),
  };
  return copy;
}

const identityOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

const NOTHING = new Uint8Array(0);

/** Like Promise.all, but waits for all in any case: what is still being read must not be used for anything else. */
export async function allDone<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(work);
  return results.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
}

/** Whole blocks that are read at once, and those of them that are needed. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly blocks: ReadonlySet<number>;
}

function spansOf(ranges: readonly ByteRange[]): readonly Span[] {
  const spans: { from: number; to: number; blocks: Set<number> }[] = [];
  const sorted = ranges.filter(([from, to]) => to > from).toSorted(([a], [b]) => a - b);
  for (const [start, end] of sorted) {
    const [first, after] = [Math.floor(start / BLOCK), Math.ceil(end / BLOCK)];
    let last = spans.at(-1);
    if (last === undefined || first * BLOCK > last.to + NEAR) {
      last = { from: first * BLOCK, to: after * BLOCK, blocks: new Set() };
      spans.push(last);
    }
    last.to = Math.max(last.to, after * BLOCK);
    for (let block = first; block < after; block++) last.blocks.add(block);
  }
  return spans;
}
