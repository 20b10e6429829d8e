// What a server has to answer, worked out from the rows of each version as a plain DuckDB reads them.
import { entityNamed } from "../../src/catalog/index.js";
import { openLake, type Snapshot } from "../../src/lake/lake.js";
import { gapsByHand, sorted } from "./market.js";
import { rowsOf } from "./upkeep.js";

export type Value = string | number | null;
export type Row = readonly Value[];

/** The entities that are asked for their rows. */
const ASKED = ["daily", "adj_factor", "stk_limit", "trade_cal", "stock_list", "income"] as const;
export type Asked = (typeof ASKED)[number];

export interface Model {
  /** In the default order, dates as `YYYYMMDD`. */
  readonly rows: Readonly<Record<Asked, readonly Row[]>>;
  /** Rows of each entity, as /meta tells them. */
  readonly counts: Readonly<Record<string, number>>;
  /** Of `daily`, each as JSON, sorted. */
  readonly gaps: readonly string[];
}

export const columnsOf = (entity: Asked): readonly string[] => entityNamed(entity)!.columns.map(({ name }) => name);

/** The model of a version. */
export async function modelOf(root: string, dataVersion: string): Promise<Model> {
  const snapshot = await (await openLake(root)).at(dataVersion);
  if (typeof snapshot === "string") throw new Error(`${dataVersion} is ${snapshot}`);
  const rows = {} as Record<Asked, readonly Row[]>;
  for (const name of ASKED) rows[name] = await plainRows(root, snapshot, name);
  const names = Object.keys(snapshot.version.lists);
  const counts = Object.fromEntries(names.map((name) => [name, snapshot.files(name).rows]));
  return { rows, counts, gaps: await gapsOf(root, snapshot, rows) };
}

async function plainRows(root: string, snapshot: Snapshot, name: string): Promise<readonly Row[]> {
  const dates = entityNamed(name)!.columns.map(({ type }) => type === "date");
  return (await rowsOf(root, snapshot, name)).map((text) =>
    (JSON.parse(text) as Value[]).map((value, i) =>
      dates[i] && value !== null ? String(value).replaceAll("-", "") : value,
    ),
  );
}

async function gapsOf(root: string, snapshot: Snapshot, rows: Model["rows"]): Promise<readonly string[]> {
  const cut = (name: string, from: readonly Row[], ...columns: readonly string[]): Value[][] => {
    const at = columns.map((column) => entityNamed(name)!.columns.findIndex((one) => one.name === column));
    return from.map((row) => at.map((i) => row[i]!));
  };
  const calendar = cut("trade_cal", rows.trade_cal, "cal_date", "is_open");
  const latest = rows.stock_list.at(-1)![columnsOf("stock_list").indexOf("snapshot_date")]!;
  const listed = rows.stock_list.filter((row) => row.includes(latest));
  const suspended = cut(
    "suspend_d",
    await plainRows(root, snapshot, "suspend_d"),
    ...["ts_code", "trade_date", "suspend_timing", "suspend_type"],
  );
  const market = {
    calendar: calendar.map(([date, open]) => [date as string, open === 1] as const),
    stocks: cut("stock_list", listed, "ts_code", "list_date", "delist_date") as never,
    suspensions: suspended as never,
    rows: cut("daily", rows.daily, "ts_code", "trade_date") as never,
  };
  return sorted(gapsByHand("daily", market));
}
