// Files of the state that are replaced as a whole, such as the tokens: in the data directory or, for a mirror, in its bucket.
import { rm } from "node:fs/promises";
import { writeDurably } from "../durable.js";
import { withLock } from "../lock.js";
import { readOrNone } from "../files.js";
import { nameOf, type Layout } from "../lake/layout.js";
import { mirrorOf } from "../lake/mirror/mirror.js";
import { LostRaceError, untilWon } from "./contention.js";

/**
 * Replaces a file by what `edit` makes of its text, which is undefined if there is no file. No other edit is lost. `edit`
 * is called again if the file was changed meanwhile.
 */
export async function editFile(
  layout: Layout,
  path: string,
  lock: string,
  edit: (text: string | undefined) => string,
): Promise<void> {
  await withLock(lock, async () => {
    const mirror = await mirrorOf(layout);
    if (mirror === null) return writeDurably(path, edit(await readOrNone(path)));
    const key = nameOf(layout, path);
    await untilWon(key, async () => {
      const found = await mirror.objects.get(key);
      const text = edit(found?.bytes.toString("utf8"));
      const bytes = Buffer.from(text);
      const tag = found
        ? await mirror.objects.replaceIf(key, bytes, found.tag)
        : await mirror.objects.create(key, bytes);
      if (tag === undefined) throw new LostRaceError();
      await writeDurably(path, text);
    });
  });
}

/** Writes a file unless there is one. */
export async function createShared(layout: Layout, path: string, text: string): Promise<void> {
  const mirror = await mirrorOf(layout);
  if (mirror === null) return writeDurably(path, text);
  await mirror.objects.create(nameOf(layout, path), Buffer.from(text));
  await mirror.pull.files(path);
}

/** Writes a file, whatever it held before. */
export async function putShared(layout: Layout, path: string, text: string): Promise<void> {
  const mirror = await mirrorOf(layout);
  await mirror?.objects.put(nameOf(layout, path), Buffer.from(text));
  await writeDurably(path, text);
}

export async function removeShared(layout: Layout, path: string): Promise<void> {
  const mirror = await mirrorOf(layout);
  await mirror?.objects.remove([nameOf(layout, path)]);
  await rm(path, { force: true });
}
