// Changes of stored rows: patches, whole days, snapshots and codes, and rows that go. Any history against a plain model.
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { SQL_TYPES, type Entity } from "../../src/catalog/types.js";
import { fileList, type FileList } from "../../src/lake/manifest.js";
import { hasColumn, type Change, type Lacking } from "../../src/store/change.js";
import { columnList, scan } from "../../src/store/datafile.js";
import { merge, type Merged } from "../../src/store/merge.js";
import { withWriteSession, type WriteSession } from "../../src/store/session.js";
import { findOverlaps } from "../../src/repair/verify.js";
import { quoteName, quoteText } from "../../src/sql-text.js";
import { newLake } from "../support/lakes.js";
import { size } from "../support/size.js";
import { MEMORY } from "../support/upkeep.js";

vi.setConfig({ testTimeout: 600_000 });

type Value = string | number | null;
/** A row by its columns; a column that is absent is one that the file of the row lacks. */
type Row = Readonly<Record<string, Value>>;

const literal = (value: Value | undefined): string =>
  typeof value === "number" ? String(value) : value === null || value === undefined ? "NULL" : quoteText(value);

/** The entity of a lake in memory of the test: its files, changed one step after another. */
class Files {
  list: FileList;
  private tables = 0;
  constructor(
    private readonly session: WriteSession,
    readonly entity: Entity,
  ) {
    this.list = fileList(entity.name, []);
  }

  async apply(rows: readonly Row[], change: Omit<Change, "fresh" | "lacking"> = {}): Promise<Merged> {
    const fresh = rows.length === 0 ? {} : await this.stage(rows);
    const merged = await merge(this.session, this.entity, this.list, { ...change, ...fresh });
    this.list = merged.list;
    return merged;
  }

  private async stage(rows: readonly Row[]): Promise<Pick<Change, "fresh" | "lacking">> {
    const lacking: Lacking = new Map(
      this.entity.columns.flatMap(({ name }) => {
        const having = rows.filter((row) => name in row).length;
        return having === rows.length || this.entity.identity.includes(name)
          ? []
          : [[name, having === 0 ? "all" : "some"] as const];
      }),
    );
    const some = [...lacking].filter(([, files]) => files === "some").map(([name]) => name);
    const selects = rows.map((row) =>
      [
        ...this.entity.columns.map(
          ({ name, type }) => `${literal(row[name])}::${SQL_TYPES[type]} AS ${quoteName(name)}`,
        ),
        ...some.map((name) => `${name in row} AS ${hasColumn(name)}`),
      ].join(", "),
    );
    const table = `fresh_${++this.tables}`;
    const sql = selects.map((one) => `SELECT ${one}`).join(" UNION ALL ");
    await this.session.writer.run(`CREATE OR REPLACE TEMP TABLE ${table} AS ${sql}`);
    return { fresh: { relation: table }, lacking };
  }

  /** The stored rows in their order, as JSON of their values. */
  async rows(): Promise<readonly string[]> {
    if (this.list.byDate.length === 0) return [];
    const sql = `SELECT ${columnList(this.entity)} FROM ${scan(this.session.layout, this.list.byDate)}`;
    return (await this.session.writer.rows(sql)).map((row) => JSON.stringify(Object.values(row)));
  }
}

async function withFiles(entity: string, work: (files: () => Files) => Promise<void>): Promise<void> {
  await withWriteSession(await newLake(), MEMORY, (session) => work(() => new Files(session, entityNamed(entity)!)));
}

const limit = (code: number, day: number, more: Row = {}): Row => ({
  ts_code: `00000${code}.SZ`,
  trade_date: `2024-01-0${day}`,
  ...more,
});
const stored = (code: number, day: number, up: Value, down: Value): string =>
  JSON.stringify([`00000${code}.SZ`, `2024-01-0${day}`, up, down]);
const both = (up: Value, down: Value): Row => ({ up_limit: up, down_limit: down });

const removing = (sql: string, first: string | null = null, last: string | null = null): Change => ({
  where: { condition: { sql, values: [] }, first, last, keepsOrder: true },
});

describe("a drop without some columns", () => {
  test("keeps their values in rows that it replaces, and a column that it leaves empty is null", async () => {
    await withFiles("stk_limit", async (open) => {
      const files = open();
      await files.apply([limit(1, 2, both(11, 9)), limit(2, 2, both(22, 18))]);
      const patch = await files.apply([limit(1, 2, { up_limit: 12 }), limit(3, 2, { up_limit: 33 })]);
      expect(await files.rows()).toEqual([stored(1, 2, 12, 9), stored(2, 2, 22, 18), stored(3, 2, 33, null)]);
      expect(patch.effects.lost).toEqual([]);
      const empty = await files.apply([limit(1, 2, both(null, null)), limit(2, 2, both(null, 17))]);
      expect(await files.rows()).toEqual([stored(1, 2, null, null), stored(2, 2, null, 17), stored(3, 2, 33, null)]);
      expect(empty.effects.lost).toMatchObject([
        { column: "up_limit", rows: 2 },
        { column: "down_limit", rows: 1 },
      ]);
    });
  });

  test("beside a file with them: each row keeps what its own file lacks", async () => {
    await withFiles("stk_limit", async (open) => {
      const files = open();
      await files.apply([limit(1, 2, both(11, 9)), limit(2, 2, both(22, 18))]);
      const { effects } = await files.apply([limit(1, 2, { up_limit: 12 }), limit(2, 2, both(24, null))]);
      expect(await files.rows()).toEqual([stored(1, 2, 12, 9), stored(2, 2, 24, null)]);
      expect(effects.lost).toMatchObject([{ column: "down_limit", rows: 1 }]);
    });
  });

  const payment = (more: Row): Row => ({
    ...{
      ts_code: "000001.SZ",
      end_date: "2023-12-31",
      ann_date: "2024-03-01",
      div_proc: "实施",
      ex_date: "2024-06-14",
    },
    ...more,
  });

  test("where an identity may hold several rows, keeps them if it holds one before and after", async () => {
    await withFiles("dividend", async (open) => {
      const files = open();
      await files.apply([payment({ cash_div: 0.7, pay_date: "2024-06-15" })]);
      const { effects } = await files.apply([payment({ cash_div: 0.8 })]);
      expect((await files.rows())[0]).toContain('"2024-06-15"');
      expect((await files.rows())[0]).toContain("0.8");
      expect(effects.lost).toEqual([]);
    });
  });

  test("where an identity holds several rows, values of columns that it lacks are lost and counted", async () => {
    await withFiles("dividend", async (open) => {
      const files = open();
      await files.apply([
        payment({ cash_div: 0.7, pay_date: "2024-06-15" }),
        payment({ cash_div: 0.1, pay_date: "2024-06-16" }),
      ]);
      const { effects } = await files.apply([payment({ cash_div: 0.8 })]);
      expect(effects.lost).toMatchObject([{ column: "pay_date", rows: 2 }]);
    });
  });

  test("of ticks, keeps nothing: a tick has no counterpart", async () => {
    await withFiles("stk_auction", async (open) => {
      const files = open();
      await files.apply([limit(1, 2, { time: "09:25", price: 10, pre_close: 9 })]);
      const { effects } = await files.apply([limit(1, 2, { time: "15:00", price: 11 })]);
      expect(await files.rows()).toEqual([
        JSON.stringify(["000001.SZ", "2024-01-02", null, "15:00", 11, null, null, null]),
      ]);
      expect(effects.lost).toMatchObject([{ column: "pre_close", rows: 1 }]);
    });
  });
});

describe("a drop that stands for", () => {
  test("whole days removes the other rows of its days", async () => {
    await withFiles("stk_limit", async (open) => {
      const files = open();
      await files.apply([limit(1, 2, both(1, 1)), limit(2, 2, both(2, 2)), limit(1, 3, both(3, 3))]);
      const merged = await files.apply([limit(1, 2, both(4, 4))], { whole: ["trade_date"] });
      expect(await files.rows()).toEqual([stored(1, 2, 4, 4), stored(1, 3, 3, 3)]);
      expect(merged).toMatchObject({ replaced: 1, removed: 1 });
    });
  });

  test("whole codes removes their rows of all other days, and files that are left without rows", async () => {
    await withFiles("stk_limit", async (open) => {
      const files = open();
      for (const day of [2, 3, 4]) await files.apply([limit(1, day, both(1, 1))]);
      await files.apply([limit(2, 3, both(2, 2))]);
      const merged = await files.apply([limit(1, 4, both(4, 4))], { whole: ["ts_code"] });
      expect(await files.rows()).toEqual([stored(2, 3, 2, 2), stored(1, 4, 4, 4)]);
      expect(merged).toMatchObject({ replaced: 1, removed: 2 });
      expect(files.list.byDate.map(({ first }) => first)).toEqual(["20240103", "20240104"]);
    });
  });

  test("a whole list without dates removes the rest of the list", async () => {
    await withFiles("stock_company", async (open) => {
      const files = open();
      await files.apply(["1", "2"].map((n) => ({ ts_code: `00000${n}.SZ`, chairman: n })));
      expect(await files.apply([{ ts_code: "000002.SZ" }], { whole: [] })).toMatchObject({ replaced: 1, removed: 1 });
      expect(await files.rows()).toEqual([JSON.stringify(["000002.SZ", "2", null, null, null, null])]);
    });
  });

  test("whole days: a row without a main date replaces only its own identity", async () => {
    await withFiles("dividend", async (open) => {
      const files = open();
      const proposal = (code: number, cash: number): Row => ({ ts_code: `00000${code}.SZ`, cash_div: cash });
      await files.apply([proposal(1, 1), proposal(2, 2)]);
      expect(await files.apply([proposal(1, 3)], { whole: ["ex_date"] })).toMatchObject({ replaced: 1, removed: 0 });
      expect(files.list.rows).toBe(2);
    });
  });
});

describe("rows that go", () => {
  test("leave the files of other dates as they are, and no file if none is left", async () => {
    await withFiles("stk_limit", async (open) => {
      const files = open();
      for (const day of [2, 3]) await files.apply([limit(1, day, both(1, 1)), limit(2, day, both(2, 2))]);
      const [first] = files.list.byDate;
      const merged = await files.apply([], removing("ts_code = '000002.SZ'", "20240103", "20240103"));
      expect(merged).toMatchObject({ replaced: 0, removed: 1 });
      expect(await files.rows()).toEqual([stored(1, 2, 1, 1), stored(2, 2, 2, 2), stored(1, 3, 1, 1)]);
      expect(files.list.byDate[0]).toEqual(first);
      await files.apply([], removing("true"));
      expect(files.list).toEqual(fileList("stk_limit", []));
    });
  });

  test("a condition that is neither true nor false leaves the row", async () => {
    await withFiles("stk_limit", async (open) => {
      const files = open();
      await files.apply([limit(1, 2, both(null, 1)), limit(2, 2, both(5, 1))]);
      await files.apply([], removing("up_limit = 5"));
      expect(await files.rows()).toEqual([stored(1, 2, null, 1)]);
    });
  });

  test("the rest of the file stays covered by the code copy", async () => {
    await withFiles("stk_limit", async (open) => {
      const files = open();
      await files.apply([limit(1, 2, both(1, 1)), limit(1, 3, both(1, 1)), limit(1, 4, both(1, 1))]);
      const [file] = files.list.byDate;
      files.list = fileList("stk_limit", files.list.byDate, [file!], [["20240102", "20240104"]]);
      await files.apply([], removing("trade_date = DATE '2024-01-04'", "20240104", "20240104"));
      expect(files.list.codeRanges).toEqual([["20240102", "20240103"]]);
    });
  });
});

describe("a day that becomes a mixture", () => {
  const day = (count: number, more: Row = both(1, 1)): readonly Row[] =>
    Array.from({ length: count }, (_, i) => limit(i + 1, 2, more));

  test("is named with the number of older rows", async () => {
    await withFiles("stk_limit", async (open) => {
      const files = open();
      await files.apply(day(9));
      const { effects } = await files.apply(day(7, both(2, 2)));
      expect(effects.mixed).toMatchObject({ mode: "day", units: [{ name: "20240102", fresh: 7, older: 2 }] });
    });
  });

  test.each([
    ["is a small correction", 9, 4],
    ["covers the day", 9, 9],
  ])("is not named if the drop %s", async (_, before, after) => {
    await withFiles("stk_limit", async (open) => {
      const files = open();
      await files.apply(day(before));
      expect((await files.apply(day(after, both(2, 2)))).effects.mixed).toBeNull();
    });
  });

  test("is not named if the drop only adds codes", async () => {
    await withFiles("stk_limit", async (open) => {
      const files = open();
      await files.apply(day(3));
      expect((await files.apply(day(9).slice(3))).effects.mixed).toBeNull();
    });
  });

  test("of an index is named by index and day", async () => {
    await withFiles("index_weight", async (open) => {
      const files = open();
      const weights = (index: string, codes: number): readonly Row[] =>
        day(codes, {}).map(({ ts_code, trade_date }) => ({
          index_code: index,
          con_code: ts_code!,
          trade_date: trade_date!,
          weight: 1,
        }));
      await files.apply([...weights("000300.SH", 5), ...weights("000905.SH", 9)]);
      const { effects } = await files.apply(weights("000300.SH", 4));
      expect(effects.mixed).toMatchObject({
        mode: "snapshot",
        units: [{ name: "000300.SH 20240102", fresh: 4, older: 1 }],
      });
    });
  });
});

/** The number of histories for each entity. */
const HISTORIES = size("CHANGES", 5, 100);

interface Step {
  readonly rows: readonly Row[];
  readonly does: "drop" | "patch" | "mixed files" | "day" | "code" | "delete";
  readonly code: number;
  readonly day: number;
}

interface Kind {
  readonly entity: string;
  readonly row: (code: number, day: number, more: Row) => Row;
  readonly columns: readonly [string, string];
}

const KINDS: readonly Kind[] = [
  { entity: "stk_limit", row: limit, columns: ["up_limit", "down_limit"] },
  {
    entity: "dividend",
    // Day 1 stands for rows without a main date.
    row: (code, day, more) => ({ ts_code: `00000${code}.SZ`, ex_date: day === 1 ? null : `2024-01-0${day}`, ...more }),
    columns: ["cash_div", "stk_div"],
  },
  {
    entity: "stock_company",
    row: (code, _, more) => ({ ts_code: `00000${code}.SZ`, ...more }),
    columns: ["reg_capital", "chairman"],
  },
];

const stepsOf = ({ row, columns: [first, second] }: Kind): fc.Arbitrary<Step[]> => {
  const value = fc.option(fc.integer({ min: 1, max: 9 }), { freq: 4 });
  const given = fc.record({
    code: fc.integer({ min: 1, max: 4 }),
    day: fc.integer({ min: 1, max: 5 }),
    values: fc.tuple(value, value),
    lacks: fc.boolean(),
  });
  const step = fc.record({
    does: fc.constantFrom("drop", "patch", "mixed files", "day", "code", "delete" as const),
    given: fc.array(given, { minLength: 1, maxLength: 6 }),
    code: fc.integer({ min: 1, max: 4 }),
    day: fc.integer({ min: 1, max: 5 }),
  });
  const text = (value: number | null): Value => (second === "chairman" && value !== null ? String(value) : value);
  return fc.array(
    step.map(({ does, given: all, code, day }): Step => ({
      ...{ does, code, day },
      rows: all.map(({ code: ofRow, day: onDay, values: [a, b], lacks }) =>
        row(ofRow, onDay, {
          [first]: a,
          ...(does === "patch" || (does === "mixed files" && lacks) ? {} : { [second]: text(b) }),
        }),
      ),
    })),
    { minLength: 1, maxLength: 7 },
  );
};

/** The plain model: a list of rows in memory. */
class Model {
  rows: readonly Row[] = [];
  constructor(private readonly entity: Entity) {}

  private readonly identity = (row: Row): string =>
    JSON.stringify(this.entity.identity.map((name) => row[name] ?? null));

  /** Of rows of one identity, the last one; several stay where they may. */
  settle(rows: readonly Row[]): readonly Row[] {
    if (this.entity.identityIs !== "row") return rows;
    return [...new Map(rows.map((row) => [this.identity(row), row])).values()];
  }

  apply(fresh: readonly Row[], whole: readonly string[] | null): void {
    const count = (rows: readonly Row[], row: Row): number =>
      rows.filter((one) => this.identity(one) === this.identity(row)).length;
    const filled = fresh.map((row) => {
      const twins = this.rows.filter((one) => this.identity(one) === this.identity(row));
      return twins.length === 1 && count(fresh, row) === 1 ? { ...twins[0], ...row } : row;
    });
    const isSameWhole = (a: Row, b: Row): boolean =>
      whole !== null && whole.every((name) => (a[name] ?? null) !== null && a[name] === b[name]);
    const goes = (row: Row): boolean => count(fresh, row) > 0 || fresh.some((one) => isSameWhole(one, row));
    this.rows = [...this.rows.filter((row) => !goes(row)), ...filled];
  }

  remove(matches: (row: Row) => boolean): void {
    this.rows = this.rows.filter((row) => !matches(row));
  }

  shown(): readonly string[] {
    return this.rows.map((row) => JSON.stringify(this.entity.columns.map(({ name }) => row[name] ?? null))).sort();
  }
}

describe.each(KINDS)("any history of $entity", (kind) => {
  const entity = entityNamed(kind.entity)!;

  async function replay(files: Files, steps: readonly Step[]): Promise<void> {
    const model = new Model(entity);
    for (const { does, rows: given, code, day } of steps) {
      const before = model.rows.length;
      if (does === "delete") {
        const dated = entity.mainDate === null ? "" : ` AND ${quoteName(entity.mainDate)} >= DATE '2024-01-0${day}'`;
        const first = entity.mainDate === null ? null : `2024010${day}`;
        const merged = await files.apply([], removing(`ts_code = '00000${code}.SZ'${dated}`, first));
        model.remove((row) => {
          const date = entity.mainDate === null ? "" : row[entity.mainDate];
          const isLate = entity.mainDate === null || (typeof date === "string" && date >= `2024-01-0${day}`);
          return row["ts_code"] === `00000${code}.SZ` && isLate;
        });
        expect(merged.removed).toBe(before - model.rows.length);
      } else {
        const rows = model.settle(given);
        const whole =
          does === "day" ? (entity.mainDate === null ? [] : [entity.mainDate]) : does === "code" ? ["ts_code"] : null;
        const merged = await files.apply(rows, whole === null ? {} : { whole });
        model.apply(rows, whole);
        expect(merged.replaced + merged.removed).toBe(before + rows.length - model.rows.length);
      }
      const found = await files.rows();
      expect([...found].sort()).toEqual(model.shown());
      expect(files.list.rows).toBe(model.rows.length);
      expect(findOverlaps(files.list)).toEqual([]);
    }
  }

  test("of drops, patches, replaced days and codes, and deletions ends with the rows of a plain model", async () => {
    await withFiles(kind.entity, async (open) => {
      await fc.assert(
        fc.asyncProperty(stepsOf(kind), (steps) => replay(open(), steps)),
        { numRuns: HISTORIES },
      );
    });
  }, 600_000);
});
