// Adjusted prices of real stocks against what others published: the exchange on ex-dates, and a vendor.
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { describeReal, realFile } from "../support/realdata.js";
import { serve } from "../support/server.js";

const BARS = realFile("daily/zillionare__bars_hive/partition_key_year=2025/part-0.parquet");
const FACTORS_2024 = realFile("adj_factor/zillionare__2024_adjust_factor.parquet");

// Stocks that went ex-dividend or ex-rights: code, the day before, the ex-date, and the price that the exchange computed
// for the day before, which is the middle of the price limits of the ex-date. The second one also had a bonus issue.
const EX_DATES = [
  ["002271.SZ", "20250331", "20250401", 12.73],
  ["603535.SH", "20250402", "20250403", 8.62],
  ["002818.SZ", "20250402", "20250403", 13.48],
] as const;

describeReal("adjusted prices of real stocks", () => {
  test("are what the exchange computed on ex-dates", async () => {
    const root = await temporaryFolder();
    const key = "asset AS ts_code, date::DATE AS trade_date";
    await publishRows(root, {
      daily: `SELECT ${key}, open, high, low, close, volume AS vol FROM '${BARS}'`,
      adj_factor: `SELECT ${key}, adjust AS adj_factor FROM '${BARS}'`,
      stk_limit: `SELECT ${key}, up_limit, down_limit FROM '${BARS}'`,
    });
    const server = await serve(root);
    const rowsOf = async (query: string) => (await server.json(`/api/v1/entities/${query}`)).rows;
    for (const [code, before, exDate, price] of EX_DATES) {
      const [[up, down]] = (await rowsOf(
        `stk_limit?ts_code=${code}&trade_date=${exDate}&fields=up_limit,down_limit`,
      )) as [[number, number]];
      expect((up + down) / 2).toBeCloseTo(price, 9);
      const query = `daily?ts_code=${code}&start_date=${before}&end_date=${exDate}&fields=trade_date,close`;
      const [traded, adjusted] = [await rowsOf(query), await rowsOf(`${query}&adjust=forward`)];
      expect(adjusted[1]).toEqual(traded[1]);
      expect(adjusted[0]![1]).not.toBe(traded[0]![1]);
      expect(Number(Number(adjusted[0]![1]).toFixed(2))).toBe(price);
      const [first, last] = (await rowsOf(`${query}&adjust=backward`)).map(([, close]) => Number(close));
      expect(last! / first!).toBeCloseTo(Number(traded[1]![1]) / price, 4);
    }
  });

  // The week of 17 January 2025 of 000001.SZ as printed in Tushare's documentation of stk_week_month_adj, with its prices
  // adjusted backward. Its factor was the same from December to March.
  test("are those of a vendor, to the cent", async () => {
    const root = await temporaryFolder();
    const day = "unnest(generate_series(DATE '2025-01-06', DATE '2025-01-17', INTERVAL 1 DAY))::DATE";
    const bar = "'000001.SZ' AS ts_code, DATE '2025-01-17' AS trade_date, 11.25 AS open, 11.59 AS high, 11.08 AS low";
    await publishRows(root, {
      weekly: `SELECT ${bar}, 11.45 AS close, 11.30 AS pre_close`,
      adj_factor: `SELECT ts_code, ${day} AS trade_date, adj_factor FROM (
        SELECT asset AS ts_code, adjust AS adj_factor FROM '${FACTORS_2024}' WHERE date = '2024-12-31' INTERSECT
        SELECT asset, adjust FROM '${BARS}' WHERE date = '2025-03-31') WHERE ts_code = '000001.SZ'`,
    });
    const { rows } = await (
      await serve(root)
    ).json("/api/v1/entities/weekly?adjust=backward&fields=open,high,low,close");
    expect(rows[0]!.map((price) => Number(price).toFixed(2))).toEqual(["1437.57", "1481.02", "1415.85", "1463.13"]);
  });
});
