// Warnings about a staged file whose values are all valid, but look wrong.
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { quoteName } from "../sql-text.js";
import { count, some } from "../words.js";
import type { NotFinite } from "./values.js";
import type { Source } from "./source-types.js";

/** The row limits of responses from this market's data vendors. */
const CAPS = new Set([1000, 2000, 3000, 4000, 5000, 5800, 6000, 7000, 8000, 10_000, 20_000]);

/** Codes of the Beijing exchange, old and new, with the suffix of another exchange. */
const MISPLACED = "^(43|83|87|92)\\d{4}\\.S[HZ]$";

/** The warnings about the staged rows. `read` is the number of rows in the file. */
export async function warningsOf(
  writer: Writer,
  entity: Entity,
  table: string,
  read: number,
): Promise<readonly string[]> {
  const codes = entity.columns.filter(({ type }) => type === "code").map(({ name }) => quoteName(name));
  const misplaced = codes.map((name) => `regexp_matches(${name}, '${MISPLACED}')`).join(" OR ") || "false";
  const [{ misplaced: elsewhere } = { misplaced: 0 }] = await writer.rows(
    `SELECT coalesce(sum(rows), 0)::BIGINT AS misplaced FROM ` +
      `(SELECT ${[...codes, "count(*) AS rows"].join(", ")} FROM ${table} GROUP BY ALL) WHERE ${misplaced}`,
  );
  const check = UNIT_CHECKS[entity.columns.find(({ name }) => name === "close")?.unit ?? ""];
  const ratio = check ? await medianRatio(writer, entity, table, read, check) : 1;
  const period = PERIODS[entity.name];
  const crowded = period !== undefined && (await isCrowded(writer, entity, table, period));
  return [
    ...(read === 0 ? ["the file holds no rows"] : []),
    ...(CAPS.has(read) ? [`exactly ${read.toLocaleString("en")} rows: the pull may have hit a row limit`] : []),
    ...(Number(elsewhere) > 0
      ? [`${elsewhere} rows have a code of the Beijing exchange (43, 83, 87, 92) under another exchange`]
      : []),
    ...(check && (ratio < 1 / check.within || ratio > check.within)
      ? [`amount / vol is far from ${check.what}: check that vol is in lots, amount in thousands`]
      : []),
    ...(crowded ? [`looks like daily data: most codes have several days in the same ${period}`] : []),
  ];
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

/** Whether most codes have far more rows than periods. */
async function isCrowded(writer: Writer, entity: Entity, table: string, period: string): Promise<boolean> {
  const [code, date] = [quoteName(entity.code), quoteName(entity.mainDate!)];
  const [seen] = await writer.rows(
    `SELECT count(*) FILTER (rows > 1.5 * periods) > count(*) / 2 AS crowded FROM (SELECT count(*) AS rows, ` +
      `count(DISTINCT date_trunc('${period}', ${date})) AS periods FROM ${table} GROUP BY ${code})`,
  );
  return seen!["crowded"] === true;
}

interface UnitCheck {
  /** The expected price per share, as SQL. */
  readonly price: string;
  readonly within: number;
  readonly what: string;
}

/** By the unit of `close`: amount / vol of a stock is near its price, that of an index is a few yuan. */
const UNIT_CHECKS: Readonly<Record<string, UnitCheck>> = {
  "currency units": { price: `"close"`, within: 5, what: "the price" },
  points: { price: "10", within: 20, what: "a price" },
};

/** With more rows than this, a sample of about this size is checked. */
const SAMPLED_ROWS = 100_000;

/** The median of amount / vol as a multiple of the price: about 1 if both are in the units of the catalog. */
async function medianRatio(
  writer: Writer,
  entity: Entity,
  table: string,
  read: number,
  { price }: UnitCheck,
): Promise<number> {
  const unitOf = (wanted: string): string | undefined => entity.columns.find(({ name }) => name === wanted)?.unit;
  if (unitOf("vol") !== "lots" || unitOf("amount") !== "thousand currency units") return 1;
  const every = Math.ceil(read / SAMPLED_ROWS);
  const [row] = await writer.rows(
    `SELECT approx_quantile(amount * 10 / (vol * ${price}), 0.5) AS ratio FROM ${table} ` +
      `WHERE vol > 0 AND ${price} > 0${every > 1 ? ` AND __row % ${every} = 0` : ""}`,
  );
  return Number(row!["ratio"] ?? 1);
}
