// A backup as a tar archive, in a file or on standard output. Its manifest comes last, so a part of it is no backup.
import { createHash } from "node:crypto";
import { open, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { OperatorError } from "../errors.js";
import { isAbsent, piecesOf, writeAll } from "../files.js";
import { DamagedFileError } from "../lake/damaged-file.js";
import type { DataFile } from "../lake/manifest.js";
import { syncPath } from "../durable.js";
import { dataPath, encodeManifest, MANIFEST, MARKER, MARKER_TEXT, type Target } from "./format.js";
import { END, header, padding } from "./tar.js";

type Write = (bytes: Uint8Array) => Promise<void>;

/** Writes an archive into a file, which gets its name when it is complete. */
export async function withArchive<T>(path: string, now: Date, work: (target: Target) => Promise<T>): Promise<T> {
  const temporary = `${path}.part`;
  const folder = dirname(resolve(path));
  if (!(await stat(folder).catch(() => undefined))?.isDirectory())
    throw new OperatorError(`there is no folder ${folder}: create it first`);
  const handle = await open(temporary, "w", 0o600);
  try {
    const result = await work(archiveTarget((bytes) => writeAll(handle, bytes), now));
    await handle.sync();
    await handle.close();
    await rename(temporary, path);
    await syncPath(folder);
    return result;
  } finally {
    await handle.close().catch(() => undefined);
    await rm(temporary, { force: true });
  }
}

/** Writes an archive to a stream, such as standard output. */
export async function withStream<T>(
  out: NodeJS.WriteStream,
  now: Date,
  work: (target: Target) => Promise<T>,
): Promise<T> {
  let failure: Error | undefined;
  out.on("error", (error: Error) => (failure = error));
  const write: Write = (bytes) =>
    new Promise((done, fail) => {
      if (failure) fail(failure);
      else out.write(bytes, (error) => (error ? fail(error) : done()));
    });
  try {
    return await work(archiveTarget(write, now));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
    throw new OperatorError("the program that reads the archive ended before it was complete");
  }
}

function archiveTarget(write: Write, now: Date): Target {
  const addText = async (path: string, text: string): Promise<void> => {
    const bytes = Buffer.from(text);
    await write(header(path, bytes.length, now));
    await write(bytes);
    await write(padding(bytes.length));
  };
  let began: Promise<void> | undefined;
  const begin = (): Promise<void> => (began ??= addText(MARKER, MARKER_TEXT));
  return {
    previous: null,
    async addFile(file, from) {
      await begin();
      await addFile(write, file, from, now);
      return true;
    },
    async addText(path, text) {
      await begin();
      await addText(path, text);
    },
    async complete(manifest) {
      await addText(MANIFEST, encodeManifest(manifest));
      await write(END);
      return 0;
    },
  };
}

/** Once opened, a file can be read to its end, even if a vacuum removes it meanwhile. */
async function addFile(write: Write, { path, bytes, sha256 }: DataFile, from: string, now: Date): Promise<void> {
  const handle = await open(from).catch((error: unknown) => {
    if (isAbsent(error)) throw new DamagedFileError(path, "the file is missing", true);
    throw error;
  });
  try {
    const { size } = await handle.stat();
    if (size !== bytes) throw new DamagedFileError(path, `the file has ${size} bytes instead of ${bytes}`);
    await write(header(dataPath(path), size, now));
    const hash = createHash("sha256");
    let read = 0;
    for await (const piece of piecesOf(handle)) {
      hash.update(piece);
      read += piece.length;
      if (read > size) break;
      await write(piece);
    }
    if (read !== size || hash.digest("hex") !== sha256) throw new DamagedFileError(path, "the checksum does not match");
    await write(padding(size));
  } finally {
    await handle.close();
  }
}
