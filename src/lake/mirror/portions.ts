// What a mirror has of a data file: the whole file, or an excerpt, which has some of its row groups and holes elsewhere.
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Layout } from "../layout.js";
import type { DataFile } from "../manifest.js";

/** All or some bytes of a data file, in a file of the mirror that never changes. */
export interface Portion {
  readonly file: DataFile;
  /** Where it is, relative to the lake folder. */
  readonly path: string;
  /** The bytes that it has, in their order. */
  readonly stretches: readonly Stretch[];
}

/** Consecutive bytes with their checksum. */
export interface Stretch {
  /** First byte, and the byte after the last one. */
  readonly range: readonly [number, number];
  readonly sha256: string;
  /** What it is, for messages. */
  readonly name: string;
}

export const wholeOf = (file: DataFile): Portion => ({
  file,
  path: file.path,
  stretches: [{ range: [0, file.bytes], sha256: file.sha256, name: "the object" }],
});

/** All row groups of a file, and its footer; none if its list does not have them. */
export const stretchesOf = (layout: Layout, file: DataFile): readonly Stretch[] =>
  file.rowGroups ? excerptOf(layout, file, [...file.rowGroups.groups.keys()]).stretches : [];

/** Some row groups of a file, which has such, by their ascending numbers. */
export function excerptOf(layout: Layout, file: DataFile, numbers: readonly number[]): Portion {
  const { groups, footer } = file.rowGroups!;
  const startOf = (number: number): number => groups[number - 1]?.end ?? 0;
  const stretches = numbers.map((number): Stretch => {
    const { end, sha256 } = groups[number]!;
    return { range: [startOf(number), end], sha256, name: `row group ${number}` };
  });
  const rest: Stretch = {
    range: [startOf(groups.length), file.bytes],
    sha256: footer,
    name: "the footer",
  };
  const folder = layout.excerpts.slice(layout.lake.length + 1);
  const path = join(folder, file.path.replace(/\.parquet$/, `.${runsOf(numbers)}.parquet`));
  return { file, path, stretches: [...stretches, rest] };
}

export const isWhole = ({ file, path }: Portion): boolean => path === file.path;

export const bytesIn = (stretches: readonly Stretch[]): number =>
  stretches.reduce((sum, { range: [from, to] }) => sum + to - from, 0);

/** Ascending numbers as text, e.g. `0-2+7`. */
function runsOf(numbers: readonly number[]): string {
  const starts = numbers.filter((number, i) => number - 1 !== numbers[i - 1]);
  const ends = numbers.filter((number, i) => number + 1 !== numbers[i + 1]);
  return starts.map((start, i) => (start === ends[i] ? `${start}` : `${start}-${ends[i]}`)).join("+");
}

const PIECE = 1 << 20;

/** The SHA-256 of some bytes of an open file. */
export async function sha256OfRange(handle: FileHandle, [from, to]: Stretch["range"]): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(Math.min(PIECE, to - from));
  for (let at = from; at < to;) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(PIECE, to - at), at);
    if (bytesRead === 0) break;
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hash.digest("hex");
}
