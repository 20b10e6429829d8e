// The client for Node and browsers: `import { createClient } from "tapehouse/client"`. It only needs fetch.
import { createAnswer, type Answer } from "./answer.js";
import { type Day, ENTITY_NAMES, type EntityMethods, type Texts } from "./entities.js";
import { TapehouseError } from "./errors.js";
import { createTransport, getJson, type Params, type Patience, type Transport } from "./http.js";
import { createSqlAnswer, type SqlAnswer, type SqlOptions, type SqlRow } from "./sql.js";

export type { Answer } from "./answer.js";
export type { SqlAnswer, SqlOptions, SqlRow, SqlValue } from "./sql.js";
export type * from "./entities.js";
export { ConnectionFailedError, IncompleteAnswerError, ProblemError, TapehouseError } from "./errors.js";

export interface ClientOptions extends Patience {
  readonly url: string;
  readonly token?: string;
  /** Cancels reading. */
  readonly signal?: AbortSignal;
}

export interface CalendarDay {
  readonly exchange: string;
  readonly cal_date: string;
  readonly is_open: 0 | 1;
}

export interface Gap {
  readonly entity: string;
  readonly ts_code: string | null;
  readonly gap_start: string;
  readonly gap_end: string;
  readonly kind: string;
  /** Only if excused gaps were requested: why the operator excused it. */
  readonly reason?: string;
}

/** A changed value, or an added or removed row; the columns of its identity are members too. */
export interface Change extends Readonly<Record<string, string | number | null>> {
  readonly change: "added" | "removed" | "changed";
  /** Null if the whole row was added or removed: it is JSON in `after` or `before`. */
  readonly column: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

/** Exact, over all rows of a version. */
export interface ColumnStatistics {
  readonly name: string;
  readonly nulls: number;
  readonly distinct: number;
  /** Null if no row has a value, as `max` and `last`. */
  readonly min: string | number | null;
  readonly max: string | number | null;
  /** The last day with a value; null too if the entity has no main date. */
  readonly last: string | null;
}

export interface Statistics {
  readonly entity: string;
  readonly data_version: string;
  readonly rows: number;
  readonly columns: readonly ColumnStatistics[];
}

export interface Descriptor {
  readonly entity: string;
  readonly available: boolean;
  readonly data_start?: string;
  readonly data_end?: string;
  readonly rows?: number;
}

/** When rows and values of an entity are known: what `as_of` and `latest` mean for it. */
export interface PointInTime {
  /** How `as_of` selects rows; null if it is not supported. */
  readonly rule: "announced" | "snapshot" | null;
  /** The first of these dates that a row has is the day on which it was announced. */
  readonly known_from: readonly string[];
  /** With `as_of`, this date must not be later either. */
  readonly period_end: string | null;
  /** With `as_of`, `column` shows `before` in rows whose `known_from` is later. */
  readonly hides: readonly { readonly column: string; readonly known_from: string; readonly before: string | null }[];
  /** `latest` leaves the newest of the rows with the same values of `of`, by `date`. */
  readonly revisions: {
    readonly of: readonly string[];
    readonly date: readonly string[];
    readonly flag: string | null;
  } | null;
  /** What a panel takes: the row of the day, or the newest revision of the newest period known; null: it takes none. */
  readonly panel: "day" | "newest" | null;
}

export interface Health {
  readonly status: string;
  readonly data_version: string;
  readonly databases: Readonly<Record<string, boolean>>;
  /** Only while the inbox should be watched but is not. */
  readonly inbox?: false;
}

export interface PanelParams {
  readonly start_date?: Day;
  readonly end_date?: Day;
  readonly codes?: Texts;
  readonly layout?: "wide" | "long";
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: "asc" | "desc";
  readonly data_version?: string;
}

/** Days are `YYYYMMDD`. */
export type PanelRow = Readonly<Record<string, string | number | null>> & {
  readonly ts_code: string;
  readonly trade_date: string;
};

/** Every entity is a method: `client.daily({ ts_code: "600519.SH", start_date: 20240101 })`. */
export interface Client extends EntityMethods {
  /** The version of every read; null reads the current one. */
  readonly dataVersion: string | null;
  /** A client that reads the version that is current now, or the version of this client. */
  pin(): Promise<Client>;
  /** A client that reads this version. */
  at(dataVersion: string): Client;
  /** The versions that can be read, newest first. */
  versions(): Promise<readonly string[]>;
  calendar(params?: { start_date?: Day; end_date?: Day; is_open?: 0 | 1; exchange?: string }): Promise<CalendarDay[]>;
  /** The n-th trading day after a trading day, or before it if `n` is negative. */
  shift(date: Day, n: number): Promise<string>;
  /** Intervals without rows; with `excused` those that the operator excused, instead of the others. */
  gaps(
    entity: string,
    params?: { start_date?: Day; end_date?: Day; ts_code?: string; excused?: boolean },
  ): Promise<Gap[]>;
  /**
   * A row for each stock and trading day of the first entity, with columns of several, given as `entity:column`: each value
   * as it was known at the close. A column is called `entity.column`; with `layout: "long"`, rows have `field` and `value`.
   */
  panel(entities: Texts, params?: PanelParams): Answer<PanelRow>;
  /**
   * Rows of one `SELECT` over one version, in the SQL of DuckDB, in which every entity is a table:
   * `client.sql("SELECT count(*) AS n FROM daily WHERE trade_date >= $from", { params: { from: "20240101" } })`.
   */
  sql<Row extends object = SqlRow>(statement: string, options?: SqlOptions): SqlAnswer<Row>;
  /**
   * What differs between two versions of an entity; `to` is the version of this client, or the current one. Filters by
   * columns of the identity and `start_date`, `end_date` and `limit` are accepted too.
   */
  changes(entity: string, versions: { from: string; to?: string }, params?: Params): Answer<Change>;
  /** What the columns of an entity hold, all of them or those in `fields`. */
  statistics(entity: string, params?: { fields?: string | readonly string[] }): Promise<Statistics>;
  /** Every entity with its dates and number of rows in the current version, and when its rows are known. */
  meta(): Promise<{
    readonly data_version: string;
    readonly entities: Readonly<Record<string, Descriptor>>;
    readonly point_in_time: Readonly<Record<string, PointInTime>>;
    /** Whether the token may run SQL; `off` if the server runs none. */
    readonly sql: "available" | "forbidden" | "off";
  }>;
  /** Needs no token. */
  health(): Promise<Health>;
}

export function createClient({ url, token, signal, ...patience }: ClientOptions): Client {
  return clientOf(createTransport(url, token, patience), null, signal);
}

function clientOf(transport: Transport, dataVersion: string | null, signal: AbortSignal | undefined): Client {
  const pinned = (params: Params = {}): Params => {
    if (dataVersion === null) return params;
    const asked = params.data_version;
    if (asked !== undefined && asked !== dataVersion) {
      throw new TypeError(`this client is pinned to data_version ${dataVersion}`);
    }
    return { ...params, data_version: dataVersion };
  };
  const read = (entity: string, params?: Params): Answer<unknown> =>
    createAnswer(
      transport,
      { name: entity, path: `entities/${entity}`, version: "data_version" },
      pinned(params),
      signal,
    );
  const methods = Object.fromEntries(ENTITY_NAMES.map((name) => [name, (params?: Params) => read(name, params)]));
  const at = (version: string): Client => clientOf(transport, version, signal);
  const versions = async (): Promise<readonly string[]> =>
    partOf(transport, "/api/v1/versions", {}, "versions", Array.isArray);
  return {
    ...(methods as unknown as EntityMethods),
    dataVersion,
    at,
    versions,
    pin: async () => at(dataVersion ?? (await versions())[0]!),
    calendar: async (params = {}) => partOf(transport, "/api/v1/calendar", pinned(params), "days", Array.isArray),
    shift: async (date, n) => partOf(transport, "/api/v1/calendar/shift", pinned({ date, n }), "result", isText),
    gaps: async (entity, params = {}) =>
      partOf(transport, `/api/v1/entities/${entity}/gaps`, pinned(params), "gaps", Array.isArray),
    changes: (entity, { from, to = dataVersion ?? undefined }, params = {}) =>
      createAnswer(
        transport,
        { name: entity, path: `entities/${entity}/changes`, version: "to" },
        { ...params, from, to },
        signal,
      ),
    panel: (entities, params = {}) =>
      createAnswer(
        transport,
        { name: "panel", path: "panel", version: "data_version" },
        pinned({ ...params, entities }),
        signal,
      ),
    sql: (statement, options = {}) =>
      createSqlAnswer(transport, statement, { ...options, ...pinned({ data_version: options.data_version }) }, signal),
    statistics: (entity, params = {}) => getJson(transport, `/api/v1/entities/${entity}/statistics`, pinned(params)),
    meta: () => getJson(transport, "/api/v1/meta", {}),
    health: () => getJson(transport, "/health", {}),
  };
}

const isText = (value: unknown): boolean => typeof value === "string";

/** One member of a JSON response. */
async function partOf<T>(
  transport: Transport,
  path: string,
  params: Params,
  name: string,
  isKind: (value: unknown) => boolean,
): Promise<T> {
  const part = (await getJson<Record<string, unknown>>(transport, path, params))[name];
  if (isKind(part)) return part as T;
  throw new TapehouseError(`not a Tapehouse response: it has no ${name}`);
}
