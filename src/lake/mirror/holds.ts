// Which fetched files are being read. Each process lists its own in a file, so that no process removes what another reads.
import { appendFileSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Layout } from "../layout.js";

/** The files that this process reads or has read of late. Paths are relative to the lake folder. */
export interface Holds {
  /** Lists files as being read. They are listed when this returns, and none is if it throws, as on a full disk. */
  hold(paths: readonly string[]): void;
  release(paths: readonly string[]): void;
  /** Writes down which files were released, which otherwise happens a few seconds later. */
  flush(): void;
}

/** Milliseconds that a file counts as used after it was read. */
const LINGERS = 600_000;
const BEAT_EVERY = 10_000;
/** A list that was not touched for this long belongs to no living process. Milliseconds. */
const DEAD_AFTER = 60_000;

/** The time of a file that is being read. */
const NOW = "now";

export function createHolds(layout: Layout): Holds {
  const list = join(layout.holds, `${process.pid}-${randomUUID()}`);
  /** Path → how many readers it has, and when the last one left. */
  const held = new Map<string, { readers: number; usedAt: number }>();
  const listed = new Set<string>();
  let beating: NodeJS.Timeout | undefined;

  // Nothing here waits, so that no path is listed while the list is being rewritten.
  const rewrite = (): void => {
    const now = Date.now();
    for (const [path, { readers, usedAt }] of held) if (readers === 0 && now - usedAt > LINGERS) held.delete(path);
    listed.clear();
    const lines = [...held].map(([path, { readers, usedAt }]) => {
      if (readers > 0) listed.add(path);
      return `${path}\t${readers > 0 ? NOW : usedAt}\n`;
    });
    writeFileSync(`${list}.tmp`, lines.join(""));
    renameSync(`${list}.tmp`, list);
  };
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch {
      // The folder is gone, and whoever reads next makes it again; or the disk is full, and files stay listed for longer.
    }
  };
  const flush = (): void => {
    if ([...listed].some((path) => held.get(path)?.readers === 0)) attempt(rewrite);
  };
  const beat = (): void => {
    attempt(() => utimesSync(list, new Date(), new Date()));
    flush();
  };

  openLists.add(list);
  return {
    hold(paths) {
      const fresh = paths.filter((path) => !listed.has(path));
      if (fresh.length > 0) {
        mkdirSync(layout.holds, { recursive: true });
        // A full disk may have cut the line before.
        appendFileSync(list, fresh.map((path) => `\n${path}\t${NOW}\n`).join(""));
        for (const path of fresh) listed.add(path);
      }
      for (const path of paths) {
        const one = held.get(path);
        if (one) one.readers++;
        else held.set(path, { readers: 1, usedAt: 0 });
      }
      beating ??= setInterval(beat, BEAT_EVERY).unref();
    },
    release(paths) {
      for (const path of paths) {
        const one = held.get(path);
        if (!one) continue;
        one.readers--;
        one.usedAt = Date.now();
      }
    },
    flush,
  };
}

/** Lists of this process, which go when it ends. */
const openLists = new Set<string>();
process.once("exit", () => {
  for (const list of openLists) rmSync(list, { force: true });
});

/** When files were used last, in milliseconds; Infinity for those that are being read. Others are absent. */
export async function lastUses(layout: Layout): Promise<ReadonlyMap<string, number>> {
  const uses = new Map<string, number>();
  for (const name of await readdir(layout.holds).catch((): string[] => [])) {
    const list = join(layout.holds, name);
    const found = await stat(list).catch(() => undefined);
    if (!found) continue;
    if (Date.now() - found.mtimeMs > DEAD_AFTER) {
      rmSync(list, { force: true });
      continue;
    }
    const text = await readFile(list, "utf8").catch(() => "");
    for (const line of text.split("\n")) {
      const [path, time] = line.split("\t");
      const usedAt = time === NOW ? Infinity : Number(time);
      if (path !== undefined && !Number.isNaN(usedAt)) uses.set(path, Math.max(uses.get(path) ?? 0, usedAt));
    }
  }
  return uses;
}
