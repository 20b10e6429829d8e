// Opens the files of one staging: what each holds, how its columns are used, and which files are alike.
import { mkdtemp, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { InterruptedError, OperatorError } from "../errors.js";
import { stampAt } from "../files.js";
import { foldersOf } from "./checks.js";
import { planColumns, withExchangeColumn, type ColumnPlan, type ImportOptions } from "./columns.js";
import { NO_LIMITS } from "./limits.js";
import { openSource } from "./source.js";
import type { Source, SourceColumn } from "./source-types.js";

/** A file to be staged, with its number: those of later files are higher. */
export interface FileToStage extends Pick<ImportOptions, "label" | "below"> {
  readonly path: string;
  readonly number: number;
}

/** What is known from files that were opened before. */
export interface Known {
  /** Columns by the schema of the file. */
  readonly described: Map<string, readonly SourceColumn[]>;
  /** Plans by the names of the columns and folders. */
  readonly plans: Map<string, ColumnPlan>;
}

export const nothingKnown = (): Known => ({ described: new Map(), plans: new Map() });

export interface Context {
  readonly writer: Writer;
  readonly entity: Entity;
  readonly options: ImportOptions;
  readonly scratch: string;
  readonly known: Known;
}

export interface OpenFile {
  readonly file: FileToStage;
  readonly label: string;
  /** Its temporary files. */
  readonly folder: string;
  /** How it was before it was opened. */
  readonly stamp: string;
  readonly source: Source;
  readonly plan: ColumnPlan;
  /** Equal for files that can be read together; null if it is read alone. */
  readonly likeness: string | null;
}

export async function openFile(context: Context, file: FileToStage): Promise<OpenFile | Error> {
  const { writer, entity, options, scratch, known } = context;
  const { path, label = path, below = resolve(path) } = file;
  const { limits = NO_LIMITS } = options;
  const folder = await mkdtemp(join(scratch, "stage-"));
  const stamp = await stampAt(path);
  try {
    const source = await openSource(writer, path, { label, scratch: folder, limits, described: known.described });
    const names = source.columns.map(({ name }) => name);
    const folders = foldersOf(below);
    const key = JSON.stringify([names, folders]);
    const plan = known.plans.get(key) ?? planColumns(entity, names, options, folders, label);
    known.plans.set(key, plan);
    return { file, label, folder, stamp, source, plan, likeness: likenessOf(entity, source, plan) };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    return asOutcome((await stampAt(path)) === stamp ? error : changedMeanwhile(label));
  }
}

/** Files of one shape have the same plan but for the values that their folders give. */
function likenessOf(entity: Entity, { format, shape, columns }: Source, plan: ColumnPlan): string | null {
  const names = columns.map(({ name }) => name);
  const mayComplete = withExchangeColumn(entity, plan, names) !== null;
  if (shape === null || mayComplete || plan.overruled.length > 0 || plan.stated.length > 0) return null;
  return JSON.stringify([format, shape, plan.bindings.map(({ from }) => from)]);
}

/** An interrupt is not the outcome of a file: it ends the staging of all. */
export function asOutcome(error: unknown): Error {
  if (error instanceof InterruptedError || !(error instanceof Error)) throw error;
  return error;
}

export const changedMeanwhile = (label: string): OperatorError =>
  new OperatorError(`${label} changed while it was being read`);
