// Takes the files of a lot in order, as few batches as possible: a later file always replaces the rows of earlier ones.
import { ahead } from "../ahead.js";
import { replaceModeOf } from "../lake/replace-folders.js";
import { contentOf, doOverlap } from "../lake/ledger.js";
import type { Checked, CheckedDrop, Entry, Judged } from "./judge.js";
import type { PendingDrop } from "./lots.js";
import { SlowBatch } from "./stopping.js";
import type { InboxFile } from "./watch.js";

interface TakingFiles {
  /** Fires when the process must stop. */
  readonly signal: AbortSignal;
  /** Fires when the lot must give up its slot. */
  readonly stop: AbortSignal;
  check(one: PendingDrop): Promise<Checked>;
  /** Judges a checked file by what is known at this moment; others may have been merged since. */
  judge(checked: Checked): Promise<Judged>;
  take(batch: readonly CheckedDrop[]): Promise<void>;
  record(entries: readonly Entry[]): Promise<void>;
  skip(file: InboxFile): Promise<void>;
  defer(file: InboxFile): void;
  /** Whether the writer of a file may only have paused. */
  mayBeCutShort(drop: CheckedDrop): boolean;
  /** The first of these files may be cut short: the others wait with it, so that they keep their order. */
  hold(left: readonly PendingDrop[]): void;
  /** The lot gave up, and these files are left. */
  onSlow(left: readonly PendingDrop[]): void;
}

/** How many files are checked at once: most of the time of a small one is spent waiting for the system. */
const CHECKED_AHEAD = 4;

export async function takeFiles(files: readonly PendingDrop[], to: TakingFiles): Promise<void> {
  let batch = newBatch();
  let entries: Entry[] = [];
  /** How many of the files are done. */
  let done = 0;
  const flush = async (until: number): Promise<void> => {
    await to.record(entries);
    entries = [];
    if (batch.drops.length > 0 && !to.signal.aborted) await to.take(batch.drops);
    batch = newBatch();
    done = until;
  };
  try {
    let i = 0;
    for await (const [one, checked] of ahead(files, CHECKED_AHEAD, to.check)) {
      if (to.signal.aborted) return;
      if (to.stop.aborted) throw new SlowBatch();
      let judged = await to.judge(checked);
      if (judged.verdict === "take" || judged.verdict === "same") {
        const { drop } = judged;
        const order = orderAfter(batch, judged);
        if (order === "next") {
          await flush(i);
          judged = await to.judge(checked);
        } else if (order === "together") judged = { verdict: "take", drop };
      }
      if (judged.verdict === "take" && to.mayBeCutShort(judged.drop)) {
        await flush(i);
        to.hold(files.slice(i));
        return;
      }
      if (judged.verdict === "known") await to.skip(one.file);
      else if (judged.verdict === "record" || judged.verdict === "same") entries.push(judged.entry);
      else if (judged.verdict === "take") addTo(batch, judged.drop);
      else to.defer(one.file);
      i++;
    }
    await flush(files.length);
  } catch (error) {
    if (!(error instanceof SlowBatch)) throw error;
    to.onSlow(files.slice(done));
  }
}

/** Files that are about to be merged together. All of them replace in the same way. */
interface Batch {
  readonly drops: CheckedDrop[];
  readonly contents: Set<string>;
}

const newBatch = (): Batch => ({ drops: [], contents: new Set() });

function addTo({ drops, contents }: Batch, drop: CheckedDrop): void {
  drops.push(drop);
  contents.add(keyOfContent(drop));
}

/**
 * How a file follows the files of a batch that are about to be merged: `free` if they do not matter to it, `together` if
 * it must be merged with them, since they replace rows that it has; `next` if only the merge will tell, or if the batch
 * has its content already, so that a later file always replaces earlier ones.
 */
function orderAfter({ drops, contents }: Batch, { verdict, drop }: Ordered): "free" | "together" | "next" {
  const [first] = drops;
  if (first && replaceModeOf(first.file.path) !== replaceModeOf(drop.file.path)) return "next";
  if (contents.has(keyOfContent(drop))) return "next";
  if (verdict === "take") return "free";
  if (drops.some(({ span }) => span === null)) return "next";
  return drops.some(({ span }) => doOverlap(span!, drop.span!)) ? "together" : "free";
}

interface Ordered {
  readonly verdict: "take" | "same";
  readonly drop: CheckedDrop;
}

const keyOfContent = ({ file, sha256 }: CheckedDrop): string => contentOf({ path: file.path, sha256 });
