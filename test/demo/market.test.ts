import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ENTITIES } from "../../src/catalog/index.js";
import { SQL_TYPES } from "../../src/catalog/types.js";
import { openWriter, type Writer } from "../../src/engine/writer.js";
import { OperatorError } from "../../src/errors.js";
import { type DemoEntity, type DemoOptions, prepareDemo } from "../../src/demo/market.js";
import { temporaryFolder } from "../support/folders.js";
import { someOf } from "../support/size.js";

const SMALL: DemoOptions = { stocks: 60, days: 300, seed: 1, until: "20251231" };

let writer: Writer;
let made: readonly DemoEntity[];

async function open(threads: number): Promise<Writer> {
  return openWriter({ memory: "2GB", tempDirectory: await temporaryFolder(), threads });
}

beforeAll(async () => {
  writer = await open(2);
  const market = await prepareDemo(writer, SMALL);
  made = market.entities;
  for (const { entity, sql } of made) await writer.run(`CREATE TABLE ${entity} AS ${sql}`);
});

afterAll(() => writer.close());

/** The first rows of a query that finds what must not be. */
const found = async (sql: string) => (await writer.rows(`SELECT * FROM (${sql}) LIMIT 3`)) as unknown[];
const count = async (sql: string) => Number((await writer.rows(`SELECT count(*) AS n FROM (${sql})`))[0]!["n"]);

describe("every entity", () => {
  it("is made once, and none is empty", async () => {
    expect(made.map(({ entity }) => entity).sort()).toEqual(ENTITIES.map(({ name }) => name).sort());
    for (const { entity } of made) expect([entity, await count(`FROM ${entity}`)]).not.toEqual([entity, 0]);
  });

  it.each(ENTITIES.map((entity) => [entity.name, entity] as const))("%s fits the catalog", async (name, entity) => {
    const described = await writer.rows(`DESCRIBE ${name}`);
    expect(described.map((row) => [row["column_name"], row["column_type"]])).toEqual(
      entity.columns.map((column) => [column.name, SQL_TYPES[column.type]]),
    );
    const required = entity.columns.filter((column) => !column.nullable).map((column) => `"${column.name}" IS NULL`);
    expect(await found(`FROM ${name} WHERE ${["false", ...required].join(" OR ")}`)).toEqual([]);
    for (const column of entity.columns.filter(({ only }) => only)) {
      const allowed = column.only!.map((value) => `'${value}'`).join(", ");
      expect(await found(`FROM ${name} WHERE "${column.name}"::VARCHAR NOT IN (${allowed})`)).toEqual([]);
    }
    const numbers = entity.columns
      .filter(({ type }) => type === "float64")
      .map((column) => `isfinite("${column.name}") = false`);
    expect(await found(`FROM ${name} WHERE ${["false", ...numbers].join(" OR ")}`)).toEqual([]);
  });

  it("has one row for each identity if the catalog says so", async () => {
    for (const { name, identity, identityIs } of ENTITIES) {
      if (identityIs !== "row") continue;
      const key = identity.map((column) => `"${column}"`).join(", ");
      expect([name, await found(`SELECT ${key} FROM ${name} GROUP BY ${key} HAVING count(*) > 1`)]).toEqual([name, []]);
    }
  });
});

/** Each sentence with a query that finds its exceptions. */
const RULES: Readonly<Record<string, string>> = {
  "the calendar's previous trading day is the last open day before":
    "SELECT * FROM trade_cal c WHERE pretrade_date <> (SELECT max(cal_date) FROM trade_cal o WHERE o.is_open = 1 AND o.cal_date < c.cal_date)",
  "quotes exist only for open days":
    "FROM daily WHERE trade_date NOT IN (SELECT cal_date FROM trade_cal WHERE is_open = 1)",
  "high and low enclose open and close": "FROM daily WHERE high < greatest(open, close) OR low > least(open, close)",
  "prices stay within the limits of the day":
    "SELECT * FROM daily JOIN stk_limit USING (ts_code, trade_date) WHERE high > up_limit OR low < down_limit",
  "a day without limits on record has no quote": "FROM daily ANTI JOIN stk_limit USING (ts_code, trade_date)",
  "prices are in cents, above zero": "FROM daily WHERE close <> round(close, 2) OR open <> round(open, 2) OR low <= 0",
  "change and percentage follow from close and previous close":
    "FROM daily WHERE change <> round(close - pre_close, 2) OR abs(pct_chg - (close / pre_close - 1) * 100) > 0.00006",
  "turnover is volume at a price of the day":
    "FROM daily WHERE amount * 1000 NOT BETWEEN vol * 100 * low - 1 AND vol * 100 * high + 1 OR vol <= 0",
  "the previous close is the last close, adjusted where the factor moved": `
    SELECT * FROM (SELECT *, lag(close * adj_factor) OVER w / adj_factor AS due FROM daily JOIN adj_factor USING (ts_code, trade_date)
      WINDOW w AS (PARTITION BY ts_code ORDER BY trade_date)) WHERE abs(pre_close - due) > 0.00501`,
  "the factor moves on ex-dates only": `
    SELECT * FROM (SELECT *, lag(adj_factor) OVER (PARTITION BY ts_code ORDER BY trade_date) AS before FROM adj_factor)
    ANTI JOIN dividend ON dividend.ts_code = unnamed_subquery.ts_code AND ex_date = trade_date WHERE adj_factor <> before`,
  "the factor moves as the dividend says": `
    SELECT * FROM dividend JOIN (SELECT ts_code, trade_date, adj_factor / lag(adj_factor) OVER w AS moved FROM adj_factor
        WINDOW w AS (PARTITION BY ts_code ORDER BY trade_date)) f ON f.ts_code = dividend.ts_code AND trade_date = ex_date
      JOIN (SELECT ts_code, trade_date, lag(close) OVER (PARTITION BY ts_code ORDER BY trade_date) AS last_close FROM daily) q
        ON q.ts_code = f.ts_code AND q.trade_date = f.trade_date
    WHERE abs(moved - last_close * (1 + stk_div) / (last_close - cash_div_tax)) > 0.0002`,
  "a dividend goes from announcement over record date to ex-date":
    "FROM dividend WHERE ex_date IS NOT NULL AND NOT (ann_date < imp_ann_date AND imp_ann_date < record_date AND record_date < ex_date)",
  "no stock trades on a day of suspension":
    "FROM daily SEMI JOIN (FROM suspend_d WHERE suspend_type = 'S' AND suspend_timing IS NULL) USING (ts_code, trade_date)",
  "a suspended stock keeps its factor":
    "FROM (FROM suspend_d WHERE suspend_type = 'S') ANTI JOIN adj_factor USING (ts_code, trade_date)",
  "a listed stock that is not suspended has a quote, and no other": `
    (SELECT ts_code, snapshot_date FROM stock_list WHERE delist_date IS NULL EXCEPT SELECT ts_code, trade_date FROM suspend_d WHERE suspend_type = 'S' AND suspend_timing IS NULL
      EXCEPT SELECT ts_code, trade_date FROM daily)
    UNION ALL (SELECT ts_code, trade_date FROM daily EXCEPT SELECT ts_code, snapshot_date FROM stock_list WHERE delist_date IS NULL)`,
  "no entity has a row of a stock before its listing or after its end": `
    FROM (SELECT ts_code, trade_date FROM adj_factor UNION ALL SELECT ts_code, trade_date FROM stk_limit UNION ALL SELECT ts_code, trade_date FROM stk_auction_o) r
    JOIN (FROM stock_list WHERE snapshot_date = (SELECT max(snapshot_date) FROM stock_list)) l USING (ts_code) WHERE trade_date < list_date OR trade_date >= delist_date`,
  "market values are shares times price":
    "FROM daily_basic WHERE abs(total_mv - close * total_share) > 0.0001 OR abs(circ_mv - close * float_share) > 0.0001",
  "turnover rates are volume by shares": `
    SELECT * FROM daily_basic JOIN daily USING (ts_code, trade_date)
    WHERE abs(turnover_rate - vol / float_share) > 0.00006 OR abs(turnover_rate_f - vol / free_share) > 0.00006`,
  "free shares are tradable, tradable ones exist":
    "FROM daily_basic WHERE free_share > float_share OR float_share > total_share",
  "valuation has a row for each quote and the same close":
    "SELECT * FROM daily_basic b FULL JOIN daily d USING (ts_code, trade_date) WHERE b.close IS DISTINCT FROM d.close",
  "price/earnings is value by the newest profit known on the day before, or null for a loss": `
    SELECT * FROM (SELECT b.ts_code, b.trade_date, b.pe, b.total_mv * 1e4 / i.n_income_attr_p AS due
      FROM daily_basic b ASOF JOIN (FROM income WHERE end_type = '4' AND ann_date = f_ann_date) i ON i.ts_code = b.ts_code AND i.ann_date < b.trade_date)
    WHERE CASE WHEN due > 0 THEN abs(pe - due) > 0.0002 OR pe IS NULL ELSE pe IS NOT NULL END`,
  "the opening auction ends at the open, the closing auction at the close": `
    SELECT * FROM daily JOIN stk_auction_o o USING (ts_code, trade_date) JOIN stk_auction_c c USING (ts_code, trade_date)
    WHERE o.price <> open OR c.price <> close OR o.pre_close <> daily.pre_close OR c.vol > daily.vol * 100`,
  "ticks of stocks are between previous close and open": `
    SELECT * FROM stk_auction a JOIN daily d USING (ts_code, trade_date)
    WHERE a.price NOT BETWEEN least(d.open, d.pre_close) - 0.001 AND greatest(d.open, d.pre_close) + 0.001`,
  "index levels chain from day to day":
    "SELECT * FROM (SELECT *, lag(close) OVER (PARTITION BY ts_code ORDER BY trade_date) AS last FROM index_daily) WHERE pre_close <> last OR high < greatest(open, close) OR low > least(open, close) OR abs(change - (close - pre_close)) > 0.00011",
  "the 300 move as their members' tradable value": `
    WITH member AS (SELECT DISTINCT con_code AS ts_code FROM index_weight WHERE index_code = '000300.SH'),
      stand AS (SELECT f.ts_code, f.trade_date, b.close, floor(b.float_share) AS w FROM adj_factor f SEMI JOIN member USING (ts_code)
        ASOF JOIN daily_basic b ON b.ts_code = f.ts_code AND b.trade_date <= f.trade_date),
      due AS (SELECT trade_date, (sum(s.close * w) / sum(coalesce(d.pre_close, s.close) * w) - 1) * 100 AS pct
        FROM stand s LEFT JOIN daily d USING (ts_code, trade_date) GROUP BY trade_date)
    SELECT * FROM due JOIN index_daily i USING (trade_date) WHERE i.ts_code = '000300.SH' AND abs(i.pct_chg - pct) > 0.01`,
  "weights add up to 100": `
    SELECT index_code, trade_date FROM index_weight GROUP BY ALL HAVING abs(sum(weight) - 100) > 1e-9 OR min(weight) <= 0`,
  "the parent of an industry is one level higher": `
    SELECT * FROM index_classify c LEFT JOIN index_classify p ON p.industry_code = c.parent_code
    WHERE CASE c.level WHEN 'L1' THEN c.parent_code <> '0' WHEN 'L2' THEN p.level IS DISTINCT FROM 'L1' ELSE p.level IS DISTINCT FROM 'L2' END`,
  "a listed stock is in one industry of each level on every day": `
    SELECT ts_code, snapshot_date, level FROM (FROM stock_list WHERE delist_date IS NULL)
      JOIN index_member ON con_code = ts_code AND in_date <= snapshot_date AND (out_date IS NULL OR out_date > snapshot_date)
      JOIN index_classify USING (index_code) GROUP BY ALL HAVING count(*) <> 1`,
  "an industry has an index":
    "FROM (SELECT DISTINCT index_code AS ts_code FROM index_member) ANTI JOIN index_daily USING (ts_code)",
  "the names in the stock list agree with the name changes": `
    SELECT * FROM stock_list l LEFT JOIN namechange n ON n.ts_code = l.ts_code AND start_date <= snapshot_date AND (end_date IS NULL OR end_date >= snapshot_date)
    WHERE n.name IS DISTINCT FROM l.name`,
  "assets are liabilities and equity, of which each part adds up": `
    FROM balancesheet WHERE abs(total_assets - total_liab - total_hldr_eqy_inc_min_int) > 0.01 OR total_assets <> total_liab_hldr_eqy
      OR abs(total_cur_assets + total_nca - total_assets) > 0.01 OR abs(total_cur_liab + total_ncl - total_liab) > 0.01`,
  "profit is what revenue leaves after costs and tax": `
    FROM income WHERE abs(revenue - total_cogs + invest_income - operate_profit) > 0.01 OR abs(total_profit - income_tax - n_income) > 0.01
      OR abs(n_income_attr_p + minority_gain - n_income) > 0.01`,
  "cash flows add up to the change in cash, and its end is on the balance sheet": `
    SELECT * FROM cashflow c JOIN balancesheet b USING (ts_code, end_date, f_ann_date)
    WHERE abs(n_cashflow_act + n_cashflow_inv_act + n_cash_flows_fnc_act + eff_fx_flu_cash - n_incr_cash_cash_equ) > 0.01
      OR abs(c_cash_equ_beg_period + n_incr_cash_cash_equ - c_cash_equ_end_period) > 0.01 OR money_cap <> c_cash_equ_end_period`,
  "reports come after their period, revisions after them, and one version is the newest": `
    SELECT ts_code, end_date FROM income GROUP BY ALL
    HAVING min(ann_date) <= end_date OR min(f_ann_date) < min(ann_date) OR count(*) FILTER (update_flag = '1') <> 1`,
  "indicators follow from the statements": `
    SELECT * FROM fina_indicator f JOIN income i ON i.ts_code = f.ts_code AND i.end_date = f.end_date AND i.f_ann_date = f.ann_date
    WHERE eps <> basic_eps OR abs(netprofit_margin - n_income / revenue * 100) > 0.0001`,
};

describe("the market", () => {
  it.each(Object.entries(RULES))("%s", async (_sentence, exceptions) => {
    expect(await found(exceptions)).toEqual([]);
  });

  it("looks realistic: days open near the last close and overlap, and high volume comes in clusters", async () => {
    const [shape] = await writer.rows(`
      WITH day AS (SELECT *, abs(open / pre_close - 1) AS gap, abs(pct_chg) / 100 AS move, ln(vol) AS busy, lag(ln(vol)) OVER w AS busy_before,
          lag(high / close) OVER w * pre_close AS high_before, lag(low / close) OVER w * pre_close AS low_before
        FROM daily WINDOW w AS (PARTITION BY ts_code ORDER BY trade_date))
      SELECT median(gap) / median(move) AS gaps, avg((low <= high_before AND high >= low_before)::INT) AS overlapping,
        avg((gap > 0.005)::INT) AS wide, (SELECT avg(r) FROM (SELECT corr(busy, busy_before) AS r FROM day GROUP BY ts_code HAVING count(*) > 100)) AS cluster
      FROM day`);
    const { gaps, overlapping, wide, cluster } = shape as Record<string, number>;
    expect(gaps).toBeLessThan(0.4);
    expect(overlapping).toBeGreaterThan(0.9);
    expect(wide).toBeGreaterThan(0.05);
    expect(cluster).toBeGreaterThan(0.3);
  });

  it.each(["weekly", "monthly"])("%s bars are summed up from daily ones", async (entity) => {
    const period = { weekly: "week", monthly: "month" }[entity]!;
    const due = `SELECT ts_code, date_trunc('${period}', trade_date) AS period, arg_min(open, trade_date) AS open, max(high) AS high, min(low) AS low,
        arg_max(close, trade_date) AS close, round(sum(vol), 2) AS vol, round(sum(amount), 3) AS amount FROM daily GROUP BY ALL`;
    const given = `SELECT ts_code, date_trunc('${period}', trade_date) AS period, open, high, low, close, vol, amount FROM ${entity}`;
    expect(await found(`(${due} EXCEPT ALL ${given}) UNION ALL (${given} EXCEPT ALL ${due})`)).toEqual([]);
    const chained = `SELECT ts_code, period, lag(close * factor) OVER (PARTITION BY ts_code ORDER BY period) / factor AS due FROM (
        SELECT ts_code, date_trunc('${period}', trade_date) AS period, arg_max(close, trade_date) AS close, arg_max(adj_factor, trade_date) AS factor
        FROM daily JOIN adj_factor USING (ts_code, trade_date) GROUP BY ALL)`;
    const previous = `SELECT ts_code, date_trunc('${period}', trade_date) AS period, pre_close FROM ${entity}`;
    expect(
      await found(`FROM (${chained}) JOIN (${previous}) USING (ts_code, period) WHERE abs(pre_close - due) > 0.0101`),
    ).toEqual([]);
  });

  it("covers whole years of calendar, up to the one after the demo", async () => {
    const [bounds] = await writer.rows("SELECT min(cal_date) AS first, max(cal_date) AS last FROM trade_cal");
    expect(bounds).toEqual({ first: "2024-01-01", last: "2026-12-31" });
    expect(await count("SELECT DISTINCT trade_date FROM daily")).toBe(SMALL.days);
  });

  it("has all special cases that other tests may need", async () => {
    const kinds: Record<string, string> = {
      "closes at the upper limit": "FROM daily JOIN stk_limit USING (ts_code, trade_date) WHERE close = up_limit",
      "closes at the lower limit": "FROM daily JOIN stk_limit USING (ts_code, trade_date) WHERE close = down_limit",
      "limits of 5, 10, 20 and 30 percent": `SELECT DISTINCT round((up_limit / down_limit - 1) * 10) AS kind FROM stk_limit QUALIFY count(*) OVER () >= 4`,
      "stocks delisted within": "FROM stock_list WHERE delist_date IS NOT NULL",
      "stocks listed within": "FROM stock_list WHERE list_date > DATE '2024-10-01'",
      "names with ST": "FROM stock_list WHERE name LIKE '%ST%'",
      "bonus shares": "FROM dividend WHERE stk_div > 0 AND ex_date IS NOT NULL",
      resumptions: "FROM suspend_d WHERE suspend_type = 'R'",
      "exits from an industry": "FROM index_member WHERE out_date IS NOT NULL AND is_new = 'N'",
      losses: "FROM daily_basic WHERE pe IS NULL",
      "revised reports": "FROM income WHERE update_flag = '0'",
      "reports on no stock": "FROM research_report WHERE ts_code IS NULL",
      "announcements with bare codes": "FROM anns_d WHERE len(ts_code) = 6",
      "ticks of funds": "FROM stk_auction WHERE ts_type = 'ETF'",
      "ticks without time, price, type or previous close": `FROM stk_auction WHERE "time" IS NULL OR price IS NULL OR ts_type IS NULL OR pre_close IS NULL`,
      "equal ticks": "SELECT *, count(*) AS n FROM stk_auction GROUP BY ALL HAVING n > 1",
      "the special codes": "FROM stock_list WHERE ts_code IN ('689009.SH', '900901.SH')",
      "the first codes": "FROM stock_list WHERE ts_code IN ('000001.SZ', '600000.SH')",
    };
    for (const [kind, sql] of Object.entries(kinds)) expect([kind, await count(sql)]).not.toEqual([kind, 0]);
  });
});

describe("the same options", () => {
  /** One number for the rows of each entity, whatever their order. */
  const sums = async (options: DemoOptions, threads: number): Promise<Record<string, unknown>> => {
    const other = await open(threads);
    try {
      const market = await prepareDemo(other, options);
      const result: Record<string, unknown> = {};
      for (const { entity, sql } of market.entities) {
        const [row] = await other.rows(`SELECT sum(hash(r) >> 8)::VARCHAR AS sum FROM (${sql}) r`);
        result[entity] = row!["sum"];
      }
      return result;
    } finally {
      other.close();
    }
  };
  const tiny = { ...SMALL, stocks: 40, days: 120 };

  it("make the same rows with one thread and with two", async () => {
    expect(await sums(tiny, 1)).toEqual(await sums(tiny, 2));
  });

  it("make other rows with another seed", async () => {
    const one = await sums(tiny, 2);
    const other = await sums({ ...tiny, seed: 2 }, 2);
    const same = Object.keys(one).filter((entity) => one[entity] === other[entity]);
    expect(same.sort()).toEqual(["index_basic", "index_classify", "trade_cal"]);
  });
});

describe("a demo of an extreme size", () => {
  const SIZES = [
    [10, 30],
    [12, 3_000],
    [1_500, 30],
  ] as const;

  it.each(someOf(SIZES))("has rows for all entities with %i stocks and %i days", async (stocks, days) => {
    const other = await open(2);
    const market = await prepareDemo(other, { ...SMALL, stocks, days });
    for (const { entity, sql } of market.entities) {
      expect([entity, (await other.rows(`SELECT count(*) > 0 AS some FROM (${sql})`))[0]!["some"]]).toEqual([
        entity,
        true,
      ]);
    }
    other.close();
  });

  it.each([
    [{ stocks: 9 }, "10 to 6000 stocks"],
    [{ stocks: 6_001 }, "10 to 6000 stocks"],
    [{ days: 29 }, "at least 30 days"],
    [{ days: 20_000 }, "only 8\\d+ trading days"],
    [{ until: "20331231" }, "ends with the year 2033"],
  ])("is refused with a reason: %j", async (wrong, reason) => {
    const refusal = prepareDemo(writer, { ...SMALL, ...wrong });
    await expect(refusal).rejects.toThrow(OperatorError);
    await expect(refusal).rejects.toThrow(new RegExp(reason));
  });

  it("leaves no helper tables behind", async () => {
    const other = await open(1);
    const market = await prepareDemo(other, { ...SMALL, stocks: 10, days: 30 });
    await market.dispose();
    expect(await other.rows("SELECT table_name FROM duckdb_tables()")).toEqual([]);
    await expect(prepareDemo(other, { ...SMALL, stocks: 10, days: 29 })).rejects.toThrow();
    expect(await other.rows("SELECT table_name FROM duckdb_tables()")).toEqual([]);
    other.close();
  });
});
