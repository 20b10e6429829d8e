// What looks wrong in a staged file although every value of it could be taken.
import type { Entity } from "../../catalog/types.js";
import type { Writer } from "../../engine/writer.js";
import { quoteName } from "./datafile.js";

/** Rows at which the servers of this market's data vendors cut an answer. */
const CAPS = new Set([1000, 2000, 3000, 4000, 5000, 5800, 6000, 7000, 8000, 10_000, 20_000]);

/** Codes of the Beijing exchange, old and new, under the name of another exchange. */
const MISPLACED = "^(43|83|87|92)\\d{4}\\.S[HZ]$";

/** Looks at the staged rows; `read` is the number of rows that the file held. */
export async function warningsOf(
  writer: Writer,
  entity: Entity,
  table: string,
  read: number,
): Promise<readonly string[]> {
  const codes = entity.columns.filter(({ type }) => type === "code").map(({ name }) => quoteName(name));
  const misplaced = codes.map((name) => `regexp_matches(${name}, '${MISPLACED}')`).join(" OR ") || "false";
  const [seen] = await writer.rows(
    `SELECT count(*) FILTER (${misplaced}) AS misplaced, ${unitRatio(entity)} AS ratio FROM ${table}`,
  );
  const count = Number(seen!["misplaced"]);
  const ratio = seen!["ratio"] === null ? 1 : Number(seen!["ratio"]);
  return [
    ...(read === 0 ? ["the file holds no rows"] : []),
    ...(CAPS.has(read) ? [`exactly ${read.toLocaleString("en")} rows: it looks like a pull that was cut off`] : []),
    ...(count > 0 ? [`${count} rows have a code of the Beijing exchange (43, 83, 87, 92) under another exchange`] : []),
    ...(ratio < 0.2 || ratio > 5
      ? [
          `amount / vol is ${Number(ratio.toPrecision(2))} times the price: check that vol is in lots, amount in thousands`,
        ]
      : []),
  ];
}

/** Turnover by volume, as a multiple of the price: about 1 where both are in the units of the catalog. */
function unitRatio(entity: Entity): string {
  const units = new Map(entity.columns.map(({ name, unit }) => [name, unit]));
  const comparable =
    units.get("vol") === "lots" &&
    units.get("amount") === "thousand currency units" &&
    units.get("close") === "currency units";
  return comparable ? `approx_quantile(amount * 10 / (vol * "close"), 0.5) FILTER (vol > 0 AND "close" > 0)` : "NULL";
}
