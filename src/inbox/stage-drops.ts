// Opens and stages the files of a batch, small ones together.
import { randomUUID } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { ahead } from "../ahead.js";
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { fileFault } from "../errors.js";
import { linkOrCopy, stampOf } from "../files.js";
import type { FileLimits } from "../intake/limits.js";
import { discard, rowsOfFile, stageFiles, type Staged } from "../intake/normalise.js";
import { nothingKnown, type FileToStage, type Known } from "../intake/open-file.js";
import { formatOf } from "../intake/source.js";
import { isUnchanged, openDrop, type OpenDrop } from "../lake/drop-file.js";
import type { Snapshot } from "../lake/lake.js";
import type { Layout } from "../lake/layout.js";
import { requireSound } from "../store/checks.js";
import { withContradictions } from "../store/contradictions.js";
import { exists } from "../durable.js";
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

/** A file of a batch with its position: the rows of later files replace those of earlier ones. */
interface NumberedDrop {
  readonly drop: CheckedDrop;
  readonly number: number;
}

/**
 * Stages the files of a batch in the order of their names, which usually is that of their days: then the staged rows need
 * no sort. Yields what becomes of each: its rows, the reason to refuse it, or ChangedDrop if it was written meanwhile.
 */
export async function* stageDrops(
  context: BatchContext,
  batch: readonly CheckedDrop[],
): AsyncGenerator<readonly [CheckedDrop, Staged | Error]> {
  const byName = batch
    .map((drop, number) => ({ drop, number }))
    .sort(({ drop: { file: a } }, { drop: { file: b } }) => (a.path < b.path ? -1 : 1));
  const known = nothingKnown();
  for (const parts of runsOf([...partsOf(byName)])) {
    for await (const [part, outcomes] of ahead(parts, 1, (one) => stagePart(context, one, known))) {
      for (const [i, { drop }] of part.entries()) yield [drop, outcomes[i]!];
    }
  }
}

/**
 * Parts that follow each other, where each may be opened while DuckDB reads the one before it. A part with a single file
 * is a run by itself: if the file changes, the current statement is interrupted, which must be its own.
 */
function runsOf(parts: readonly (readonly NumberedDrop[])[]): readonly (readonly (readonly NumberedDrop[])[])[] {
  const runs: (readonly NumberedDrop[])[][] = [];
  for (const [i, part] of parts.entries()) {
    if (i > 0 && part.length > 1 && parts[i - 1]!.length > 1) runs.at(-1)!.push(part);
    else runs.push([part]);
  }
  return runs;
}

/** A file of at most this many bytes is read together with others, and at most this many are. */
const SMALL_BYTES = 2 << 20;
const MOST_TOGETHER = 100;

/** Small files that follow each other, and each larger one by itself. */
function* partsOf(batch: readonly NumberedDrop[]): Generator<readonly NumberedDrop[]> {
  let part: NumberedDrop[] = [];
  for (const one of batch) {
    const isSmall = one.drop.file.size <= SMALL_BYTES;
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
  part: readonly NumberedDrop[],
  known: Known,
): Promise<readonly (Staged | Error)[]> {
  const { writer, staging, layout, entity, check, limits } = context;
  const [
    {
      drop: { file: first },
    },
  ] = part as readonly [NumberedDrop];
  const handles: FileHandle[] = [];
  /** A file that is read by itself may be large: it is not read to its end if it changes. */
  const checkFile = async (): Promise<Error | undefined> =>
    part.length > 1 || (await isUnchanged(layout, first)) ? check() : new ChangedDrop(first.path);
  const open = async ({ drop: { file, identity }, number }: NumberedDrop): Promise<FileToStage> => {
    const { path } = file;
    const opened = await openDrop(layout, path);
    if (opened) handles.push(opened.handle);
    if (!opened || stampOf(opened.stats) !== identity) throw new ChangedDrop(path);
    const source = await linkOpenFile(opened, path, staging.scratch);
    return { path: source, number, label: labelOf(path), below: path };
  };
  try {
    const opened = await Promise.all(part.map((one) => open(one).catch((error: unknown) => error as Error)));
    const files = opened.filter((one): one is FileToStage => !(one instanceof Error));
    const staged = await unless(writer, checkFile, async (proceed) => {
      const options = { map: {}, set: {}, limits, proceed };
      const found = await stageFiles(writer, entity, files, options, staging.scratch, known);
      const vetted = new Map<FileToStage | Error, Staged | Error>();
      for (const [i, one] of found.entries()) vetted.set(files[i]!, await vet(context, one, labelOf(files[i]!.below!)));
      return vetted;
    });
    const outcomes = opened.map((one) => staged.get(one) ?? (one as Error));
    return await Promise.all(part.map(({ drop }, i) => unlessChanged(context, drop.file, outcomes[i]!)));
  } catch (error) {
    if (part.length > 1 || (await isUnchanged(layout, first))) throw error;
    return [new ChangedDrop(first.path)];
  } finally {
    await Promise.all(handles.map((handle) => handle.close()));
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
  const link = shortPath(path, scratch);
  await linkOrCopy(source, link);
  return link;
}

/** A new path in a folder that ends as the name of a file does, which tells its format. */
export const shortPath = (path: string, folder: string): string =>
  join(folder, randomUUID() + formatOf(path, path).end);
