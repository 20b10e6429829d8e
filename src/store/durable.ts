// Crash-safe writing: flushes to the disk, and small files that are either missing or complete after a crash.
import { constants } from "node:fs";
import { access, link, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";

/** The name of a small file until it is complete. */
export const temporaryOf = (path: string): string => `${path}.tmp`;

/**
 * Writes a small file, or a larger one in pieces: temporary file, fsync, rename, fsync of the folder. With `create`,
 * fails with EEXIST if the file exists. Only one caller at a time may write a path.
 */
export async function writeDurably(
  path: string,
  text: string | Iterable<string> | AsyncIterable<Uint8Array>,
  mode: "replace" | "create" = "replace",
): Promise<void> {
  const temporary = temporaryOf(path);
  try {
    const handle = await open(temporary, "w");
    try {
      for await (const part of typeof text === "string" ? [text] : text) await handle.writeFile(part);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (mode === "create") await link(temporary, path);
    else await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncPath(dirname(path));
}

/** Flushes a file or a folder to the disk. */
export async function syncPath(path: string): Promise<void> {
  const directory = (await stat(path)).isDirectory();
  const handle = await open(path, directory ? constants.O_RDONLY | constants.O_DIRECTORY : constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes a folder and its parents durably, below `base`. A missing `base` is an error: its disk may not be mounted. */
export async function makeFolderIn(base: string, path: string): Promise<void> {
  let above = base;
  for (const name of path.split(sep)) {
    const folder = join(above, name);
    const isNew = await mkdir(folder).then(
      () => true,
      (error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        return false;
      },
    );
    if (isNew) await syncPath(above);
    above = folder;
  }
}

/** Whether a path exists. Throws EACCES if this cannot be determined. */
export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "EACCES") throw error;
      return false;
    },
  );
