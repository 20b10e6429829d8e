// The columns that users were promised: by the specification for 21 entities, by custom for the finance tables.
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { ENTITIES, entityNamed } from "../../src/catalog/index.js";
import { DTYPES } from "../../src/catalog/types.js";

const shared = join(import.meta.dirname, "../../../shared");
const specification = join(shared, "spec/market-data-query-service.md");
const indicatorFile = join(shared, "realdata/fina_indicator/Bancob__600519.SH_indiv_fin.csv");

function skipWithout(context: TestContext, file: string): void {
  context.skip(!existsSync(file), `needs ${basename(file)} in the folder shared/ beside the project`);
}

interface SpecifiedColumn {
  readonly name: string;
  readonly dtype: string;
  readonly mayBeNull: boolean;
}

/** Each table headed `Field | Type | Meaning`, under the entity names in backquotes that open the paragraph before it. */
function specifiedColumns(markdown: string): Map<string, SpecifiedColumn[]> {
  const entities = markdown.slice(markdown.indexOf("### Market entities"), markdown.indexOf("### Catalog, calendar"));
  const found = new Map<string, SpecifiedColumn[]>();
  let current: string[] = [];
  for (const line of entities.split("\n")) {
    const opening = /^((?:`\w+`(?:, | and )?)+):/.exec(line)?.[1];
    const row = /^\| `(\w+)` \| (\w+)(, may be null)? \|/.exec(line);
    if (opening) current = [...opening.matchAll(/`(\w+)`/g)].map((match) => match[1]!);
    if (!row) continue;
    for (const name of current) {
      const column = { name: row[1]!, dtype: row[2]!, mayBeNull: row[3] !== undefined };
      found.set(name, [...(found.get(name) ?? []), column]);
    }
  }
  return found;
}

const shape = (name: string) => entityNamed(name)!.columns.map((c) => `${c.name} ${DTYPES[c.type]}`);

describe("columns of the specified entities", () => {
  it("are those of daily, in order", () => {
    expect(shape("daily")).toEqual([
      ...["ts_code string", "trade_date string", "open float64", "high float64", "low float64", "close float64"],
      ...["pre_close float64", "change float64", "pct_chg float64", "vol float64", "amount float64"],
    ]);
  });

  it.each(["weekly", "monthly"])("are those of %s, which puts close before open", (name) => {
    expect(shape(name)).toEqual([
      ...["ts_code string", "trade_date string", "close float64", "open float64", "high float64", "low float64"],
      ...["pre_close float64", "change float64", "pct_chg float64", "vol float64", "amount float64"],
    ]);
  });

  it("are exactly the specification's, in name, order and dtype", (context) => {
    skipWithout(context, specification);
    const specified = specifiedColumns(readFileSync(specification, "utf8"));
    // The specification tells weekly and monthly in prose; they are checked above.
    expect([...specified.keys(), "weekly", "monthly"]).toHaveLength(21);
    for (const [name, columns] of specified) {
      expect(shape(name), name).toEqual(columns.map((c) => `${c.name} ${c.dtype}`));
    }
  });

  it("may be null wherever the specification says so", (context) => {
    skipWithout(context, specification);
    const specified = specifiedColumns(readFileSync(specification, "utf8"));
    const promised = [...specified].flatMap(([name, columns]) =>
      columns.filter((c) => c.mayBeNull).map((c) => ({ entity: name, column: c.name })),
    );
    expect(promised.length).toBeGreaterThan(5);
    for (const { entity, column } of promised) {
      const found = entityNamed(entity)!.columns.find((c) => c.name === column);
      expect(found?.nullable, `${entity}.${column}`).toBe(true);
    }
  });
});

describe("columns of the finance entities", () => {
  it("number as many as the field knows", () => {
    const finance = ENTITIES.filter((entity) => entity.store === "finance");
    expect(Object.fromEntries(finance.map((entity) => [entity.name, entity.columns.length]))).toEqual({
      income: 94,
      balancesheet: 158,
      cashflow: 97,
      fina_indicator: 167,
      dividend: 16,
    });
  });

  it("open the three statements with code, the two announcement dates and the period", () => {
    for (const name of ["income", "balancesheet", "cashflow"]) {
      const columns = entityNamed(name)!.columns.map((column) => column.name);
      expect(columns.slice(0, 4)).toEqual(["ts_code", "ann_date", "f_ann_date", "end_date"]);
      expect(columns.at(-1)).toBe("update_flag");
    }
  });

  it("hold every indicator of a real file, in the file's order", (context) => {
    skipWithout(context, indicatorFile);
    const header = readFileSync(indicatorFile, "utf8").split(/\r?\n/, 1)[0]!;
    const wanted = header.split(",").map((name) => name.replace("indiv_fin_", ""));
    const known = new Set(wanted);
    expect(wanted).toHaveLength(108);
    const ours = entityNamed("fina_indicator")!.columns.map((column) => column.name);
    expect(ours.filter((name) => known.has(name))).toEqual(wanted);
  });
});
