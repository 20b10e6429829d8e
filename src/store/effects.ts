// What a change does to stored rows beyond replacing them: values that are lost, and days of which older rows stay.
import { usualWhole, type ReplaceMode } from "../catalog/replace.js";
import type { Column, Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import type { DataFile } from "../lake/manifest.js";
import { quoteName } from "../sql-text.js";
import { hasColumn, lacksValue, sameIdentity, withTwins, type Change } from "./change.js";
import { scan, type Writing } from "./datafile.js";

export interface Effects {
  /** Columns in which stored rows had values that the rows in their place lack. */
  readonly lost: readonly Lost[];
  /** Null if there are none. */
  readonly mixed: Mixed | null;
}

interface Lost {
  readonly column: string;
  readonly rows: number;
  /** The numbers of files with such rows, and how many each has. */
  readonly ofFiles: readonly (readonly [number, number])[];
}

/** Days (or snapshots, or whole lists) that now hold fresh rows and fewer older ones, some of which were replaced. */
interface Mixed {
  readonly mode: ReplaceMode;
  readonly units: readonly MixedUnit[];
}

interface MixedUnit {
  /** E.g. `20250107`, or `000300.SH 20250107`; empty if all rows of the entity are one list. */
  readonly name: string;
  readonly fresh: number;
  readonly older: number;
  /** The numbers of the files with fresh rows. */
  readonly files: readonly number[];
}

const NONE: Effects = { lost: [], mixed: null };

interface Outcome {
  /** Files that were rewritten, and those in their place. */
  readonly touched: readonly DataFile[];
  readonly written: readonly DataFile[];
  readonly replaced: number;
  /** Stored rows that stay on the dates of fresh ones. */
  readonly stayed: number;
}

export async function effectsOf(writing: Writing, entity: Entity, change: Change, outcome: Outcome): Promise<Effects> {
  if (!change.fresh || outcome.replaced === 0) return NONE;
  const isPlain = !change.whole && !change.where;
  return {
    lost: await lostValues(writing, entity, change, outcome),
    mixed: isPlain && outcome.stayed > 0 ? await mixedUnits(writing, entity, change, outcome) : null,
  };
}

/** Compares only columns in which fresh rows have missing values. */
async function lostValues(
  { writer, layout }: Writing,
  entity: Entity,
  { fresh, byFile, lacking }: Change,
  { touched }: Outcome,
): Promise<readonly Lost[]> {
  const { relation } = fresh!;
  const isRow = entity.identityIs === "row";
  const keeps = entity.identityIs === "ticks" ? undefined : lacking;
  const isKept = (name: string): string =>
    lacksValue(keeps, name) + (isRow || !keeps?.has(name) ? "" : " AND f.__twins = 1 AND o.__twins = 1");
  const compared = entity.columns.filter(({ name, nullable }) => nullable && !entity.identity.includes(name));
  const columns = await columnsWithNulls(writer, relation, compared, isRow ? keeps : undefined);
  if (columns.length === 0) return [];
  const stored = scan(layout, touched);
  const [f, o] = isRow
    ? [relation, stored]
    : [oneRowEach(entity, relation, columns, keeps, byFile), withTwins(entity, stored)];
  const counts = columns.map((name, i) => {
    const column = quoteName(name);
    return `count(*) FILTER (f.${column} IS NULL AND o.${column} IS NOT NULL AND NOT (${isKept(name)})) AS n${i}`;
  });
  const found = await writer.rows(
    `SELECT ${byFile ? "f.__file" : "0"} AS file, ${counts.join(", ")} FROM ${f} f JOIN ${o} o ON ${sameIdentity(entity, "f", "o")} GROUP BY 1`,
  );
  return columns.flatMap((column, i) => {
    const ofFiles = found.map((row) => [Number(row["file"]), Number(row[`n${i}`])] as const).filter(([, n]) => n > 0);
    const rows = ofFiles.reduce((sum, [, n]) => sum + n, 0);
    return rows === 0 ? [] : [{ column, rows, ofFiles }];
  });
}

/** The columns that are missing in some fresh row whose file has them. */
async function columnsWithNulls(
  writer: Writer,
  freshSql: string,
  columns: readonly Column[],
  lacking: Change["lacking"],
): Promise<readonly string[]> {
  const names = columns.map(({ name }) => name).filter((name) => lacking?.get(name) !== "all");
  if (names.length === 0) return [];
  const tests = names.map(
    (name, i) => `bool_or(${quoteName(name)} IS NULL AND NOT ${lacksValue(lacking, name)}) AS n${i}`,
  );
  const [row] = await writer.rows(`SELECT ${tests.join(", ")} FROM ${freshSql} f`);
  return names.filter((_, i) => row![`n${i}`] === true);
}

/** One row for each identity that may hold several: a column is missing only if it is missing in all of them. */
function oneRowEach(
  entity: Entity,
  freshSql: string,
  columns: readonly string[],
  lacking: Change["lacking"],
  byFile: Change["byFile"],
): string {
  const identity = entity.identity.map(quoteName).join(", ");
  const values = columns.map((name) => `max(${quoteName(name)}) AS ${quoteName(name)}`);
  const has = columns
    .filter((name) => lacking?.get(name) === "some")
    .map((name) => `bool_and(${hasColumn(name)}) AS ${hasColumn(name)}`);
  const list = [identity, ...values, ...has, ...(byFile ? ["max(__file) AS __file"] : []), "count(*) AS __twins"].join(
    ", ",
  );
  return `(SELECT ${list} FROM ${freshSql} GROUP BY ${identity})`;
}

/** With more than this, an entity's list is reported in part. */
const MOST_UNITS = 1_000;

async function mixedUnits(
  { writer, layout, target = layout }: Writing,
  entity: Entity,
  { fresh, byFile }: Change,
  { touched, written }: Outcome,
): Promise<Mixed | null> {
  const whole = usualWhole(entity);
  if (whole === null) return null;
  const keys = whole.columns.map(quoteName);
  const shown = whole.columns.map((name) =>
    name === entity.mainDate ? `strftime(${quoteName(name)}, '%Y%m%d')` : `${quoteName(name)}::VARCHAR`,
  );
  const known = ["true", ...keys.map((key) => `${key} IS NOT NULL`)].join(" AND ");
  const unit = `concat_ws(' ', '', ${shown.join(", ") || "''"})`;
  const counted = (rows: string, as: string, also = ""): string =>
    `(SELECT ${unit} AS unit, count(*) AS ${as}${also} FROM ${rows} WHERE ${known} GROUP BY 1)`;
  const freshUnits = counted(
    fresh!.relation,
    "n_fresh",
    `, to_json(list(DISTINCT ${byFile ? "__file" : "0"}))::VARCHAR AS files`,
  );
  const found = await writer.rows(
    `SELECT trim(unit) AS name, n_fresh AS fresh, n_now - n_fresh AS older, files FROM ${freshUnits} ` +
      `JOIN ${counted(scan(layout, touched), "n_before")} USING (unit) JOIN ${counted(scan(target, written), "n_now")} USING (unit) ` +
      `WHERE n_now > n_fresh AND 2 * n_fresh > n_now AND n_before > n_now - n_fresh ORDER BY name LIMIT ${MOST_UNITS}`,
  );
  if (found.length === 0) return null;
  const units = found as unknown as readonly (Omit<MixedUnit, "files"> & { readonly files: string })[];
  return {
    mode: whole.mode,
    units: units.map((one) => ({ ...one, files: JSON.parse(one.files) as readonly number[] })),
  };
}
