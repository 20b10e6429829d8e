// Values for the examples in the description: on the demo market they find rows.
import type { Column, Entity } from "../../catalog/types.js";

interface Range {
  readonly start_date: string;
  readonly end_date: string;
}

/** A year of the demo market. */
const YEAR: Range = { start_date: "20240102", end_date: "20241231" };

/** A span of dates; a long one for entities whose rows are rare. */
export const exampleRange = (entity: Entity | null): Range =>
  entity !== null && ["namechange", "index_member"].includes(entity.name) ? { ...YEAR, start_date: "19900101" } : YEAR;

/** A day on which the exchange was open. */
export const EXAMPLE_TRADING_DAY = "20240102";

const EXAMPLE_STOCK = "600519.SH";
const EXAMPLE_INDEX = "000300.SH";
const EXAMPLE_INDUSTRY = "801010.SI";

/** Codes of entities that are not about stocks. */
const CODES: Readonly<Record<string, string>> = {
  index_basic: EXAMPLE_INDEX,
  index_daily: EXAMPLE_INDEX,
  index_weight: EXAMPLE_INDEX,
  index_classify: EXAMPLE_INDUSTRY,
  index_member: EXAMPLE_INDUSTRY,
};

export const exampleCode = (entity: Entity): string => CODES[entity.name] ?? EXAMPLE_STOCK;

/** A filter by code, or by one of the few values that occur; null for any other column. */
export function exampleValue(entity: Entity, column: Column): readonly unknown[] | null {
  if (column.only) return [column.type === "int64" ? 1 : column.only[0]];
  return column.name === entity.code ? [exampleCode(entity)] : null;
}

/** The code, the main date, and two columns more, numbers first. */
export function exampleFields(entity: Entity): readonly string[] {
  const key = [entity.code, ...(entity.mainDate === null ? [] : [entity.mainDate])];
  const others = entity.columns.filter(({ name }) => !key.includes(name));
  const numbers = others.filter(({ type }) => type === "float64");
  const texts = others.filter(({ type }) => type !== "float64");
  return [...key, ...[...numbers, ...texts].slice(0, 2).map(({ name }) => name)];
}
