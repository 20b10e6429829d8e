// Shared parts of the demo: options, helper tables, and SELECTs that fit the catalog.
import { entityNamed } from "../catalog/index.js";
import { SQL_TYPES } from "../catalog/types.js";
import { OperatorError } from "../errors.js";
import type { Writer } from "../engine/writer.js";
import { LAST_YEAR, tradingDays } from "./calendar.js";
import { randomOf, type Random } from "./random.js";

export interface DemoOptions {
  /** Number of stocks, including delisted ones. */
  readonly stocks: number;
  /** Number of trading days. */
  readonly days: number;
  readonly seed: number;
  /** Last calendar day, `YYYYMMDD`. */
  readonly until: string;
}

export interface DemoEntity {
  readonly entity: string;
  /** Exactly the entity's columns, in the order and the SQL types of the catalog. The rows have no defined order. */
  readonly sql: string;
}

export interface Demo {
  readonly options: DemoOptions;
  readonly random: Random;
  /** Runs `CREATE TEMP TABLE demo_<name> AS <select>`. */
  table(name: string, select: string, values?: readonly string[]): Promise<void>;
  drop(): Promise<void>;
}

const STOCKS = { least: 10, most: 6000 };
const LEAST_DAYS = 30;

/** Throws an OperatorError for sizes that cannot be generated. */
export function checkOptions({ stocks, days, until }: DemoOptions): void {
  if (stocks < STOCKS.least || stocks > STOCKS.most) {
    throw new OperatorError(`the demo supports ${STOCKS.least} to ${STOCKS.most} stocks, not ${stocks}`, 2);
  }
  if (days < LEAST_DAYS) throw new OperatorError(`the demo needs at least ${LEAST_DAYS} days, not ${days}`, 2);
  if (until >= String(LAST_YEAR)) throw new OperatorError(`the demo's calendar ends with the year ${LAST_YEAR}`, 2);
  const known = Math.max(0, tradingDays(until) - 1);
  if (days > known) throw new OperatorError(`there are only ${known} trading days up to ${until}, not ${days}`, 2);
}

/** Helper tables of one demo in one writer, dropped together. */
export function openDemo(writer: Writer, options: DemoOptions): Demo {
  const tables: string[] = [];
  return {
    options,
    random: randomOf(options.seed),
    async table(name, select, values = []) {
      await writer.run(`CREATE TEMP TABLE demo_${name} AS ${select}`, values);
      tables.push(`demo_${name}`);
    },
    async drop() {
      for (const table of tables.reverse()) await writer.run(`DROP TABLE ${table}`);
      tables.length = 0;
    },
  };
}

/**
 * `SELECT ... <from>` with the entity's columns in the order and types of the catalog. A column without an expression
 * is null. Throws for an expression of a column that the catalog does not have.
 */
export function selectOf(name: string, expressions: Readonly<Record<string, string>>, from: string): string {
  const entity = entityNamed(name);
  if (!entity) throw new Error(`no entity ${name}`);
  const strangers = Object.keys(expressions).filter((key) => !entity.columns.some((column) => column.name === key));
  if (strangers.length > 0) throw new Error(`${name} has no column ${strangers.join(", ")}`);
  const columns = entity.columns.map(
    (column) => `CAST(${expressions[column.name] ?? "NULL"} AS ${SQL_TYPES[column.type]}) AS "${column.name}"`,
  );
  return `SELECT ${columns.join(", ")} ${from}`;
}
