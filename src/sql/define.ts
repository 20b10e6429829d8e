// Defines the tables and functions of a statement for DuckDB: each is made by the plan of the request that it means, so its
// rows are those of the endpoint.
import { entityNamed } from "../catalog/index.js";
import { parameterNames } from "../catalog/parameters.js";
import { type Entity, SQL_TYPES } from "../catalog/types.js";
import { Problem } from "../errors.js";
import type { DataFile, FileList } from "../lake/manifest.js";
import { parsePanelRequest } from "../query/panel.js";
import { planPanel } from "../query/panel-plan.js";
import { parseDateValue, quote } from "../query/parameters.js";
import type { Plan } from "../query/plan.js";
import { type EntityRequest, parseRequest } from "../query/request.js";
import { planRows } from "../query/rows.js";
import { rowsOf, scanOf, type Scan } from "../query/scan.js";
import { render } from "../query/sql.js";
import { isoDate } from "../dates.js";
import { quoteName, quoteText } from "../sql-text.js";
import { adjustedSql } from "./adjusted-sql.js";
import { argument, barsOf, type Call, entityOf, type FunctionName } from "./calls.js";
import type { Uses } from "./check.js";
import { SHIFT } from "./check.js";
import { invalidSql, sqlProblem } from "./problems.js";

type Parameters = Readonly<Record<string, unknown>>;

/** The files of a version that a statement reads. */
export interface Source {
  readonly listOf: (entity: string) => FileList;
  readonly pathOf: (file: DataFile) => string;
}

export interface Defined {
  /** The statement with names of its own for the functions that it calls. */
  readonly sql: string;
  readonly definitions: readonly string[];
}

/** The entities whose files a statement reads. Throws a problem if a call names none. */
export function entitiesOf(sql: string, { tables, calls, shifts }: Uses, parameters: Parameters): readonly string[] {
  const names = new Set(tables);
  if (shifts) names.add("trade_cal");
  for (const call of calls)
    for (const name of ENTITIES_OF[call.name as FunctionName](sql, call, parameters)) names.add(name);
  return [...names].sort();
}

type EntitiesOf = (sql: string, call: Call, parameters: Parameters) => readonly string[];

const ofFirst: EntitiesOf = (sql, call, parameters) => [entityOf(sql, call, parameters).name];

const ENTITIES_OF: Readonly<Record<FunctionName, EntitiesOf>> = {
  known: ofFirst,
  latest: ofFirst,
  adjusted(sql, call, parameters) {
    const { name, adjustment } = entityOf(sql, call, parameters);
    return [name, ...(adjustment ? [adjustment.factors, ...(adjustment.days ? [adjustment.days.entity] : [])] : [])];
  },
  bars(sql, call, parameters) {
    const { name, builtFrom } = barsOf(sql, call, parameters);
    return builtFrom ? [builtFrom.days, builtFrom.calendar] : [name];
  },
  panel: (sql, call, parameters) => [
    ...new Set(inCall(sql, call, () => panelOf(call, parameters)).fields.map(({ entity }) => entity)),
  ],
  trading_days: () => ["trade_cal"],
  universe: () => ["stock_list"],
};

export function define(sql: string, uses: Uses, parameters: Parameters, source: Source): Defined {
  const bytes = Buffer.from(sql);
  const definitions = [...uses.tables].map(
    (name) => `CREATE TEMP VIEW ${quoteName(name)} AS ${tableSql(entityNamed(name)!, source)}`,
  );
  if (uses.shifts) definitions.push(...shiftSql(source));
  for (const [i, call] of uses.calls.entries()) {
    const rows = inCall(sql, call, () => ROWS_OF[call.name as FunctionName](sql, call, parameters, source));
    // The same length keeps the places of what follows.
    const own = ownName(call.name, i);
    bytes.write(own, call.place, "latin1");
    const positions = Array.from({ length: call.positions }, (_, at) => `a${at}`);
    const named = call.named.map((name) => `${name} := NULL`);
    definitions.push(`CREATE TEMP MACRO ${own}(${[...positions, ...named].join(", ")}) AS TABLE ${rows}`);
  }
  return { sql: bytes.toString("utf8"), definitions };
}

const MOST_CALLS = 100;

/** `known` → `kno00`: a name of its own for each call. */
function ownName(name: string, i: number): string {
  if (i >= MOST_CALLS) throw new Problem("sql_not_allowed", `a statement calls at most ${MOST_CALLS} table functions`);
  return name.slice(0, -2) + String(i).padStart(2, "0");
}

/** A problem of a request says where the call is. */
function inCall<T>(sql: string, call: Call, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Problem) || error.code === "invalid_sql") throw error;
    // What the endpoint would take instead is no help here.
    const { hint } = error.extras;
    const isGeneral = error.code !== "unknown_parameter" && hint !== undefined;
    const why = `${call.name}: ${error.detail}`;
    throw sqlProblem(error.code, sql, why, call.place, isGeneral ? { hint } : {});
  }
}

type RowsOf = (sql: string, call: Call, parameters: Parameters, source: Source) => string;

const ROWS_OF: Readonly<Record<FunctionName, RowsOf>> = {
  known: (sql, call, parameters, source) => {
    const entity = entityOf(sql, call, parameters);
    return requestSql(entity, { as_of: argument(call, "as_of", parameters) }, source);
  },
  latest(sql, call, parameters, source) {
    const entity = entityOf(sql, call, parameters);
    return requestSql(entity, { latest: "true", as_of: argument(call, "as_of", parameters) }, source);
  },
  adjusted(sql, call, parameters, source) {
    const entity = entityOf(sql, call, parameters);
    const volume = argument(call, "volume", parameters)?.toLowerCase();
    const adjust_volume = volume === "t" ? "true" : volume === "f" ? "false" : volume;
    const days = {
      start_date: argument(call, "first_day", parameters),
      end_date: argument(call, "last_day", parameters),
    };
    const request = requestOf(entity, { adjust: argument(call, "adjust", parameters), adjust_volume, ...days });
    return adjustedSql(request, planSql(planOf({ ...request, ...plainUnlessBuilt(entity) }, source), source), (name) =>
      tableSql(entityNamed(name)!, source),
    );
  },
  bars: (sql, call, parameters, source) => {
    const entity = barsOf(sql, call, parameters);
    return planSql(planOf(requestOf(entity, {}), source), source);
  },
  panel: (_sql, call, parameters, source) => planSql(planPanel(panelOf(call, parameters), source.listOf, null), source),
  trading_days(_sql, call, parameters, source) {
    const [start, end] = [dayOf(call, "first_day", parameters), dayOf(call, "last_day", parameters)];
    const between = `cal_date BETWEEN ${start} AND ${end}`;
    return `SELECT cal_date AS trade_date FROM (${tableSql(entityNamed("trade_cal")!, source)}) WHERE is_open = 1 AND ${between} ORDER BY 1`;
  },
  universe(sql, call, parameters, source) {
    const day = dayOf(call, "day", parameters);
    const { first } = source.listOf("stock_list");
    if (first !== null && day < dateText(first)) {
      throw invalidSql(
        sql,
        `the first list of stocks is of ${first}: which stocks were listed before is not known`,
        call.place,
        "stock_list has the day on which each stock was listed: FROM stock_list WHERE list_date <= $day::DATE",
      );
    }
    const snapshot = requestSql(entityNamed("stock_list")!, { as_of: argument(call, "day", parameters) }, source);
    return `SELECT ts_code, name, list_date, delist_date FROM (${snapshot}) WHERE list_date <= ${day} AND (delist_date IS NULL OR delist_date > ${day})`;
  },
};

/** Bars of a period are adjusted while they are built of their days; the rows of other entities afterwards. */
const plainUnlessBuilt = ({ adjustment }: Entity): Partial<EntityRequest> =>
  adjustment?.days ? {} : { adjust: null, adjustVolume: null };

const dayOf = (call: Call, name: string, parameters: Parameters): string =>
  dateText(parseDateValue(name, argument(call, name, parameters)!));

const dateText = (day: string): string => `DATE ${quoteText(isoDate(day))}`;

const NO_LIMITS = { defaultLimit: null, maxLimit: null };

function requestOf(entity: Entity, given: Readonly<Record<string, string | undefined>>): EntityRequest {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) search.append(name, value);
  const request = parseRequest(entity, search, NO_LIMITS, parameterNames(entity));
  if (request.asOfDays !== null)
    throw new Problem("invalid_parameter", "as_of takes one day here", { parameter: "sql" });
  return request;
}

function panelOf(call: Call, parameters: Parameters) {
  const search = new URLSearchParams();
  const named = { entities: "fields", start_date: "first_day", end_date: "last_day" };
  for (const [name, of] of Object.entries(named)) {
    const value = argument(call, of, parameters);
    if (value !== undefined) search.append(name, value);
  }
  return parsePanelRequest(search, NO_LIMITS);
}

const planOf = (request: EntityRequest, { listOf }: Source): Plan =>
  planRows(request, listOf(request.entity.name), listOf, null);

const requestSql = (entity: Entity, given: Readonly<Record<string, string | undefined>>, source: Source): string =>
  planSql(planOf(requestOf(entity, given), source), source);

/** All stored rows of an entity. */
function tableSql(entity: Entity, { listOf, pathOf }: Source): string {
  const files = listOf(entity.name).byDate;
  const columns = entity.columns.filter(({ lookup }) => lookup === undefined);
  return files.length === 0 ? emptySql(columns) : inlined(scanOf(files, rowsOf(columns)), pathOf);
}

function planSql({ scans, columns }: Plan, { pathOf }: Source): string {
  if (scans.length === 0) return emptySql(columns);
  return scans.map((scan) => `(${inlined(scan, pathOf)})`).join(" UNION ALL ");
}

const emptySql = (columns: Plan["columns"]): string =>
  `SELECT ${columns.map(({ name, type }) => `NULL::${SQL_TYPES[type]} AS ${quoteName(name)}`).join(", ")} WHERE false`;

/** A scan with its values in the text: a view has no parameters. Only this module's own values are among them. */
function inlined(scan: Scan, pathOf: Source["pathOf"]): string {
  const { sql, values } = render(scan, pathOf);
  return sql.replaceAll(/\$(\d+)/g, (_, number: string) => literal(values[Number(number) - 1]!));
}

function literal(value: unknown): string {
  if (value === null) return "NULL";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "string") return quoteText(value);
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  throw new Error(`no literal for ${quote(typeof value)}`);
}

/** `shift_days(day, n)`: the n-th trading day after a trading day, before it if n is negative; null if there is none. */
const shiftSql = (source: Source): readonly string[] => {
  const calendar = tableSql(entityNamed("trade_cal")!, source);
  const open = `SELECT cal_date AS __day, row_number() OVER (ORDER BY cal_date) AS __number FROM (${calendar}) WHERE is_open = 1`;
  const number = "(SELECT one.__number FROM __open_days one WHERE one.__day = CAST(day AS DATE))";
  return [
    `CREATE TEMP VIEW __open_days AS ${open}`,
    `CREATE TEMP MACRO ${SHIFT}(day, n) AS (SELECT other.__day FROM __open_days other WHERE other.__number = ${number} + n)`,
  ];
};
