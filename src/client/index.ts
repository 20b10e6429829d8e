// The client for Node and browsers: `import { createClient } from "tapehouse/client"`. It only needs fetch.
import { createAnswer, type Answer } from "./answer.js";
import { ENTITY_NAMES, type EntityMethods } from "./entities.js";
import { TapehouseError } from "./errors.js";
import { createTransport, getJson, type Params, type Patience, type Transport } from "./http.js";

export type { Answer } from "./answer.js";
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
}

export interface Descriptor {
  readonly entity: string;
  readonly available: boolean;
  readonly data_start?: string;
  readonly data_end?: string;
  readonly rows?: number;
}

export interface Health {
  readonly status: string;
  readonly data_version: string;
  readonly databases: Readonly<Record<string, boolean>>;
}

type Day = string | number;

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
  /** Intervals without rows. */
  gaps(entity: string, params?: { start_date?: Day; end_date?: Day; ts_code?: string }): Promise<Gap[]>;
  /** Every entity with its dates and number of rows in the current version. */
  meta(): Promise<{ readonly data_version: string; readonly entities: Readonly<Record<string, Descriptor>> }>;
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
    createAnswer(transport, entity, pinned(params), signal);
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
