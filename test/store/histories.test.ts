// Random histories of drops, compactions and vacuums against a plain model: a list of rows for each version.
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { isoDate } from "../../src/dates.js";
import { openLake } from "../../src/lake/lake.js";
import { compact } from "../../src/store/compact.js";
import { importFiles } from "../../src/store/import.js";
import { buildCodeCopy } from "../../src/store/code-copy.js";
import { withWriteSession } from "../../src/store/session.js";
import { vacuum } from "../../src/store/vacuum.js";
import { verify } from "../../src/repair/verify.js";
import { temporaryFolder } from "../support/folders.js";
import { size } from "../support/size.js";
import { csvFile, filesBelow, MEMORY, neededFiles, rowsOf } from "../support/upkeep.js";

/** The number of histories for each entity. Each opens DuckDB about ten times. */
const HISTORIES = size("HISTORIES", 5, 20);

const DATES = ["20240102", "20240103", "20240104", "20240105", "20240108", "20240109"];
const CODES = ["000001.SZ", "000002.SZ", "600000.SH"];

/** One row of a drop. */
interface Row {
  readonly code: string;
  readonly date: string;
  readonly value: string;
}

type Step =
  | { readonly does: "drop" | "failed drop"; readonly rows: readonly Row[] }
  | { readonly does: "drop again"; readonly which: number }
  | { readonly does: "compact"; readonly keepRecent: number }
  | { readonly does: "copy by code" }
  | { readonly does: "vacuum"; readonly keep: number };

interface Kind {
  readonly entity: string;
  readonly header: string;
  readonly line: (row: Row) => string;
  readonly shown: (row: Row) => string;
  readonly value: fc.Arbitrary<string>;
  /** The rows of a drop that are merged. */
  readonly settle: (rows: readonly Row[]) => readonly Row[];
}

const identityOf = ({ code, date }: Row): string => `${date} ${code}`;

const KINDS: readonly Kind[] = [
  {
    entity: "adj_factor",
    header: "ts_code,trade_date,adj_factor",
    line: ({ code, date, value }) => `${code},${date},${value}`,
    shown: ({ code, date, value }) => JSON.stringify([code, isoDate(date), Number(value)]),
    value: fc.integer({ min: 1, max: 9 }).map(String),
    // Of several rows with the same identity the last one counts.
    settle: (rows) => [...new Map(rows.map((row) => [identityOf(row), row])).values()],
  },
  {
    entity: "stk_auction",
    header: "ts_code,trade_date,ts_type,time,price,vol,amount,pre_close",
    line: ({ code, date, value }) => `${code},${date},STK,09:25:0${value},${value},100,,`,
    shown: ({ code, date, value }) =>
      JSON.stringify([code, isoDate(date), "STK", `09:25:0${value}`, Number(value), 100, null, null]),
    value: fc.integer({ min: 1, max: 3 }).map(String),
    settle: (rows) => rows,
  },
];

const rowsIn = (kind: Kind): fc.Arbitrary<Row[]> =>
  fc.array(fc.record({ code: fc.constantFrom(...CODES), date: fc.constantFrom(...DATES), value: kind.value }), {
    minLength: 1,
    maxLength: 8,
  });

const stepsOf = (kind: Kind): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: rowsIn(kind).map((rows): Step => ({ does: "drop", rows })) },
      { weight: 1, arbitrary: rowsIn(kind).map((rows): Step => ({ does: "failed drop", rows })) },
      { weight: 2, arbitrary: fc.nat(9).map((which): Step => ({ does: "drop again", which })) },
      { weight: 3, arbitrary: fc.nat(2).map((keepRecent): Step => ({ does: "compact", keepRecent })) },
      { weight: kind.entity === "adj_factor" ? 1 : 2, arbitrary: fc.constant<Step>({ does: "copy by code" }) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }).map((keep): Step => ({ does: "vacuum", keep })) },
    ),
    { minLength: 3, maxLength: 9 },
  );

/** The rows of a lake after a drop: rows with an identity of the drop are replaced. */
function merged(before: readonly Row[], drop: readonly Row[]): readonly Row[] {
  const fresh = new Set(drop.map(identityOf));
  return [...before.filter((row) => !fresh.has(identityOf(row))), ...drop];
}

const shownSorted = (kind: Kind, rows: readonly Row[]): readonly string[] => rows.map(kind.shown).sort();

async function replay(kind: Kind, steps: readonly Step[]): Promise<void> {
  const root = await temporaryFolder();
  const entity = entityNamed(kind.entity)!;
  const drops: (readonly Row[])[] = [];
  let rows: readonly Row[] = [];
  /** Rows of each version that must be readable. */
  let model = new Map<string, readonly string[]>();

  const bring = async (drop: readonly Row[], more: readonly string[] = []): Promise<void> => {
    const file = await csvFile(kind.header, [...drop.map(kind.line), ...more]);
    await importFiles(root, entity, [file], { map: {}, set: {}, ...MEMORY });
  };
  for (const step of steps) {
    if (step.does === "drop") {
      await bring(step.rows);
      rows = merged(rows, kind.settle(step.rows));
      drops.push(step.rows);
    } else if (step.does === "drop again" && drops.length > 0) {
      const again = drops[step.which % drops.length]!;
      await bring(again);
      rows = merged(rows, kind.settle(again));
    } else if (step.does === "failed drop") {
      await expect(bring(step.rows, ["000001.SZ,20240230,1,1,1,1,1,1"])).rejects.toThrow();
    } else if (step.does === "compact") {
      await compact(root, { keepRecent: step.keepRecent, ...MEMORY });
    } else if (step.does === "copy by code") {
      await withWriteSession(root, MEMORY, async ({ writer, layout, base, publish }) => {
        await publish([await buildCodeCopy({ writer, layout }, entity, base.files(entity.name))], "copy by code");
      });
    } else if (step.does === "vacuum") {
      const { removed } = await vacuum(root, { olderThan: 0, keep: step.keep, now: new Date(Date.now() + 60_000) });
      expect(removed).toEqual([...model.keys()].slice(0, Math.max(0, model.size - step.keep)));
      for (const dataVersion of removed) model.delete(dataVersion);
    }

    const lake = await openLake(root);
    const { version } = lake.current();
    if (version.sequence > 0 && !model.has(version.data_version)) {
      model = new Map([...model, [version.data_version, shownSorted(kind, rows)]]);
    }
    expect((await lake.versions()).map(({ data_version }) => data_version)).toEqual([...model.keys()]);
    for (const [dataVersion, expected] of model) {
      const found = await lake.at(dataVersion);
      if (typeof found === "string") throw new Error(`${dataVersion} is kept and yet ${found}`);
      expect([...(await rowsOf(root, found, kind.entity))].sort()).toEqual(expected);
    }
    if (version.sequence > 0) expect(model.get(version.data_version)).toEqual(shownSorted(kind, rows));
  }
  expect((await verify(root, { deep: true, ...MEMORY })).faults).toEqual([]);
  await vacuum(root, { olderThan: 0, keep: model.size, now: new Date() });
  expect((await filesBelow(root)).filter((path) => path !== join("state", "removed.txt"))).toEqual(
    await neededFiles(root),
  );
}

describe.each(KINDS)("any history of $entity", (kind) => {
  test("ends with the rows of a plain model, in every kept version", async () => {
    await fc.assert(
      fc.asyncProperty(stepsOf(kind), (steps) => replay(kind, steps)),
      { numRuns: HISTORIES },
    );
    expect(HISTORIES).toBeGreaterThan(0);
  }, 3_600_000);
});
