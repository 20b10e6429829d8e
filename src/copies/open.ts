// Opens a serving copy and reads ranges of it. Only bytes with a verified checksum are returned.
import { open } from "node:fs/promises";
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
  readonly index: CopyIndex;
  readonly batches: BatchTable;
  /** The bytes of each range, in this order, in `space`. Throws DamagedCopyError. */
  read(ranges: readonly ByteRange[], space: Space): Promise<readonly Uint8Array[]>;
  close(): Promise<void>;
}

/** Positions in the file, from inclusive to exclusive. */
export type ByteRange = readonly [from: number, to: number];

/** Ranges that are at most this many bytes apart are read at once: another read would take longer. */
const NEAR = 256 << 10;

/** Null if there is no file that can be read; `damaged` if it is no whole copy of the Parquet file with this checksum. */
export async function openCopy(path: string, sha256: string): Promise<Copy | "damaged" | null> {
  const file = await open(path, "r").catch(() => null);
  if (file === null) return null;
  const readInto = async (bytes: Buffer, at: number): Promise<Buffer> => {
    const { bytesRead } = await file.read(bytes, 0, bytes.length, at);
    return bytes.subarray(0, bytesRead);
  };
  const known = await file
    .stat()
    .then(({ size }) => readEnd(size, (at, length) => readInto(Buffer.alloc(length), at)))
    .catch(() => null);
  if (known?.index.sha256 !== sha256) {
    await file.close();
    return "damaged";
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
    index,
    batches,
    async read(ranges, space) {
      const spans = spansOf(ranges);
      const read =
        spans.length === 1
          ? [await readSpan(spans[0]!, space)]
          : await Promise.all(spans.map((span) => readSpan(span, space)));
      return ranges.map(([from, to]) => {
        if (from === to) return NOTHING;
        const i = spans.findIndex((span) => span.from <= from && to <= span.to);
        return read[i]!.subarray(from - spans[i]!.from, to - spans[i]!.from);
      });
    },
    close: () => file.close(),
  };
  return copy;
}

const NOTHING = new Uint8Array(0);

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
