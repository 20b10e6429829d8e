// Crash-safe writing: flushes to the disk, and small files that are either missing or complete after a crash.
import { constants } from "node:fs";
import { access, link, mkdir, open, readFile, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { lacksLinks } from "./files.js";

const SUFFIX = ".tmp";

/** The name of a small file until it is complete. */
export const temporaryOf = (path: string): string => path + SUFFIX;

/** Removes what unfinished writes left in a folder. Nobody may write there meanwhile. */
export async function removeTemporaries(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) if (name.endsWith(SUFFIX)) await rm(join(folder, name), { force: true });
}

type Content = string | Iterable<string> | AsyncIterable<Uint8Array>;

/**
 * Writes a small file, or a larger one in pieces: temporary file, fsync, rename, fsync of the folder. Only one caller at
 * a time may write a path.
 */
export const writeDurably = (path: string, content: Content): Promise<void> => writeAs(path, content, rename);

/** The same for a new file. Fails with EEXIST if the file exists. */
export const createDurably = (path: string, text: string): Promise<void> =>
  writeAs(path, text, (temporary) =>
    link(temporary, path).catch((error: unknown) => {
      if (!lacksLinks(error)) throw error;
      return createInPlace(path, Buffer.from(text));
    }),
  );

async function writeAs(
  path: string,
  content: Content,
  take: (temporary: string, path: string) => Promise<void>,
): Promise<void> {
  const temporary = temporaryOf(path);
  try {
    const handle = await open(temporary, "w");
    try {
      for await (const part of typeof content === "string" ? [content] : content) await handle.writeFile(part);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await take(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncPath(dirname(path));
}

/**
 * Creates a file without hard links. A crash leaves a part of it, which the next writer removes. Fails with EEXIST if
 * the file exists, or if another writer removed ours as such a part and created its own.
 */
async function createInPlace(path: string, content: Buffer): Promise<void> {
  const handle = await open(path, "wx");
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  const found = await readFile(path).catch(() => null);
  if (!found?.equals(content)) throw Object.assign(new Error(`${path} was replaced`), { code: "EEXIST" });
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
