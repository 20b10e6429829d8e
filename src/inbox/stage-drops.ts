// Opens and stages the files of a batch, small ones together.
import { randomUUID } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { fileFault } from "../errors.js";
import { linkOrCopy, stampOf } from "../files.js";
import type { FileLimits } from "../intake/limits.js";
import { discard, rowsOfFile, stageFiles, type FileToStage, type Staged } from "../intake/normalise.js";
import { formatOf } from "../intake/source.js";
import { isUnchanged, openDrop, type OpenDrop } from "../lake/drop-file.js";
import type { Snapshot } from "../lake/lake.js";
import type { Layout } from "../lake/layout.js";
import { requireSound } from "../store/checks.js";
import { withContradictions } from "../store/contradictions.js";
import { exists } from "../store/durable.js";
import type { Staging } from "../store/staging.js";
import { ChangedDrop, type CheckedDrop } from "./judge.js";
import { unless, type Check } from "./stopping.js";
import type { InboxFile } from "./watch.js";

/** What the steps of one batch share. */
export interface BatchContext {
  readonly writer: Writer;
  readonly staging: Staging;
  readonly layout: Layout;
  readonly entity: Entity;
  /** What was served when the batch began. */
  readonly base: Snapshot;
  readonly check: Check;
  readonly limits: FileLimits;
  /** Refuse files with rows that cannot be true. */
  readonly strict: boolean;
}

/**
 * Stages the files of a batch in their order. Yields what becomes of each: its rows, the reason to refuse it, or ChangedDrop
 * if it was written meanwhile.
 */
export async function* stageDrops(
  context: BatchContext,
  batch: readonly CheckedDrop[],
): AsyncGenerator<readonly [CheckedDrop, Staged | Error]> {
  let number = 0;
  for (const part of partsOf(batch)) {
    const outcomes = await stagePart(context, part, number);
    for (const [i, one] of part.entries()) yield [one, outcomes[i]!];
    number += part.length;
  }
}

/** A file of at most this many bytes is read together with others, and at most this many are. */
const SMALL_BYTES = 2 << 20;
const MOST_TOGETHER = 100;

/** Small files that follow each other, and each larger one by itself. */
function* partsOf(batch: readonly CheckedDrop[]): Generator<readonly CheckedDrop[]> {
  let part: CheckedDrop[] = [];
  for (const one of batch) {
    const isSmall = one.file.size <= SMALL_BYTES;
    if (part.length === MOST_TOGETHER || (part.length > 0 && !isSmall)) {
      yield part;
      part = [];
    }
    part.push(one);
    if (isSmall) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

async function stagePart(
  context: BatchContext,
  drops: readonly CheckedDrop[],
  number: number,
): Promise<readonly (Staged | Error)[]> {
  const { writer, staging, layout, entity, check, limits } = context;
  const [{ file: first }] = drops as readonly [CheckedDrop];
  const handles: FileHandle[] = [];
  /** A file that is read by itself may be large: it is not read to its end if it changes. */
  const checkFile = async (): Promise<Error | undefined> =>
    drops.length > 1 || (await isUnchanged(layout, first)) ? check() : new ChangedDrop(first.path);
  const open = async ({ file: { path }, identity }: CheckedDrop, i: number): Promise<FileToStage> => {
    const drop = await openDrop(layout, path);
    if (drop) handles.push(drop.handle);
    if (!drop || stampOf(drop.stats) !== identity) throw new ChangedDrop(path);
    const source = await linkOpenFile(drop, path, staging.scratch);
    return { path: source, number: number + i, label: labelOf(path), below: path };
  };
  try {
    const opened = await Promise.all(drops.map((one, i) => open(one, i).catch((error: unknown) => error as Error)));
    const files = opened.filter((one): one is FileToStage => !(one instanceof Error));
    const staged = await unless(writer, checkFile, async (proceed) => {
      const options = { map: {}, set: {}, limits, proceed };
      const found = await stageFiles(writer, entity, files, options, staging.scratch);
      const vetted = new Map<FileToStage | Error, Staged | Error>();
      for (const [i, one] of found.entries()) vetted.set(files[i]!, await vet(context, one, labelOf(files[i]!.below!)));
      return vetted;
    });
    const outcomes = opened.map((one) => staged.get(one) ?? (one as Error));
    return await Promise.all(drops.map(({ file }, i) => unlessChanged(context, file, outcomes[i]!)));
  } catch (error) {
    if (drops.length > 1 || (await isUnchanged(layout, first))) throw error;
    return [new ChangedDrop(first.path)];
  } finally {
    for (const handle of handles) await handle.close();
  }
}

const labelOf = (path: string): string => `inbox/${path}`;

/** The staged file, unless it contradicts the lake or has rows that cannot be true. */
async function vet(
  { writer, layout, entity, base, strict }: BatchContext,
  outcome: Staged | Error,
  label: string,
): Promise<Staged | Error> {
  if (outcome instanceof Error) return outcome;
  try {
    const before = base.files(entity.name);
    const staged = await withContradictions(writer, layout, entity, before, outcome, { label, allow: false });
    if (strict) await requireSound(writer, layout, entity, base, rowsOfFile(staged), label);
    return staged;
  } catch (error) {
    await discard(writer, outcome);
    return fileFault(error) as Error;
  }
}

/** The outcome of a file that is as it was when it was found. One that is gone by now was complete until then. */
async function unlessChanged(
  { writer, layout }: BatchContext,
  file: InboxFile,
  outcome: Staged | Error,
): Promise<Staged | Error> {
  if (await isUnchanged(layout, file)) return outcome;
  if (!(outcome instanceof Error)) {
    if (!(await exists(join(layout.inbox, file.path)))) return outcome;
    await discard(writer, outcome);
  }
  return new ChangedDrop(file.path);
}

/**
 * Makes a short path that leads to an open file of the inbox and ends as the name of the file does. It leads to that file
 * even if a link has replaced the file in the inbox.
 */
export async function linkOpenFile({ source }: OpenDrop, path: string, scratch: string): Promise<string> {
  const link = join(scratch, randomUUID() + formatOf(path, path).end);
  await linkOrCopy(source, link);
  return link;
}
