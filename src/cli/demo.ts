// tapehouse demo: a synthetic market in an empty lake.
import { Command } from "commander";
import { entityNamed } from "../catalog/index.js";
import type { Writer } from "../engine/writer.js";
import { OperatorError } from "../errors.js";
import { buildCodeCopy, wantsCodeCopy } from "../store/compact.js";
import { prepareDemo, type DemoEntity } from "../demo/market.js";
import { merge } from "../store/merge.js";
import { withWriteSession } from "../store/session.js";
import type { FileList } from "../lake/manifest.js";
import { dataOption, jsonOption, memoryOption } from "./options.js";
import { note, printJson } from "./out.js";
import { createProgress } from "./progress.js";
import { plural } from "../words.js";

interface DemoSize {
  readonly stocks: number;
  readonly days: number;
  readonly seed: number;
  readonly memory: string;
}

interface DemoReport {
  readonly entities: number;
  readonly rows: number;
  readonly data_version: string;
}

/** The last day of the demo market: fixed, so that the same options always generate the same rows. */
const UNTIL = "20251231";

export function demoCommand(): Command {
  return new Command("demo")
    .description("Generate a synthetic, consistent market with all entities in an empty lake.")
    .option("--stocks <n>", "number of stocks", wholeNumber(10, 6_000), 300)
    .option("--days <n>", "number of trading days", wholeNumber(30, 8_000), 750)
    .option(
      "--seed <n>",
      "seed of the random numbers: another seed generates another market",
      wholeNumber(0, 2 ** 31 - 1),
      1,
    )
    .addOption(memoryOption())
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse demo --stocks 5000 --days 1000 --data ./big")
    .action(async ({ data, json, ...size }: DemoSize & { data: string; json?: boolean }) => {
      const report = await makeDemo(data, size);
      if (json) printJson(report);
    });
}

/** Generates the demo market and publishes it as one version. Refuses a lake that has data. */
export async function makeDemo(data: string, { memory, ...size }: DemoSize): Promise<DemoReport> {
  const progress = createProgress(process.stderr);
  return withWriteSession(data, { memory, log: note }, async ({ writer, layout, base, publish }) => {
    if (base.version.sequence > 0) {
      throw new OperatorError("the lake already has data; choose another folder with --data");
    }
    progress.show({ what: "generating the market", done: 0, total: 0, unit: "rows" });
    const market = await prepareDemo(writer, { ...size, until: UNTIL });
    const lists: FileList[] = [];
    const total = await rowsOf(writer, market.entities);
    let rows = 0;
    for (const { entity: name, sql } of market.entities) {
      const tell = (written: number): void =>
        progress.show({ what: `writing ${name}`, done: rows + written, total, unit: "rows" });
      tell(0);
      const entity = entityNamed(name)!;
      const { list } = await merge(
        { writer, layout },
        entity,
        base.files(name),
        { fresh: { relation: `(${sql})` } },
        tell,
      );
      lists.push(wantsCodeCopy(entity, list, false) ? await buildCodeCopy({ writer, layout }, entity, list) : list);
      rows += list.rows;
    }
    await market.dispose();
    const version = await publish(lists, `demo ${size.stocks} stocks, ${size.days} days, seed ${size.seed}`);
    progress.done();
    note(`demo market: ${plural(rows, "row")}, data_version ${version!.data_version}`);
    return { entities: lists.length, rows, data_version: version!.data_version };
  });
}

async function rowsOf(writer: Writer, entities: readonly DemoEntity[]): Promise<number> {
  let rows = 0;
  for (const { sql } of entities) rows += (await writer.rows(`SELECT count(*) AS n FROM (${sql})`))[0]!["n"] as number;
  return rows;
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : -1;
    if (value >= least && value <= most) return value;
    throw new OperatorError(`"${text}" is not a whole number from ${least} to ${most}`, 2);
  };
}
