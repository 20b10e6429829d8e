// Is a file still what the manifest says? Checked when a process first opens it, and again when it changed on disk.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { DataFile } from "./manifest.js";

/** A data file that is gone, cut short or changed. It is never read. */
export class DamagedFileError extends Error {
  constructor(
    /** Relative to the lake folder. */
    readonly path: string,
    readonly reason: string,
  ) {
    super(`${path}: ${reason}`);
    this.name = "DamagedFileError";
  }
}

export interface Integrity {
  /** Resolves when every file is proven to be what the manifest says; rejects with DamagedFileError otherwise. */
  check(files: readonly DataFile[]): Promise<void>;
  /** The files found damaged so far. */
  damaged(): readonly string[];
}

export function createIntegrity(lakeFolder: string): Integrity {
  const proven = new Map<string, string>();
  const running = new Map<string, Promise<void>>();
  const damaged = new Set<string>();

  const prove = async (file: DataFile): Promise<void> => {
    const path = join(lakeFolder, file.path);
    const found = await stat(path).catch(() => undefined);
    if (!found) throw new DamagedFileError(file.path, "the file is missing");
    const identity = `${found.ino}:${found.size}:${found.mtimeMs}:${found.ctimeMs}`;
    if (proven.get(file.path) === identity) return;
    if (found.size !== file.bytes) {
      throw new DamagedFileError(file.path, `the file has ${found.size} bytes instead of ${file.bytes}`);
    }
    if ((await sha256OfFile(path)) !== file.sha256)
      throw new DamagedFileError(file.path, "the checksum does not match");
    proven.set(file.path, identity);
  };

  const checkOne = (file: DataFile): Promise<void> => {
    let check = running.get(file.path);
    if (!check) {
      check = prove(file)
        .then(() => void damaged.delete(file.path))
        .catch((error: unknown) => {
          if (error instanceof DamagedFileError) damaged.add(file.path);
          throw error;
        })
        .finally(() => running.delete(file.path));
      running.set(file.path, check);
    }
    return check;
  };

  return {
    async check(files) {
      await Promise.all(files.map(checkOne));
    },
    damaged: () => [...damaged],
  };
}

/** SHA-256 of a file's bytes, read in pieces. */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(piece as Buffer);
  return hash.digest("hex");
}
