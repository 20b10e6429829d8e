// Generates a synthetic, consistent market for all entities of the catalog, in SQL. Equal options give equal rows.
import type { Writer } from "../engine/writer.js";
import { checkOptions, type Demo, type DemoEntity, type DemoOptions, openDemo } from "./tables.js";
import { makeDays } from "./days.js";
import { makeEpisodes } from "./episodes.js";
import { makeEvents } from "./events.js";
import { makeReports } from "./fundamentals.js";
import { indexEntities, makeIndices } from "./indices.js";
import { reportEntities } from "./reports.js";
import { dailyEntities, makeQuotes, periodEntities } from "./quotes.js";
import { referenceEntities } from "./reference.js";
import { makeStatements, statementEntities } from "./statements.js";
import { makeStocks } from "./stocks.js";
import { tickEntities } from "./ticks.js";

export type { DemoEntity, DemoOptions } from "./tables.js";

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
  const steps = [makeDays, makeStocks, makeEvents, makeReports, makeEpisodes, makeQuotes, makeIndices, makeStatements];
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
