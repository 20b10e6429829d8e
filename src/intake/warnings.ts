// Warnings about a staged file whose values are all valid, but look wrong.
import { misplacedPattern, OTHER_SUFFIXES, suffixOfNumber, SUFFIXES } from "../catalog/codes.js";
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { quoteName } from "../sql-text.js";
import { count, rowsHave, some } from "../words.js";
import type { NotFinite } from "./values.js";
import type { Source } from "./source-types.js";

/** The row limits of responses from this market's data vendors. */
const CAPS = new Set([1000, 2000, 3000, 4000, 5000, 5800, 6000, 7000, 8000, 10_000, 20_000]);

/** A code whose suffix is of no exchange that is known. */
const UNKNOWN = `[.](${[...SUFFIXES, ...OTHER_SUFFIXES].join("|")})$`;

/** Finds what looks wrong in each file of a staged table. `read` is the number of rows in the file. */
export async function warningsOf(
  writer: Writer,
  entity: Entity,
  table: string,
): Promise<(file: number, read: number) => readonly string[]> {
  const period = PERIODS[entity.name];
  const crowded = period === undefined ? new Set() : await crowdedFiles(writer, entity, table, period);
  const odd = await oddCodes(writer, entity, table);
  return (file, read) => [
    ...(read === 0 ? ["the file holds no rows"] : []),
    ...(CAPS.has(read) ? [`exactly ${read.toLocaleString("en")} rows: the pull may have hit a row limit`] : []),
    ...odd.filter((one) => one.file === file).map(({ warning }) => warning),
    ...(crowded.has(file) ? [`looks like daily data: most codes have several days in the same ${period}`] : []),
  ];
}

interface Odd {
  readonly file: number;
  readonly warning: string;
}

/** Counts codes that are possible, but odd: of stocks, by their numbers; of others, by their suffixes. */
async function oddCodes(writer: Writer, entity: Entity, table: string): Promise<readonly Odd[]> {
  const warnings: Odd[] = [];
  for (const { name, codesOf } of entity.columns.filter(({ type }) => type === "code")) {
    const code = quoteName(name);
    const isOdd =
      codesOf === "stocks"
        ? `regexp_matches(${code}, '${misplacedPattern(false)}')`
        : `contains(${code}, '.') AND NOT regexp_matches(${code}, '${UNKNOWN}')`;
    const rows = await writer.rows(
      `SELECT __file AS file, count(*) AS rows, min(${code}) AS sample FROM ${table} ` +
        `WHERE ${code} IN (SELECT ${code} FROM (SELECT DISTINCT ${code} FROM ${table}) WHERE ${isOdd}) GROUP BY 1`,
    );
    for (const row of rows) {
      const sample = String(row["sample"]);
      const number = sample.split(".")[0]!;
      const what =
        codesOf === "stocks"
          ? `another exchange than their numbers tell, e.g. ${sample}, where ${number}.${suffixOfNumber(number) ?? ""} is expected`
          : `a suffix that is of no known exchange, e.g. ${sample}`;
      warnings.push({ file: Number(row["file"]), warning: `${rowsHave(Number(row["rows"]))} ${what}` });
    }
  }
  return warnings;
}

/** A column of measured numbers, with SQL that finds values that are not finite. */
export interface Measured extends NotFinite {
  readonly name: string;
}

/** Counts the numbers of each column that are not finite, and hence missing in the lake. */
export async function lostNumbers(
  writer: Writer,
  columns: readonly Measured[],
  rows: string,
  values: Source["values"],
): Promise<readonly string[]> {
  const counts = columns.flatMap(({ nan, infinite }, i) => [
    `count(*) FILTER (${nan}) AS nan${i}`,
    `count(*) FILTER (${infinite}) AS infinite${i}`,
  ]);
  const [found] = await writer.rows(`SELECT ${counts.join(", ")} FROM ${rows}`, values);
  const warningOf = (what: string, is: keyof NotFinite): readonly string[] => {
    const lost = columns.map(({ name }, i) => [name, Number(found![`${is}${i}`])] as const).filter(([, n]) => n > 0);
    return lost.length === 0
      ? []
      : [`${what} read as missing values: ${some(lost.map(([name, n]) => `${name} ${count(n)}`))}`];
  };
  return [...warningOf("NaN", "nan"), ...warningOf("infinite numbers", "infinite")];
}

/** Entities with one row for each code and period. */
const PERIODS: Readonly<Record<string, string>> = { weekly: "week", monthly: "month" };

/** The files in which most codes have far more rows than periods. */
async function crowdedFiles(writer: Writer, entity: Entity, table: string, period: string): Promise<Set<unknown>> {
  const [code, date] = [quoteName(entity.code), quoteName(entity.mainDate!)];
  const rows = await writer.rows(
    `SELECT file FROM (SELECT __file AS file, count(*) AS rows, ` +
      `count(DISTINCT date_trunc('${period}', ${date})) AS periods FROM ${table} GROUP BY __file, ${code}) ` +
      `GROUP BY 1 HAVING count(*) FILTER (rows > 1.5 * periods) > count(*) / 2`,
  );
  return new Set(rows.map(({ file }) => file));
}
