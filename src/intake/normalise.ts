// Staging: reads foreign files into temp tables with exactly the entity's columns. A bad file is refused with one message.
import { rm } from "node:fs/promises";
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { ahead } from "../ahead.js";
import { stampAt } from "../files.js";
import { plural } from "../words.js";
import { completed, foldersContradicted, requireNotes, requireNull, requireWholeDays } from "./checks.js";
import { planOfAll, type ImportOptions } from "./columns.js";
import { NO_LIMITS, requireFewRows } from "./limits.js";
import { joinTables, load, newTable, NO_SPAN, requireShortText, spansOf, type StagedSpan } from "./load.js";
import {
  asOutcome,
  changedMeanwhile,
  nothingKnown,
  openFile,
  type Context,
  type FileToStage,
  type OpenFile,
} from "./open-file.js";
import { collapse, orderOfRows, type LostValues } from "./rows.js";
import type { SourceFormat } from "./source-types.js";
import { warningsOf } from "./warnings.js";

export type { ImportOptions } from "./columns.js";

export interface Staged {
  /**
   * A temp table with the entity's columns in its order, `__row`, and `__file`, the number of the file. It may hold rows of
   * other files too. If it does not, `__row` is the 1-based row of the file.
   */
  readonly table: string;
  readonly number: number;
  /** Rows in the table. */
  readonly rows: number;
  /** Whether the rows are known to be in the entity's order. */
  readonly sorted: boolean;
  readonly span: StagedSpan;
  readonly format: SourceFormat;
  /** Source columns that were not used. */
  readonly ignored: readonly string[];
  /** Entity columns that the file lacks: null in every row. An assumed value counts as one that the file has. */
  readonly missing: readonly string[];
  /** Rows removed because an equal one stays. */
  readonly duplicates: number;
  /** Rows removed because another row of the same identity has more values, or as many and is later. */
  readonly conflicts: number;
  /** The columns in which those rows had values that the remaining ones lack or contradict. */
  readonly conflictColumns: readonly LostValues[];
  /** A few identities whose rows differed. */
  readonly conflictSamples: readonly string[];
  readonly warnings: readonly string[];
}

/** SQL of the rows of a staged file. */
export const rowsOfFile = ({ table, number }: Pick<Staged, "table" | "number">): string =>
  `(SELECT * FROM ${table} WHERE __file = ${number})`;

/** Removes the rows of a staged file that is not imported after all. */
export const discard = (writer: Writer, { table, number }: Pick<Staged, "table" | "number">): Promise<number> =>
  writer.run(`DELETE FROM ${table} WHERE __file = ${number}`);

/**
 * Reads one file into a typed temp table. If any row is bad, throws an OperatorError that names file, row, column, value
 * and reason; the table is then dropped. Temporary files are always removed.
 */
export async function stage(
  writer: Writer,
  entity: Entity,
  path: string,
  options: ImportOptions,
  scratch: string,
  number = 0,
): Promise<Staged> {
  const [outcome] = await stageFiles(writer, entity, [{ ...options, path, number }], options, scratch);
  if (outcome instanceof Error) throw outcome;
  return outcome!;
}

/** Files are read together up to this many bytes, unpacked. */
const MOST_BYTES = 64 << 20;
/** How many files are opened at once: most of the time of a small one is spent waiting for the system. */
const OPENED_AHEAD = 4;

/**
 * Stages files; those that are alike are read by the same statements. Resolves to what each of them gives if it is staged
 * alone: its rows or an error.
 */
export async function stageFiles(
  writer: Writer,
  entity: Entity,
  files: readonly FileToStage[],
  options: ImportOptions,
  scratch: string,
  known = nothingKnown(),
): Promise<readonly (Staged | Error)[]> {
  const context = { writer, entity, options, scratch, known };
  const outcomes = new Map<FileToStage, Staged | Error>();
  const groups = new Map<string, OpenFile[]>();
  let bytes = 0;
  const flush = async (): Promise<void> => {
    const due = [...groups.values()];
    groups.clear();
    bytes = 0;
    for (const group of due) {
      const found = await stageGroup(context, group);
      for (const [i, { file }] of group.entries()) outcomes.set(file, found[i]!);
    }
  };
  for await (const [file, opened] of ahead(files, OPENED_AHEAD, (file) => openFile(context, file))) {
    options.proceed?.();
    if (opened instanceof Error) outcomes.set(file, opened);
    else if (opened.likeness === null) outcomes.set(file, await stageAlone(context, opened));
    else {
      groups.set(opened.likeness, [...(groups.get(opened.likeness) ?? []), opened]);
      bytes += opened.source.bytes;
      if (bytes > MOST_BYTES) await flush();
    }
  }
  await flush();
  const inOrder = files.map((file) => outcomes.get(file)!);
  const staged = inOrder.filter((one): one is Staged => !(one instanceof Error));
  const joined = await joinTables(writer, staged);
  return inOrder.map((outcome) =>
    outcome instanceof Error ? outcome : { ...outcome, table: joined.get(outcome.table) ?? outcome.table },
  );
}

/** Reads files that are alike together, and those again alone that raise any doubt. */
async function stageGroup(context: Context, group: readonly OpenFile[]): Promise<readonly (Staged | Error)[]> {
  const [first] = group as readonly [OpenFile];
  if (group.length === 1) return [await stageAlone(context, first)];
  // Several threads would wait for each other at each small file: they take as long, and twice the processor time.
  const together = await context.writer
    .onOneThread(() => readRows(context, group))
    .catch((error: unknown) => {
      asOutcome(error);
      return [];
    });
  const outcomes: (Staged | Error)[] = [];
  for (const [i, { file }] of group.entries()) {
    outcomes.push(together[i] ?? (await stageAgain(context, file)));
  }
  return outcomes;
}

async function stageAgain(context: Context, file: FileToStage): Promise<Staged | Error> {
  context.options.proceed?.();
  const alone = { ...context, known: nothingKnown() };
  const opened = await openFile(alone, file);
  return opened instanceof Error ? opened : stageAlone(alone, opened);
}

async function stageAlone(context: Context, opened: OpenFile): Promise<Staged | Error> {
  const { stamp, label, file } = opened;
  try {
    const [staged] = await readRows(context, [opened]);
    return staged!;
  } catch (error) {
    return asOutcome((await stampAt(file.path)) === stamp ? error : changedMeanwhile(label));
  }
}

/**
 * Reads files into one table. A single one is refused if it is at fault. Of several, only those stay whose rows are all
 * good and all different; for the others, undefined is returned.
 */
async function readRows(
  { writer, entity, options }: Context,
  group: readonly OpenFile[],
): Promise<readonly (Staged | undefined)[]> {
  const { limits = NO_LIMITS, completeCodes } = options;
  const [{ label, source: first }] = group as readonly [OpenFile];
  const isAlone = group.length === 1;
  const table = newTable();
  const numbers = group.map(({ file }) => file.number);
  const source = isAlone ? first : { ...first, values: [group.flatMap((one) => one.source.values.flat())] };
  const reading = { writer, entity, source, table, numbers, label, completeCodes };
  try {
    await requireShortText(
      reading,
      group.map((one) => one.source),
    );
    const plan = await completed(writer, entity, source, planOfAll(group.map((one) => one.plan)));
    const job = { ...reading, plan };
    requireNotes(job);
    await requireNull(job);
    const loaded = await load(job);
    if (isAlone) requireFewRows(loaded.get(numbers[0]!)!.read, limits, label);
    const isUnchanged = await Promise.all(group.map(async ({ file, stamp }) => (await stampAt(file.path)) === stamp));
    if (isAlone && !isUnchanged[0]) throw changedMeanwhile(label);
    const order = await orderOfRows(writer, entity, table);
    const stays = group.map(({ file: { number } }, i) => {
      const { read = 0, isClean = false } = loaded.get(number) ?? {};
      const isPlain = read > 0 && read <= limits.rows && isClean && !order.repeating.has(number);
      return isAlone || (isPlain && isUnchanged[i]!);
    });
    const others = numbers.filter((_, i) => !stays[i]);
    if (others.length > 0) await writer.run(`DELETE FROM ${table} WHERE __file IN (${others.join(", ")})`);
    const isRepeating = isAlone && order.repeating.size > 0;
    const { duplicates, conflicts, lost, samples } = await collapse(writer, entity, table, isRepeating);
    if (duplicates + conflicts > 0) await requireWholeDays(job);
    const contradicted = await foldersContradicted(job);
    const warnings = await warningsOf(writer, entity, table);
    const spans = await spansOf(writer, entity, table);
    return group.map(({ source: own, plan: { warnings: planWarnings }, file: { number } }, i): Staged | undefined => {
      if (!stays[i]) return undefined;
      const { read, blank, lost: lostNumbers } = loaded.get(number)!;
      return {
        table,
        number,
        rows: read - blank - duplicates - conflicts,
        sorted: order.isSorted(number),
        span: spans.get(number) ?? NO_SPAN,
        format: own.format,
        ignored: plan.ignored,
        missing: plan.missing,
        duplicates,
        conflicts,
        conflictColumns: lost,
        conflictSamples: samples,
        warnings: [
          ...own.warnings,
          ...planWarnings,
          ...own.footnotes.map(({ text }) => `a line below the table was ignored: ${text}`),
          ...(own.openEnd && read > 0
            ? [`the last line has no line end: the file may be cut short; check row ${read}`]
            : []),
          ...lostNumbers,
          ...(blank > 0 ? [`${plural(blank, "blank row")} ignored`] : []),
          ...contradicted,
          ...warnings(number, read),
        ],
      };
    });
  } catch (error) {
    await writer.run(`DROP TABLE IF EXISTS ${table}`).catch(() => undefined);
    throw error;
  } finally {
    await Promise.all(group.map(({ folder }) => rm(folder, { recursive: true, force: true })));
  }
}
