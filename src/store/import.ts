// Imports files: they are staged, joined into one drop, merged and published as one version. If any fails, nothing changes.
import { stat } from "node:fs/promises";
import { join, parse, relative, resolve } from "node:path";
import type { Entity } from "../catalog/types.js";
import { faultOfMode, wholeOf, type ReplaceMode } from "../catalog/replace.js";
import type { FileList, Version } from "../lake/manifest.js";
import { withContradictions } from "./contradictions.js";
import { joinDrop, readSpan, type Drop } from "./drop.js";
import type { Effects } from "./effects.js";
import { commandEntry } from "./ledger-file.js";
import { widened } from "../lake/ledger.js";
import { describeFinding, namedFindings, type Finding } from "../lake/findings.js";
import { checkChange, requireSound, type CheckedChange } from "./checks.js";
import { merge, type Merged } from "./merge.js";
import { rowsOfFile, stage, type ImportOptions, type Staged } from "../intake/normalise.js";
import { OperatorError } from "../errors.js";
import { tableAround } from "../intake/table-folders.js";
import { withWriteSession, type WriteOptions, type WriteSession } from "./session.js";

export type StagedFile = Staged & { readonly file: string };

export interface ImportReport {
  readonly entity: string;
  readonly files: readonly StagedFile[];
  /** Rows of the drop without duplicates and superseded rows. */
  readonly rows: number;
  /** Rows that a later file of the same import replaced. */
  readonly superseded: number;
  /** Rows of the lake that were replaced by rows of the drop, even by equal ones. */
  readonly replaced: number;
  /** Rows of the lake that went because the drop stands for their days, snapshots or codes and leaves them out. */
  readonly removed: number;
  /** Rows whose identity is new to the lake. */
  readonly added: number;
  /** First and last main date of the drop, `YYYYMMDD`. */
  readonly first: string | null;
  readonly last: string | null;
  readonly effects: Effects;
  /** What the checks found in the drop. */
  readonly findings: readonly Finding[];
  /** The published version; null for a dry run, or if the lake held exactly these rows already. */
  readonly version: Version | null;
}

type ImportPhase = "reading" | "writing";
/** `done` and `total` are bytes while files are read, and rows while they are written. */
type OnProgress = (phase: ImportPhase, detail: string, done: number, total: number) => void;

interface MergeOptions {
  readonly dryRun?: boolean;
  /** Together the files stand for all of their days, snapshots or codes. */
  readonly replace?: ReplaceMode;
  /** Take files that contradict many settled rows of the lake. */
  readonly allowContradictions?: boolean;
  /** Refuse files with rows that cannot be true. */
  readonly strict?: boolean;
}

/** Imports files into one entity. Of rows with the same identity, those of the last file stay. */
export async function importFiles(
  root: string,
  entity: Entity,
  files: readonly string[],
  options: ImportOptions & WriteOptions & MergeOptions,
  onProgress: OnProgress = () => undefined,
): Promise<ImportReport> {
  const { replace } = options;
  const fault = replace === undefined ? null : faultOfMode(entity, replace, (mode) => `--replace ${mode}`);
  if (fault !== null) throw new OperatorError(fault, 2);
  const whole = replace === undefined ? undefined : (wholeOf(entity, replace) ?? undefined);
  return withWriteSession(root, options, async (session) => {
    const staged: StagedFile[] = [];
    const sizes = await Promise.all(files.map(sizeOf));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    let read = 0;
    for (const [i, file] of files.entries()) {
      onProgress("reading", file, read, bytes);
      read += sizes[i]!;
      const one = await stageFile(session, entity, file, options, i);
      if (options.strict)
        await requireSound(session.writer, session.layout, entity, session.base, rowsOfFile(one), file);
      staged.push({ ...one, file });
    }
    const drop = await joinDrop(session.writer, entity, staged, { whole });
    const before = session.base.files(entity.name);
    const merged = await merge(session, entity, before, drop.change, (written, all) =>
      onProgress("writing", entity.name, written, all),
    );
    const checked = await checkChange(session, entity, session.base, drop.change, merged, files.length - 1);
    const report = reportOf(entity, staged, drop, before, merged, checked);
    if (options.dryRun) return { ...report, version: null };
    const span = widened(await readSpan(session.writer, entity, drop.change.fresh!.relation), replace ?? null);
    const { rows, added, replaced, removed } = report;
    const counts = { rows, added, replaced: replaced + removed };
    const entries = [commandEntry(entity.name, { name: "import" }, span, counts)];
    return { ...report, version: await session.publish([checked.list], `import ${entity.name}`, { entries }) };
  });
}

async function stageFile(
  { writer, layout, base, scratch }: WriteSession,
  entity: Entity,
  file: string,
  options: ImportOptions & MergeOptions,
  number: number,
): Promise<Staged> {
  const { root, dir, base: name } = parse(resolve(file));
  const reason = await tableAround(root, join(relative(root, dir), name));
  if (reason !== null) throw new OperatorError(`${file}: ${reason}`);
  const staged = await stage(writer, entity, file, options, scratch, number);
  const allow = options.allowContradictions ?? false;
  return withContradictions(writer, layout, entity, base.files(entity.name), staged, { label: file, allow });
}

/** The report on a drop that was merged into the list `before`. */
export function reportOf(
  entity: Entity,
  files: readonly StagedFile[],
  { rows, first, last }: Drop,
  before: FileList,
  { list, replaced, removed, effects }: Merged,
  { findings, ofFile }: CheckedChange,
): Omit<ImportReport, "version"> {
  const superseded = files.reduce((sum, file) => sum + file.rows, 0) - rows;
  return {
    entity: entity.name,
    files: files.map((file) => ({ ...file, warnings: [...file.warnings, ...inWords(ofFile(file.number))] })),
    rows,
    superseded,
    replaced,
    removed,
    added: list.rows - before.rows,
    first,
    last,
    effects,
    findings,
  };
}

const inWords = (findings: readonly Finding[]): readonly string[] => namedFindings(findings).map(describeFinding);

/** Bytes of a file; 0 if it cannot be inspected. Reading it reports the reason. */
const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );
