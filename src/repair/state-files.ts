// What lies in the state folder beside the manifest: which of it cannot be read, and what a repair does about that.
import { copyFile } from "node:fs/promises";
import { OperatorError } from "../errors.js";
import { readRecordedGaps } from "../lake/gaps.js";
import type { Layout } from "../lake/layout.js";
import { inspectLedger, isLost, LEDGER_BEGIN, type LedgerContent } from "../lake/ledger.js";
import { encodeRemoved, readRemoved } from "../lake/kept-versions.js";
import { plural } from "../words.js";
import { writeDurably } from "../store/durable.js";
import { takeInventory, type Fault } from "./inventory.js";
import { nameOf } from "../store/journal.js";
import { tryLock } from "../store/lock.js";

/** Each file with what is wrong with it; null if nothing is. */
const CHECKS: readonly (readonly [keyof Layout, (path: string, layout: Layout) => Promise<string | null>])[] = [
  ["ledger", lookAtLedger],
  ["removed", async (path) => ((await readRemoved(path)).isDamaged ? "the list of removed versions is damaged" : null)],
  ["gaps", async (path) => readRecordedGaps(path).then(() => null)],
];

async function lookAtLedger(_: string, layout: Layout): Promise<string | null> {
  const { content, isLost } = await readLedgerOf(layout);
  if (isLost) return "it is empty or gone, though drops were taken; no drop is taken until it is repaired";
  const [line] = content.damaged;
  return line === undefined ? null : `line ${line} is damaged; no drop is taken until it is repaired`;
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

/** Repairs what can be repaired, for one that holds the write lock. Resolves to what is to be told. */
export async function repairState(layout: Layout): Promise<readonly string[]> {
  const told: string[] = [];
  for (const repair of [repairRemoved, repairLedger]) {
    told.push(
      ...(await repair(layout).catch((error: unknown) => {
        // It stays a fault, and the report says why.
        if (error instanceof OperatorError) return [];
        throw error;
      })),
    );
  }
  return told;
}

async function repairRemoved(layout: Layout): Promise<readonly string[]> {
  const { versions, isDamaged } = await readRemoved(layout.removed);
  if (!isDamaged) return [];
  await writeDurably(layout.removed, encodeRemoved(versions));
  const left = `the ${plural(versions.length, "version")} that can still be read stay in it`;
  return [`${nameOf(layout, layout.removed)} is damaged: ${left}; others are answered with 404 instead of 410`];
}

async function readLedgerOf(layout: Layout): Promise<{ readonly content: LedgerContent; readonly isLost: boolean }> {
  const content = await inspectLedger(layout.ledger);
  return { content, isLost: await isLost(content, async () => (await takeInventory(layout)).versions) };
}

/** Cuts the ledger before its first damaged line, or begins a new one: the drops since are taken again, in their order. */
async function repairLedger(layout: Layout): Promise<readonly string[]> {
  const { ledger } = layout;
  const { content, isLost } = await readLedgerOf(layout);
  const { damaged, sound } = content;
  if (damaged.length === 0 && !isLost) return [];
  const aside = `${ledger}.damaged`;
  const isDone = await tryLock(layout.ingestLock, async () => {
    if (!isLost) await copyFile(ledger, aside);
    await writeDurably(ledger, isLost ? LEDGER_BEGIN : sound.map((line) => `${line}\n`).join(""));
  });
  const name = nameOf(layout, ledger);
  if (!isDone) return [`${name} is damaged and in use: stop the process that watches the inbox, then repair again`];
  return [
    isLost
      ? `${name} is empty or gone: a new one is begun`
      : `${name} is damaged: it is cut before line ${damaged[0]}, and kept as it was in ${nameOf(layout, aside)}`,
    "the drops since then that still lie in the inbox are taken again, the oldest first; what has left the inbox, or was " +
      "imported past it, must come again where they hold the same rows",
  ];
}
