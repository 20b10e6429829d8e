// What must hold for every entity, so that a new literal with a slip in it fails here.
import { describe, expect, it } from "vitest";
import { chineseName, columnNamed, ENTITIES, ENTITY_NAMES, entityNamed } from "../../src/catalog/index.js";
import { modesOf, wholeOf } from "../../src/catalog/replace.js";
import { STORES, type Entity } from "../../src/catalog/types.js";

const names = (entity: Entity) => entity.columns.map((column) => column.name);
const announcement = (entity: Entity) => (entity.pointInTime?.rule === "announced" ? entity.pointInTime : null);
const hidesOf = ({ pointInTime }: Entity) => pointInTime?.hides ?? [];

/** Query parameters that every entity endpoint understands. */
const COMMON_PARAMETERS = "start_date end_date fields limit cursor order as_of data_version format".split(" ");

/** Begins with Chinese, ends without a stop, and uses the punctuation of Chinese. */
const CHINESE = /^[一-鿿](?!.*[,;:()。])/;

describe("the catalog", () => {
  it("holds each name once", () => {
    expect(new Set(ENTITY_NAMES).size).toBe(ENTITIES.length);
    expect(ENTITY_NAMES).toEqual(ENTITIES.map((entity) => entity.name));
  });

  it("lists the entities store by store, in the order of the documentation", () => {
    expect(ENTITIES.map((entity) => `${entity.store}: ${entity.name}`)).toEqual(
      Object.entries({
        market: "daily weekly monthly daily_basic adj_factor stk_limit suspend_d",
        auction: "stk_auction_o stk_auction_c stk_auction",
        index: "index_basic index_daily index_weight index_classify index_member",
        reference: "stock_list stock_company namechange trade_cal",
        reports: "research_report anns_d",
        finance: "income balancesheet cashflow fina_indicator dividend",
      }).flatMap(([store, list]) => list.split(" ").map((name) => `${store}: ${name}`)),
    );
  });

  it("has an entity for each store of the health response but `state`", () => {
    const used = new Set(ENTITIES.map((entity) => entity.store));
    expect([...used].sort()).toEqual(STORES.filter((store) => store !== "state").sort());
  });

  it("finds an entity and a column by exact name only", () => {
    const daily = entityNamed("daily")!;
    expect(daily.title).toBe("Daily quotes");
    expect(columnNamed(daily, "close")?.unit).toBe("currency units");
    expect(entityNamed("Daily")).toBeUndefined();
    expect(entityNamed("constructor")).toBeUndefined();
    expect(columnNamed(daily, "CLOSE")).toBeUndefined();
  });

  it("holds several rows for one identity only of suspension periods and payouts, and equal rows only of ticks", () => {
    const named = (kind: Entity["identityIs"]) =>
      ENTITIES.filter((one) => one.identityIs === kind).map((one) => one.name);
    expect(named("group")).toEqual(["suspend_d", "dividend"]);
    expect(named("ticks")).toEqual(["stk_auction"]);
  });

  it("has one row for each code and day of an entity that panels join by day: serving copies are merged by both", () => {
    for (const { name, panel, code, mainDate, identity, identityIs, columns } of ENTITIES) {
      if (panel?.by !== "day") continue;
      expect([name, identityIs, [...identity].sort()]).toEqual([name, "row", [code, mainDate].sort()]);
      const keys = columns.filter((column) => identity.includes(column.name));
      expect(keys.map(({ nullable }) => nullable)).toEqual([false, false]);
    }
  });

  it("knows which entities are published as whole lists, and what names such a list", () => {
    const lists = ENTITIES.filter(({ snapshot }) => snapshot !== null).map(({ name, snapshot }) => [name, snapshot]);
    expect(Object.fromEntries(lists)).toEqual({
      index_basic: [],
      index_weight: ["index_code", "trade_date"],
      index_classify: ["src"],
      stock_list: ["snapshot_date"],
      stock_company: [],
    });
  });

  it("knows from when on a row was public, and hides what was not yet known of it", () => {
    const rules = ENTITIES.filter((entity) => entity.pointInTime).map((entity) => [entity.name, entity.pointInTime]);
    const statement = { rule: "announced", columns: ["f_ann_date", "ann_date"], periodEnd: "end_date" };
    expect(Object.fromEntries(rules)).toEqual({
      index_member: {
        rule: "announced",
        columns: ["in_date"],
        hides: [
          { column: "out_date", knownFrom: "out_date", before: null },
          { column: "is_new", knownFrom: "out_date", before: "Y" },
        ],
      },
      stock_list: {
        rule: "snapshot",
        hides: [{ column: "delist_date", knownFrom: "delist_date", before: null }],
      },
      namechange: {
        rule: "announced",
        columns: ["ann_date", "start_date"],
        hides: [{ column: "end_date", knownFrom: "end_date", before: null }],
      },
      research_report: { rule: "announced", columns: ["trade_date"] },
      anns_d: { rule: "announced", columns: ["ann_date"] },
      income: statement,
      balancesheet: statement,
      cashflow: statement,
      fina_indicator: { rule: "announced", columns: ["ann_date"], periodEnd: "end_date" },
      dividend: { rule: "announced", columns: ["imp_ann_date", "ex_date", "ann_date"] },
    });
  });

  it("knows which rows revise one another", () => {
    const revisions = ENTITIES.filter((entity) => entity.revisions).map((entity) => [entity.name, entity.revisions]);
    const statement = {
      of: ["ts_code", "end_date", "report_type", "comp_type"],
      date: ["f_ann_date", "ann_date"],
      flag: "update_flag",
    };
    expect(Object.fromEntries(revisions)).toEqual({
      index_weight: { of: ["index_code", "con_code"], date: ["trade_date"] },
      index_member: { of: ["index_code", "con_code"], date: ["in_date"] },
      namechange: { of: ["ts_code"], date: ["ann_date", "start_date"] },
      income: statement,
      balancesheet: statement,
      cashflow: statement,
      fina_indicator: { of: ["ts_code", "end_date"], date: ["ann_date"], flag: "update_flag" },
    });
  });

  it("copies by code the long series of many codes", () => {
    expect(ENTITIES.filter((entity) => entity.codeCopy).map((entity) => entity.name)).toEqual([
      ...["daily", "weekly", "monthly", "daily_basic", "adj_factor", "stk_limit"],
      ...["stk_auction_o", "stk_auction_c", "stk_auction", "index_daily", "stock_list"],
    ]);
  });

  it("expects every stock each day in three entities, every price limit in one, and rows each day in five", () => {
    const withGaps = (rule: Entity["gaps"]) => ENTITIES.filter((e) => e.gaps === rule).map((e) => e.name);
    expect(withGaps("every_stock")).toEqual(["daily", "daily_basic", "adj_factor"]);
    expect(withGaps("every_limit")).toEqual(["stk_limit"]);
    expect(withGaps("every_day")).toEqual([
      "stk_auction_o",
      "stk_auction_c",
      "stk_auction",
      "index_daily",
      "stock_list",
    ]);
  });
});

describe.each(ENTITIES)("$name", (entity) => {
  it("has a title, a description and columns with distinct snake_case names and a meaning each", () => {
    expect(entity.title).toMatch(/^[A-Z].*[^.]$/);
    expect(entity.about).toMatch(/^[A-Z].*\.$/);
    expect(new Set(names(entity)).size).toBe(entity.columns.length);
    for (const column of entity.columns) {
      expect(column.name).toMatch(/^[a-z][a-z0-9_]*$/);
      expect(column.meaning).toMatch(/^\S(.*[^.\s])?$/);
    }
  });

  it("is described in Chinese, and each column has a Chinese name of its own", () => {
    const { title, about } = entity.chinese;
    expect(title).toMatch(/^[一-鿿]{2,}$/);
    expect(about).toMatch(/^[一-鿿].*。$/);
    for (const { name, chinese } of entity.columns)
      expect([name, chinese]).toEqual([name, expect.stringMatching(CHINESE)]);
    expect(new Set(entity.columns.map(chineseName)).size).toBe(entity.columns.length);
  });

  it("names only its own columns in its key, order and point-in-time rule", () => {
    const rule = announcement(entity);
    const mentioned = [
      entity.mainDate ?? [],
      entity.code,
      entity.identity,
      entity.order,
      rule?.columns ?? [],
      rule?.periodEnd ?? [],
      hidesOf(entity).flatMap(({ column, knownFrom }) => [column, knownFrom]),
      entity.revisions?.date ?? [],
    ];
    expect(names(entity)).toEqual(expect.arrayContaining(mentioned.flat()));
  });

  it("is ordered by main date, then code, and the order is total", () => {
    const start = entity.mainDate === null ? [entity.code] : [entity.mainDate, entity.code];
    expect(entity.order.slice(0, start.length)).toEqual(start);
    expect(new Set(entity.order).size).toBe(entity.order.length);
    expect(entity.order).toEqual(expect.arrayContaining([...entity.identity]));
    const total = entity.identityIs === "row" ? entity.identity : names(entity);
    expect([...entity.order].sort()).toEqual([...total].sort());
  });

  it("names days, snapshots and codes by parts of its identity, so that replacing them replaces whole identities", () => {
    for (const mode of modesOf(entity))
      expect(entity.identity).toEqual(expect.arrayContaining([...wholeOf(entity, mode)!]));
  });

  it("has main date, point-in-time columns and hidden columns of type date", () => {
    const rule = announcement(entity);
    const dates = [
      entity.mainDate ?? [],
      rule?.columns ?? [],
      rule?.periodEnd ?? [],
      hidesOf(entity).map(({ knownFrom }) => knownFrom),
      entity.revisions?.date ?? [],
    ].flat();
    expect(dates.map((name) => columnNamed(entity, name)?.type)).toEqual(dates.map(() => "date"));
    const hidden = hidesOf(entity).map(({ column }) => column);
    expect(hidden.map((name) => columnNamed(entity, name)?.nullable)).toEqual(hidden.map(() => true));
  });

  it("revises rows of one code, which differ in its identity and are read from one clustering", () => {
    const { revisions, identity, identityIs, codeCopy, code, mainDate } = entity;
    if (revisions === null) {
      expect(revisions).toBeNull();
      return;
    }
    expect(identity).toEqual(expect.arrayContaining([...revisions.of, ...(revisions.flag ? [revisions.flag] : [])]));
    expect([revisions.of.includes(code), revisions.of.includes(mainDate!)]).toEqual([true, false]);
    expect([identityIs, codeCopy]).toEqual(["row", false]);
  });

  it("identifies a row by its code, and by its main date where it has one", () => {
    expect(entity.identity).toContain(entity.code);
    expect(entity.mainDate === null || entity.identity.includes(entity.mainDate)).toBe(true);
  });

  it("requires a value only of columns that identify a row, and of is_open", () => {
    const required = entity.columns.filter((column) => !column.nullable).map((column) => column.name);
    const allowed = [...entity.identity, ...(entity.name === "trade_cal" ? ["is_open"] : [])];
    expect(allowed).toEqual(expect.arrayContaining(required));
    expect(required.length).toBeGreaterThan(0);
  });

  it("gives types that follow from the names: dates end in date, codes of securities are codes", () => {
    for (const column of entity.columns) {
      expect([column.name, column.type === "date"]).toEqual([column.name, /_?date$/.test(column.name)]);
      const isCode = ["ts_code", "con_code", "index_code"].includes(column.name);
      expect([column.name, column.type === "code"]).toEqual([column.name, isCode]);
    }
  });

  it("assumes and admits only values of the column's own type", () => {
    for (const { type, only = [], assumed } of entity.columns) {
      expect(only.every((value) => typeof value === (type === "int64" ? "number" : "string"))).toBe(true);
      expect(assumed === undefined || only.length === 0 || only.includes(assumed)).toBe(true);
    }
  });

  it("keeps filter aliases apart from columns and from the common parameters", () => {
    for (const [alias, column] of Object.entries(entity.filterAliases ?? {})) {
      expect(names(entity)).toContain(column);
      expect([...names(entity), ...COMMON_PARAMETERS]).not.toContain(alias);
    }
    const clashes = names(entity).filter((name) => COMMON_PARAMETERS.includes(name));
    expect(["start_date", "end_date"]).toEqual(expect.arrayContaining(clashes));
  });

  it("computes gaps and copies by code only for entities that are dated", () => {
    const undated = entity.mainDate === null;
    expect(undated && (entity.gaps !== "none" || entity.codeCopy)).toBe(false);
  });
});
