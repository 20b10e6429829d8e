// Checks what is stored: all rows of the served version, or those of some entities and days. Nothing is changed.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checksOf } from "../catalog/checks.js";
import type { Severity } from "../catalog/check-types.js";
import type { Entity } from "../catalog/types.js";
import { judge } from "../checks/run.js";
import { BEFORE } from "../checks/sources.js";
import { daysAfter } from "../dates.js";
import { openWriter } from "../engine/loading.js";
import type { Writer } from "../engine/writer.js";
import { mergeFindings, type Finding } from "../lake/findings.js";
import { fetchMissing } from "../lake/integrity.js";
import { openLake, type Snapshot } from "../lake/lake.js";
import type { Layout } from "../lake/layout.js";
import type { DataFile, FileList } from "../lake/manifest.js";
import { columnList } from "./datafile.js";
import { filesIn, mostRowsOnADay, others, rowsIn } from "./checks.js";

interface CheckOptions {
  readonly memory: string;
  /** First and last main date, `YYYYMMDD`; null: no bound. */
  readonly from: string | null;
  readonly to: string | null;
  /** Only checks of this severity; null: all. */
  readonly severity: Severity | null;
}

export interface EntityFindings {
  readonly entity: string;
  /** Rows that were checked. */
  readonly rows: number;
  readonly findings: readonly Finding[];
}

export interface LakeFindings {
  readonly data_version: string;
  readonly entities: readonly EntityFindings[];
}

/** Gets the entity, the rows checked so far, and the total. */
type OnRows = (entity: string, done: number, total: number) => void;

/** Checks entities that have data and checks. */
export async function checkLake(
  root: string,
  entities: readonly Entity[],
  options: CheckOptions,
  onRows: OnRows = () => undefined,
): Promise<LakeFindings> {
  const lake = await openLake(root);
  const snapshot = lake.current();
  const spill = await mkdtemp(join(tmpdir(), "tapehouse-check-"));
  const writer = await openWriter({ memory: options.memory, tempDirectory: spill });
  try {
    const wanted = entities.filter(({ name }) => checksOf(name).length > 0 && snapshot.files(name).rows > 0);
    const found: EntityFindings[] = [];
    for (const entity of wanted) found.push(await checkEntity(writer, lake.layout, snapshot, entity, options, onRows));
    return { data_version: snapshot.version.data_version, entities: found };
  } finally {
    writer.close();
    await rm(spill, { recursive: true, force: true });
  }
}

/** Rows that are checked at a time, so that memory does not grow with the lake. */
const AT_A_TIME = 1_000_000;

async function checkEntity(
  writer: Writer,
  layout: Layout,
  snapshot: Snapshot,
  entity: Entity,
  { from, to, severity }: CheckOptions,
  onRows: OnRows,
): Promise<EntityFindings> {
  const { byDate } = snapshot.files(entity.name);
  const pathOf = ({ path }: DataFile): string => join(layout.lake, path);
  const checks = checksOf(entity.name).filter((check) => severity === null || check.severity === severity);
  const parts = partsOf(byDate, from, to);
  const total = parts.reduce((sum, part) => sum + part.rows, 0);
  let findings: readonly Finding[] = [];
  let [done, rows] = [0, 0];
  for (const part of parts) {
    onRows(entity.name, done, total);
    const first = part.first === null ? null : later(part.first, from);
    const last = part.last === null ? null : earlier(part.last, to);
    const since = first && daysAfter(first, -BEFORE);
    await fetchMissing(layout, [...part.files, ...filesIn(byDate, since, last)]);
    const checked = rowsIn(entity, part.files, first, last, pathOf);
    const [seen] = await writer.rows(`SELECT count(*) AS rows FROM ${checked}`);
    rows += Number(seen!["rows"]);
    const judged = await judge(
      writer,
      {
        ...{ entity, first, last, rows: `(SELECT ${columnList(entity)}, 0 AS __file FROM ${checked})` },
        around: rowsIn(entity, byDate, since, last, pathOf),
        mostOnADay: mostRowsOnADay(byDate),
        ...others(snapshot, layout),
      },
      checks,
    );
    findings = mergeFindings(findings, [], judged.findings);
    done += part.rows;
  }
  return { entity: entity.name, rows, findings };
}

interface Part extends Pick<FileList, "first" | "last"> {
  readonly files: readonly DataFile[];
  readonly rows: number;
}

/** Consecutive files with dates in the range, joined to parts of about `AT_A_TIME` rows. */
function partsOf(files: readonly DataFile[], from: string | null, to: string | null): readonly Part[] {
  const parts: Part[] = [];
  for (const file of files) {
    const { first, last, rows } = file;
    const isOutside =
      first === null ? (from ?? to) !== null : (to !== null && first > to) || (from !== null && last! < from);
    if (isOutside) continue;
    const before = parts.at(-1);
    if (before && before.first !== null && first !== null && before.rows + rows <= AT_A_TIME) {
      parts[parts.length - 1] = { ...before, last, files: [...before.files, file], rows: before.rows + rows };
    } else parts.push({ first, last, files: [file], rows });
  }
  return parts;
}

const later = (date: string, from: string | null): string => (from !== null && from > date ? from : date);
const earlier = (date: string, to: string | null): string => (to !== null && to < date ? to : date);
