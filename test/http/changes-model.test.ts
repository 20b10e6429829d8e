// Random histories: the changes between any two versions are those of a plain model, in every format.
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { FORMAT_NAMES } from "../../src/catalog/formats.js";
import { entityNamed } from "../../src/catalog/index.js";
import { SQL_TYPES, type Entity } from "../../src/catalog/types.js";
import { isoDate } from "../../src/dates.js";
import { fileList, type DataFile } from "../../src/lake/manifest.js";
import { quoteText } from "../../src/sql-text.js";
import { compact } from "../../src/store/compact.js";
import { writeDataFiles } from "../../src/store/datafile.js";
import { merge } from "../../src/store/merge.js";
import { withWriteSession } from "../../src/store/session.js";
import { applyChanges, expectedChanges, rowJson } from "../support/changes-model.js";
import { temporaryFolder } from "../support/folders.js";
import { serve, type TestServer } from "../support/server.js";
import { size } from "../support/size.js";
import type { Row } from "../support/traffic-model.js";
import { READERS } from "../support/traffic-readers.js";
import { MEMORY } from "../support/upkeep.js";

vi.setConfig({ testTimeout: 600_000 });

const HISTORIES = size("DIFFERENCES", 1, 15);

const DATES = ["20240102", "20240103", "20240104", "20240105", "20240108"];
const CODES = ["000001.SZ", "600519.SH"];
const NUMBERS = [0, 1, 10.5, 0.1 + 0.2, 1e21, 1.5e-7, 123456789012345680, -3, null];
const TEXTS = ["a", 'say "hi", twice', "", "中文", null];

/** The values of the columns that differ between rows; every other column is null. */
const VALUES: Readonly<Record<string, Readonly<Record<string, readonly Row[number][]>>>> = {
  daily: { ts_code: CODES, trade_date: DATES, close: NUMBERS, vol: NUMBERS },
  stk_auction: { ts_code: CODES, trade_date: DATES, time: ["09:25:00", null], price: [1, 2.5] },
  stock_company: {
    ts_code: [...CODES, "000002.SZ"],
    manager: TEXTS,
    reg_capital: NUMBERS,
    setup_date: [...DATES, null],
  },
  trade_cal: { exchange: ["SSE"], cal_date: DATES, is_open: [0, 1] },
  balancesheet: {
    ts_code: CODES,
    ann_date: [...DATES.slice(0, 2), null],
    end_date: ["20231231"],
    report_type: ["1", "2"],
    total_share: NUMBERS,
    cap_rese: NUMBERS,
    update_flag: TEXTS,
  },
  dividend: { ts_code: CODES, ex_date: [...DATES.slice(0, 2), null], end_date: ["20231231", null], div_proc: TEXTS },
};

type Step =
  | { readonly does: "drop"; readonly rows: readonly Row[] }
  /** All rows are replaced, in files that end after some of the dates. */
  | { readonly does: "replace"; readonly rows: readonly Row[]; readonly cuts: readonly string[] }
  | { readonly does: "delete"; readonly code: string }
  | { readonly does: "compact" };

function rowsOf({ name, columns }: Entity): fc.Arbitrary<Row[]> {
  const values = columns.map((column) => fc.constantFrom(...(VALUES[name]![column.name] ?? [null])));
  return fc.array(fc.tuple(...values), { minLength: 1, maxLength: 8 });
}

const stepsOf = (entity: Entity): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: rowsOf(entity).map((rows): Step => ({ does: "drop", rows })) },
      {
        weight: 2,
        arbitrary: fc
          .tuple(rowsOf(entity), fc.subarray(DATES))
          .map(([rows, cuts]): Step => ({ does: "replace", rows, cuts })),
      },
      { weight: 1, arbitrary: fc.constantFrom(...CODES).map((code): Step => ({ does: "delete", code })) },
      { weight: 1, arbitrary: fc.constant<Step>({ does: "compact" }) },
    ),
    { minLength: 3, maxLength: 5 },
  );

const keyOf = (entity: Entity, row: Row): string =>
  JSON.stringify(entity.identity.map((name) => row[entity.columns.findIndex((column) => column.name === name)]!));

/** In an entity of which an identity is one row, the last row of an identity counts. */
const settled = (entity: Entity, rows: readonly Row[]): readonly Row[] =>
  entity.identityIs !== "row" ? rows : [...new Map(rows.map((row) => [keyOf(entity, row), row])).values()];

function relationOf({ columns }: Entity, rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const values = row.map((value, i) => {
      const { type } = columns[i]!;
      const text = value === null ? "NULL" : quoteText(type === "date" ? isoDate(String(value)) : String(value));
      return `${text}::${SQL_TYPES[type]}`;
    });
    return `(${values.join(", ")})`;
  });
  return `(SELECT * FROM (VALUES ${lines.join(", ")}) t(${columns.map(({ name }) => `"${name}"`).join(", ")}))`;
}

async function replaceAll(root: string, entity: Entity, rows: readonly Row[], cuts: readonly string[]): Promise<void> {
  await withWriteSession(root, MEMORY, async ({ writer, layout, publish }) => {
    const date = entity.columns.findIndex(({ name }) => name === entity.mainDate);
    const groups = new Map<number, Row[]>();
    for (const row of rows) {
      const day = date < 0 ? null : row[date]!;
      const group = day === null ? Infinity : cuts.filter((cut) => cut < String(day)).length;
      groups.set(group, [...(groups.get(group) ?? []), row]);
    }
    const sources = [...groups].sort(([a], [b]) => a - b).map(([, group]) => ({ relation: relationOf(entity, group) }));
    const files: DataFile[] = [];
    for await (const file of writeDataFiles({ writer, layout }, entity, sources)) files.push(file);
    await publish([fileList(entity.name, files)], "replace");
  });
}

async function dropRows(root: string, entity: Entity, rows: readonly Row[]): Promise<void> {
  await withWriteSession(root, MEMORY, async ({ writer, layout, base, publish }) => {
    const fresh = { relation: relationOf(entity, rows) };
    const { list } = await merge({ writer, layout }, entity, base.files(entity.name), { fresh });
    await publish([list], "drop");
  });
}

async function deleteCode(root: string, entity: Entity, code: string): Promise<void> {
  await withWriteSession(root, MEMORY, async ({ writer, layout, base, publish }) => {
    const condition = { sql: `"${entity.code}" = $1`, values: [code] };
    const where = { condition, first: null, last: null, keepsOrder: true };
    const { list } = await merge({ writer, layout }, entity, base.files(entity.name), { where });
    await publish([list], "delete");
  });
}

/** The rows of each version, by its `data_version`. */
async function play(
  root: string,
  entity: Entity,
  steps: readonly Step[],
): Promise<ReadonlyMap<string, readonly Row[]>> {
  const server = await serve(root);
  const versions = new Map<string, readonly Row[]>();
  let rows: readonly Row[] = [];
  for (const step of steps) {
    if (step.does === "compact") await compact(root, MEMORY);
    else if (step.does === "delete") {
      await deleteCode(root, entity, step.code);
      rows = rows.filter((row) => row[0] !== step.code);
    } else {
      const fresh = settled(entity, step.rows);
      if (step.does === "replace") {
        await replaceAll(root, entity, fresh, step.cuts);
        rows = fresh;
      } else {
        await dropRows(root, entity, fresh);
        const keys = new Set(fresh.map((row) => keyOf(entity, row)));
        rows = [...rows.filter((row) => !keys.has(keyOf(entity, row))), ...fresh];
      }
    }
    await server.context.lake.refresh();
    const { version } = server.context.lake.current();
    if (version.sequence > 0) versions.set(version.data_version, rows);
  }
  await expectChanges(server, entity, versions);
  await server.close();
  return versions;
}

async function expectChanges(
  server: TestServer,
  entity: Entity,
  versions: ReadonlyMap<string, readonly Row[]>,
): Promise<void> {
  const pathOf = (from: string, to: string, rest = ""): string =>
    `/api/v1/entities/${entity.name}/changes?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}${rest}`;
  for (const [from, older] of versions) {
    for (const [to, newer] of versions) {
      const found = await server.json(pathOf(from, to));
      const expected = expectedChanges(entity, older, newer);
      expect(found.rows).toEqual(expected);
      expect([found.count, found.data_version]).toEqual([expected.length, to]);
      expect(applyChanges(entity, older, found.rows)).toEqual(newer.map((row) => rowJson(entity, row)).sort());
    }
  }
  if (versions.size < 2) return;
  const [from, to] = [...versions.keys()].slice(-2);
  const { rows, columns } = await server.json(pathOf(from!, to!));
  const names = columns.map(({ name }) => name);
  for (const format of FORMAT_NAMES) {
    const response = await server.get(pathOf(from!, to!, `&format=${format}`));
    expect(await READERS[format](Buffer.from(await response.arrayBuffer()), names)).toEqual(rows);
  }
  const paged: Row[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page = await server.json(pathOf(from!, to!, `&limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`));
    expect(page.rows.length).toBeLessThanOrEqual(2);
    paged.push(...page.rows);
    cursor = page.next_cursor;
  }
  expect(paged).toEqual(rows);
}

test.each(Object.keys(VALUES))(
  "changes of %s are those of the model between any two versions",
  async (name) => {
    const entity = entityNamed(name)!;
    await fc.assert(
      fc.asyncProperty(stepsOf(entity), async (steps) => {
        await play(await temporaryFolder(), entity, steps);
      }),
      { numRuns: HISTORIES, endOnFailure: true },
    );
  },
  600_000,
);
