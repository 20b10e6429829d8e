// The free disk space, and the reserve that drops must leave: tokens, gaps and the ledger need space too.
import { statfs } from "node:fs/promises";
import type { Layout } from "./layout.js";

export interface DiskSpace {
  /** Free bytes of the file system. */
  readonly free: number;
  /** Drops wait while fewer bytes than this are free. */
  readonly reserve: number;
}

const LARGEST_RESERVE = 1e9;
const RESERVED_PART = 0.05;

/** The free space of the file system of `state/` or of `lake/`, whichever is closer to its reserve. */
export async function freeSpace({ root, lake }: Layout): Promise<DiskSpace> {
  const [ofRoot, ofLake] = await Promise.all([root, lake].map(freeSpaceAt));
  const room = ofRoot ?? NOTHING_KNOWN;
  return ofLake && ofLake.free - ofLake.reserve < room.free - room.reserve ? ofLake : room;
}

export const isShort = ({ free, reserve }: DiskSpace): boolean => free < reserve;

const NOTHING_KNOWN: DiskSpace = { free: 0, reserve: 0 };

async function freeSpaceAt(path: string): Promise<DiskSpace | undefined> {
  const found = await statfs(path).catch(() => undefined);
  if (!found) return undefined;
  const reserve = Math.min(LARGEST_RESERVE, found.blocks * found.bsize * RESERVED_PART);
  return { free: found.bavail * found.bsize, reserve };
}
