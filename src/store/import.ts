// Imports files: they are staged, joined into one drop, merged and published as one version. If any fails, nothing changes.
import { stat } from "node:fs/promises";
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { quoteName } from "../sql-text.js";
import type { FileList, Version } from "../lake/manifest.js";
import type { FileRows } from "./datafile.js";
import { merge, type Merged } from "./merge.js";
import { stage, type ImportOptions, type Staged } from "../intake/normalise.js";
import { withWriteSession, type WriteOptions } from "./session.js";

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
  /** Rows whose identity is new to the lake. */
  readonly added: number;
  /** First and last main date of the drop, `YYYYMMDD`. */
  readonly first: string | null;
  readonly last: string | null;
  /** The published version; null for a dry run, or if the lake held exactly these rows already. */
  readonly version: Version | null;
}

type ImportPhase = "reading" | "writing";
/** `done` and `total` are bytes while files are read, and rows while they are written. */
type OnProgress = (phase: ImportPhase, detail: string, done: number, total: number) => void;

interface DropOptions {
  readonly dryRun?: boolean;
}

/** Imports files into one entity. Of rows with the same identity, those of the last file stay. */
export async function importFiles(
  root: string,
  entity: Entity,
  files: readonly string[],
  options: ImportOptions & WriteOptions & DropOptions,
  onProgress: OnProgress = () => undefined,
): Promise<ImportReport> {
  return withWriteSession(root, options, async (session) => {
    const staged: StagedFile[] = [];
    const sizes = await Promise.all(files.map(sizeOf));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    let read = 0;
    for (const [i, file] of files.entries()) {
      onProgress("reading", file, read, bytes);
      read += sizes[i]!;
      staged.push({ ...(await stage(session.writer, entity, file, options, session.scratch)), file });
    }
    const drop = await joinDrop(session.writer, entity, staged);
    const before = session.base.files(entity.name);
    const merged = await merge(session, entity, before, drop.staged, (written, all) =>
      onProgress("writing", entity.name, written, all),
    );
    const version = options.dryRun ? null : await session.publish([merged.list], `import ${entity.name}`);
    return { ...reportOf(entity, staged, drop, before, merged), version };
  });
}

/** The report on a drop that was merged into the list `before`. */
export function reportOf(
  entity: Entity,
  files: readonly StagedFile[],
  { rows, first, last }: Drop,
  before: FileList,
  { list, replaced }: Merged,
): Omit<ImportReport, "version"> {
  const superseded = files.reduce((sum, file) => sum + file.rows, 0) - rows;
  return {
    entity: entity.name,
    files,
    rows,
    superseded,
    replaced,
    added: list.rows - before.rows,
    first,
    last,
  };
}

/** Bytes of a file; 0 if it cannot be inspected. Reading it reports the reason. */
const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );

interface Drop {
  readonly staged: FileRows;
  readonly rows: number;
  readonly first: string | null;
  readonly last: string | null;
}

/** Joins all staged files into one table. Of rows with the same identity, those of the last file stay. */
export async function joinDrop(writer: Writer, entity: Entity, staged: readonly Staged[]): Promise<Drop> {
  let table = staged[0]!.table;
  if (staged.length > 1) {
    table = "drop_of_all_files";
    const parts = staged.map((one, i) => `SELECT *, ${i} AS __file FROM ${one.table}`);
    const identity = entity.identity.map(quoteName).join(", ");
    await writer.run(
      `CREATE TEMP TABLE ${table} AS SELECT * FROM (${parts.join(" UNION ALL ")})
       QUALIFY __file = max(__file) OVER (PARTITION BY ${identity})`,
    );
    for (const one of staged) await writer.run(`DROP TABLE ${one.table}`);
  }
  const date = entity.mainDate === null ? "NULL::DATE" : quoteName(entity.mainDate);
  const [summary] = await writer.rows(
    `SELECT count(*) AS rows, strftime(min(${date}), '%Y%m%d') AS first, strftime(max(${date}), '%Y%m%d') AS last
     FROM ${table}`,
  );
  const sorted = staged.length === 1 && staged[0]!.sorted;
  return { staged: { relation: table, sorted }, ...(summary as unknown as Omit<Drop, "staged">) };
}
