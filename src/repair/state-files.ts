// Checks and repairs the files of the state folder other than the manifest.
import { createReadStream } from "node:fs";
import { copyFile } from "node:fs/promises";
import { OperatorError } from "../errors.js";
import { readRecordedGaps } from "../lake/gaps.js";
import type { Layout } from "../lake/layout.js";
import { inspectLedger, isLost, LEDGER_BEGIN, type LedgerContent } from "../lake/ledger.js";
import { encodeRemoved, readRemoved } from "../lake/kept-versions.js";
import { plural } from "../words.js";
import { writeDurably } from "../durable.js";
import { takeInventory, type Fault } from "./inventory.js";
import { nameOf } from "../store/journal.js";
import { tryLock } from "../lock.js";

/** A check for each file, which resolves to what is wrong with it; null if nothing is. */
const CHECKS: readonly (readonly [keyof Layout, (path: string, layout: Layout) => Promise<string | null>])[] = [
  ["ledger", checkLedger],
  ["removed", async (path) => ((await readRemoved(path)).isDamaged ? "the list of removed versions is damaged" : null)],
  ["gaps", async (path) => readRecordedGaps(path).then(() => null)],
];

async function checkLedger(_: string, layout: Layout): Promise<string | null> {
  const { content, isLost } = await readLedgerOf(layout);
  if (isLost) return "it is empty or missing although drops were imported; no drop is imported until it is repaired";
  const [line] = content.damaged;
  return line === undefined ? null : `line ${line} is damaged; no drop is imported until it is repaired`;
}

export async function findStateFaults(layout: Layout): Promise<readonly Fault[]> {
  const faults: Fault[] = [];
  for (const [name, check] of CHECKS) {
    const path = layout[name];
    const problem = await check(path, layout).catch((error: unknown) => {
      if (error instanceof OperatorError) return error.message.replace(path, "it");
      throw error;
    });
    if (problem !== null)
      faults.push({ path: nameOf(layout, path), entity: null, kind: "damaged", problem, versions: [] });
  }
  return faults;
}

/** Repairs what it can; the caller holds the write lock. Resolves to messages about what was done. */
export async function repairState(layout: Layout): Promise<readonly string[]> {
  const messages: string[] = [];
  for (const repair of [repairRemoved, repairLedger]) {
    messages.push(
      ...(await repair(layout).catch((error: unknown) => {
        // It remains a fault, which is in the report.
        if (error instanceof OperatorError) return [];
        throw error;
      })),
    );
  }
  return messages;
}

async function repairRemoved(layout: Layout): Promise<readonly string[]> {
  const { versions, isDamaged } = await readRemoved(layout.removed);
  if (!isDamaged) return [];
  await writeDurably(layout.removed, encodeRemoved(versions));
  const left = `${plural(versions.length, "version")} could still be read and were kept in it`;
  return [`${nameOf(layout, layout.removed)} was damaged: ${left}; all others now give 404 instead of 410`];
}

async function readLedgerOf(layout: Layout): Promise<{ readonly content: LedgerContent; readonly isLost: boolean }> {
  const content = await inspectLedger(layout.ledger);
  return { content, isLost: await isLost(content, async () => (await takeInventory(layout)).versions) };
}

/** Cuts the ledger before its first damaged line, or begins a new one. Later drops are then imported again, in order. */
async function repairLedger(layout: Layout): Promise<readonly string[]> {
  const { ledger } = layout;
  const { content, isLost } = await readLedgerOf(layout);
  const { damaged, sound } = content;
  if (damaged.length === 0 && !isLost) return [];
  const backup = `${ledger}.damaged`;
  const isDone = await tryLock(layout.ingestLock, async () => {
    if (!isLost) await copyFile(ledger, backup);
    await writeDurably(ledger, sound === 0 ? LEDGER_BEGIN : createReadStream(ledger, { end: sound - 1 }));
  });
  const name = nameOf(layout, ledger);
  if (!isDone) return [`${name} is damaged and in use: stop the process that watches the inbox, then repair again`];
  return [
    isLost
      ? `${name} was empty or missing: a new one was created`
      : `${name} was damaged: it was cut before line ${damaged[0]}; a copy of the damaged file is ${nameOf(layout, backup)}`,
    "later drops that are still in the inbox will be imported again, the oldest first; they may overwrite rows of files that " +
      "have left the inbox or were imported from elsewhere: import those again afterwards",
  ];
}
