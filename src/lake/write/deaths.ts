// Files at which the ingesting process died: one that kills it again and again is refused, so that the others go on.
import { readFile, rm, writeFile } from "node:fs/promises";
import type { Layout } from "../layout.js";

/** A file is refused when the process died so often while it was taken; a restart may come at a bad moment too. */
export const MOST_DEATHS = 3;

/** How often the process died while a file was being taken, by path. Counts the death of the process before this one. */
export async function readDeaths(layout: Layout): Promise<Map<string, number>> {
  const text = await readFile(layout.taking, "utf8").catch(() => "");
  try {
    const before = JSON.parse(text) as Readonly<Record<string, number>>;
    return new Map(Object.entries(before).map(([path, deaths]) => [path, deaths + 1]));
  } catch {
    return new Map();
  }
}

/** Runs `work` with a note of the files that it takes, which is left where the process dies. */
export async function taking<T>(
  layout: Layout,
  paths: readonly string[],
  deaths: ReadonlyMap<string, number>,
  work: () => Promise<T>,
): Promise<T> {
  // The others keep their count until they are taken or refused.
  const counts = {
    ...Object.fromEntries(deaths),
    ...Object.fromEntries(paths.map((path) => [path, deaths.get(path) ?? 0])),
  };
  await writeFile(layout.taking, JSON.stringify(counts));
  try {
    return await work();
  } finally {
    await rm(layout.taking, { force: true });
  }
}
