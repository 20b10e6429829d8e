// An ingester without waiting: its clock stands still until a test moves it on.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Scalar } from "../../src/engine/statements.js";
import { openWriter } from "../../src/engine/writer.js";
import { createIntegrity } from "../../src/lake/integrity.js";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import { latestEntries, readLedger, type LedgerEntry } from "../../src/lake/ledger.js";
import { openIngester, type IngestOptions } from "../../src/inbox/ingest.js";
import { scan } from "../../src/store/datafile.js";
import type { RetentionPolicy } from "../../src/store/vacuum.js";
import { filesOf, isMirror } from "./lakes.js";
import { mirrorAt } from "./mirrors.js";

export interface TestIngester {
  readonly logged: string[];
  /** Moves the clock on, then looks once and begins what is due. */
  begin(milliseconds: number): Promise<void>;
  /** Resolves when no drop is being taken. */
  taken(): Promise<boolean>;
  /** Moves the clock on, then looks once, without waiting for what is done beside the drops. */
  step(milliseconds: number): Promise<void>;
  /** The same, and waits until the lake is tidied up. */
  after(milliseconds: number): Promise<void>;
  /** Lets everything that lies there be taken, refused ones included, and the housekeeping be done. */
  settle(): Promise<void>;
  readonly now: () => Date;
}

const POLICY: RetentionPolicy = { grace: 900_000, newest: 50, retention: 90 * 86_400_000 };

export async function ingester(
  root: string,
  policy = POLICY,
  bounds: Partial<Pick<IngestOptions, "maxDrop" | "memory" | "limits" | "strict" | "timer">> = {},
): Promise<TestIngester> {
  const logged: string[] = [];
  let now = Math.max(Date.now(), Date.parse((await openLake(root)).current().version.data_version));
  const opened = await openIngester(root, {
    memory: "1GB",
    maxDrop: 1e9,
    threads: 1,
    policy,
    now: () => new Date(now),
    clock: () => now,
    timer: () => 0,
    log: (line) => logged.push(line),
    signal: new AbortController().signal,
    ...bounds,
  });
  const begin = async (milliseconds: number): Promise<void> => {
    now += milliseconds;
    await opened.step();
  };
  const step = async (milliseconds: number): Promise<void> => {
    now += milliseconds;
    do await opened.step();
    while (await opened.taken());
  };
  const after = async (milliseconds: number): Promise<void> => {
    await step(milliseconds);
    await opened.maintained();
  };
  return {
    logged,
    begin,
    taken: opened.taken,
    step,
    after,
    now: () => new Date(now),
    async settle() {
      // A bucket is looked at every two seconds, and what was fetched of it is seen at the next step.
      for (const wait of [...(isMirror ? [2_600, 100] : [0]), 600, 4_000, 600]) await after(wait);
    },
  };
}

/** The path of a drop, relative to the inbox, as a file: in the data directory or behind the bucket. */
export const dropFile = async (root: string, path: string): Promise<string> => join(await filesOf(root), "inbox", path);

/** Writes a file of the inbox, in one go. */
export async function drop(root: string, path: string, content: string | Buffer): Promise<string> {
  const file = await dropFile(root, path);
  if (isMirror) {
    await (await mirrorAt(root)).objects.put(`inbox/${path}`, Buffer.from(content));
    return file;
  }
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
  return file;
}

/** A CSV file of `adj_factor`: each line is code, date, factor. */
export const factors = (...lines: readonly string[]): string =>
  ["ts_code,trade_date,adj_factor", ...lines, ""].join("\n");

export const ledgerOf = (root: string): Promise<readonly LedgerEntry[]> => readLedger(layoutOf(root).ledger);

/** The last entry of each path, as path and outcome. */
export async function outcomesOf(root: string): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries(latestEntries(await ledgerOf(root)).map(({ path, outcome }) => [path, outcome]));
}

export const sequenceOf = async (root: string): Promise<number> => (await openLake(root)).current().version.sequence;

/** The rows of an entity that are served, in order, each as its values. */
export async function servedRows(root: string, entity: string): Promise<readonly (readonly Scalar[])[]> {
  const lake = await openLake(root);
  const { byDate } = lake.current().files(entity);
  if (byDate.length === 0) return [];
  await createIntegrity(lake.layout).check(byDate);
  const writer = await openWriter({ memory: "1GB", tempDirectory: root, threads: 1 });
  try {
    return (await writer.rows(`SELECT * FROM ${scan(lake.layout, byDate)}`)).map((row) => Object.values(row));
  } finally {
    writer.close();
  }
}
