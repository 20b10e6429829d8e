// Opens a serving copy and reads ranges of it. Only bytes with a verified checksum are returned.
import { open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { BLOCK, type CopyIndex, readEnd } from "./layout.js";

/** The bytes of a copy are not those that were written. */
export class DamagedCopyError extends Error {
  override readonly name = "DamagedCopyError";

  constructor(readonly copy: Copy) {
    super("a block of a serving copy is damaged");
  }
}

export interface Copy {
  readonly index: CopyIndex;
  /** The bytes of each range, in this order. Throws DamagedCopyError. */
  read(ranges: readonly ByteRange[]): Promise<readonly Uint8Array[]>;
  close(): Promise<void>;
}

/** Positions in the file, from inclusive to exclusive. */
export type ByteRange = readonly [from: number, to: number];

/** Ranges that are at most this many bytes apart are read at once. */
const NEAR = 2 * BLOCK;

/** Null if there is no file that can be read; `damaged` if it is no whole copy of the Parquet file with this checksum. */
export async function openCopy(path: string, sha256: string): Promise<Copy | "damaged" | null> {
  const file = await open(path, "r").catch(() => null);
  if (file === null) return null;
  const readAt = async (at: number, length: number): Promise<Buffer> => {
    const bytes = Buffer.allocUnsafeSlow(length);
    const { bytesRead } = await file.read(bytes, 0, length, at);
    return bytes.subarray(0, bytesRead);
  };
  const known = await file
    .stat()
    .then(({ size }) => readEnd(size, readAt))
    .catch(() => null);
  if (known?.index.sha256 !== sha256) {
    await file.close();
    return "damaged";
  }
  const { index, checksums } = known;

  /** Reads whole blocks, the last of which may be short. */
  const readBlocks = async (first: number, end: number): Promise<Buffer> => {
    const bytes = await readAt(first * BLOCK, (end - first) * BLOCK).catch(() => {
      throw new DamagedCopyError(copy);
    });
    for (let block = first; block < end; block++) {
      const from = (block - first) * BLOCK;
      const content = bytes.subarray(from, Math.min(from + BLOCK, bytes.length));
      const isLast = block === checksums.length - 1;
      const checked = isLast ? content.subarray(0, index.bytes - block * BLOCK) : content;
      if (crc32(checked) !== checksums[block]) throw new DamagedCopyError(copy);
    }
    return bytes;
  };

  const copy: Copy = {
    index,
    async read(ranges) {
      const spans = joined(ranges);
      const read = await Promise.all(spans.map(([from, to]) => readBlocks(from / BLOCK, to / BLOCK)));
      return ranges.map(([from, to]) => {
        if (from === to) return NOTHING;
        const i = spans.findIndex(([start, end]) => start <= from && to <= end);
        return read[i]!.subarray(from - spans[i]![0], to - spans[i]![0]);
      });
    },
    close: () => file.close(),
  };
  return copy;
}

const NOTHING = new Uint8Array(0);

/** The blocks that hold the ranges, as byte ranges; near ones are one. */
function joined(ranges: readonly ByteRange[]): readonly ByteRange[] {
  const blocks = ranges
    .filter(([from, to]) => to > from)
    .map(([from, to]): ByteRange => [Math.floor(from / BLOCK) * BLOCK, Math.ceil(to / BLOCK) * BLOCK])
    .toSorted(([a], [b]) => a - b);
  const spans: [number, number][] = [];
  for (const [from, to] of blocks) {
    const last = spans.at(-1);
    if (last !== undefined && from <= last[1] + NEAR) last[1] = Math.max(last[1], to);
    else spans.push([from, to]);
  }
  return spans;
}
