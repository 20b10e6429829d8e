// Generates a synthetic, consistent market for all entities of the catalog, in SQL. Equal options give equal rows.
import type { Writer } from "../engine/writer.js";
import { OperatorError } from "../errors.js";
import { type Demo, type DemoEntity, type DemoOptions, openDemo } from "./tables.js";
import { LAST_YEAR, makeDays, tradingDays } from "./calendar.js";
import { indexEntities, makeIndices } from "./indices.js";
import { dailyEntities, makeQuotes, periodEntities } from "./quotes.js";
import { referenceEntities, reportEntities } from "./reference.js";
import { makeStatements, statementEntities } from "./statements.js";
import { makeStocks } from "./stocks.js";
import { tickEntities } from "./ticks.js";

export type { DemoEntity, DemoOptions } from "./tables.js";

const STOCKS = { least: 10, most: 6000 };
const LEAST_DAYS = 30;

interface DemoMarket {
  /** One of each entity of the catalog. Valid until `dispose`. */
  readonly entities: readonly DemoEntity[];
  /** Drops the helper tables. */
  dispose(): Promise<void>;
}

/** Creates the helper tables of a demo market in the writer. Throws an OperatorError for impossible sizes. */
export async function prepareDemo(writer: Writer, options: DemoOptions): Promise<DemoMarket> {
  checkOptions(options);
  const demo = openDemo(writer, options);
  const steps = [makeDays, makeStocks, makeStatements, makeQuotes, makeIndices];
  try {
    for (const make of steps) await make(demo);
    const entities = [...dailyEntities(), ...statementEntities(), ...(await keep(demo))];
    return { entities, dispose: () => demo.drop() };
  } catch (error) {
    await demo.drop();
    throw error;
  }
}

/** Stores entities that are slow to generate, since the lake reads its source several times, a few days each time. */
async function keep(demo: Demo): Promise<DemoEntity[]> {
  const costly = [
    ...referenceEntities(demo),
    ...periodEntities(),
    ...tickEntities(demo),
    ...indexEntities(),
    ...reportEntities(demo),
  ];
  for (const { entity, sql } of costly) await demo.table(entity, sql);
  return costly.map(({ entity }) => ({ entity, sql: `SELECT * FROM demo_${entity}` }));
}

/** Throws an OperatorError for sizes that cannot be generated. */
function checkOptions({ stocks, days, until }: DemoOptions): void {
  if (stocks < STOCKS.least || stocks > STOCKS.most) {
    throw new OperatorError(`the demo supports ${STOCKS.least} to ${STOCKS.most} stocks, not ${stocks}`, 2);
  }
  if (days < LEAST_DAYS) throw new OperatorError(`the demo needs at least ${LEAST_DAYS} days, not ${days}`, 2);
  if (until >= String(LAST_YEAR)) throw new OperatorError(`the demo's calendar ends with the year ${LAST_YEAR}`, 2);
  const known = Math.max(0, tradingDays(until) - 1);
  if (days > known) throw new OperatorError(`there are only ${known} trading days up to ${until}, not ${days}`, 2);
}
