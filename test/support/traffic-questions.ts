// Questions of every kind, drawn by chance, each with the answer that a model gives.
import { columnsOf, type Asked, type Model, type Row, type Value } from "./traffic-model.js";

/** What has to come back. */
type Expected =
  | { readonly is: "rows"; readonly rows: (model: Model) => readonly Row[]; readonly columns: readonly string[] }
  | { readonly is: "json"; readonly value: (model: Model) => unknown; readonly pick: (body: never) => unknown }
  | { readonly is: "problem"; readonly status: number; readonly code: string };

export interface Question {
  readonly kind: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** With `format`, `gzip` and If-None-Match where it may be. */
  readonly expected: Expected;
  readonly authorized?: false;
  /** Pages to walk with this limit, from the first one on. */
  readonly pageSize?: number;
}

export type Random = () => number;

/** The same numbers for the same seed, from 0 up to 1 (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!;

const at = (entity: Asked, column: string): number => columnsOf(entity).indexOf(column);

const rowsWhere = (
  kind: string,
  entity: Asked,
  query: Readonly<Record<string, string>>,
  keep: (row: Row) => boolean,
  more: Partial<Question> = {},
): Question => {
  const fields = query["fields"]?.split(",") ?? columnsOf(entity);
  const places = fields.map((name) => at(entity, name));
  const rows = ({ rows }: Model): readonly Row[] => {
    const kept = rows[entity].filter(keep);
    const ordered = query["order"] === "desc" ? kept.toReversed() : kept;
    return query["fields"] ? ordered.map((row) => places.map((i) => row[i]!)) : ordered;
  };
  return {
    ...{ kind, path: `/api/v1/entities/${entity}`, query, expected: { is: "rows", rows, columns: fields } },
    ...more,
  };
};

type Maker = (random: Random, model: Model) => Question;

const days = (model: Model): readonly string[] => [
  ...new Set(model.rows.daily.map((row) => String(row[at("daily", "trade_date")]))),
];
const someCode = (random: Random, model: Model): Value => pick(random, model.rows.daily)[at("daily", "ts_code")]!;

function span(random: Random, model: Model): readonly [string, string] {
  const [one, other] = [pick(random, days(model)), pick(random, days(model))];
  return one < other ? [one, other] : [other, one];
}

const inSpan =
  (entity: Asked, column: string, [start, end]: readonly [string, string]) =>
  (row: Row): boolean =>
    String(row[at(entity, column)]) >= start && String(row[at(entity, column)]) <= end;

type Bad = readonly [entity: string, query: Readonly<Record<string, string>>, status: number, code: string];

const REFUSED: readonly Bad[] = [
  ["daily", { ts_cod: "600519.SH" }, 400, "unknown_parameter"],
  ["daily", { start_date: "20240230" }, 400, "invalid_parameter"],
  ["daily", { start_date: "20250101", end_date: "20240101" }, 400, "contradictory_parameters"],
  ["daily", { as_of: "20240101" }, 400, "as_of_not_supported"],
  ["daily", { limit: "0" }, 400, "invalid_parameter"],
  ["daily", { cursor: "x" }, 400, "invalid_cursor"],
  ["dailyy", {}, 404, "unknown_entity"],
  ["daily", { data_version: "2001-01-01T00:00:00.000+08:00" }, 404, "unknown_version"],
  ["daily", {}, 401, "unauthorized"],
];

const BAD = REFUSED.map(([entity, query, status, code]): Omit<Question, "kind"> => ({
  path: `/api/v1/entities/${entity}`,
  query,
  expected: { is: "problem", status, code },
  ...(status === 401 ? { authorized: false } : {}),
}));

const byName = (counts: readonly (readonly [string, number])[]) => counts.toSorted(([a], [b]) => (a < b ? -1 : 1));

/** Each with how often it is asked among the others. */
const MAKERS: readonly (readonly [number, Maker])[] = [
  [
    30,
    (random, model) => {
      const code = someCode(random, model);
      const entity = pick(random, ["daily", "adj_factor", "stk_limit"] as const);
      const isCode = (row: Row): boolean => row[at(entity, "ts_code")] === code;
      return rowsWhere("one stock", entity, { ts_code: String(code) }, isCode);
    },
  ],
  [
    20,
    (random, model) => {
      const date = pick(random, days(model));
      return rowsWhere("one day", "daily", { trade_date: date }, (row) => row[at("daily", "trade_date")] === date);
    },
  ],
  [
    10,
    (random, model) => {
      const [start, end] = span(random, model);
      const query = { start_date: start, end_date: end, fields: "trade_date,ts_code,close", order: "desc" };
      return rowsWhere("range backwards", "daily", query, inSpan("daily", "trade_date", [start, end]));
    },
  ],
  [5, () => rowsWhere("everything", "daily", {}, () => true)],
  [
    8,
    (random, model) => {
      const [start, end] = span(random, model);
      const most = 200 + Math.floor(random() * 800);
      const query = { start_date: start, end_date: end };
      return rowsWhere("pages", "daily", query, inSpan("daily", "trade_date", [start, end]), { pageSize: most });
    },
  ],
  [4, () => rowsWhere("statements", "income", {}, () => true)],
  [
    8,
    (random, model) => {
      const [start, end] = span(random, model);
      const open = ({ rows }: Model): unknown =>
        rows.trade_cal
          .filter((row) => row[at("trade_cal", "is_open")] === 1)
          .filter(inSpan("trade_cal", "cal_date", [start, end]))
          .map((row) => row[at("trade_cal", "cal_date")]);
      const shown = ({ days: found }: { days: readonly { cal_date: string }[] }) => found.map((day) => day.cal_date);
      const query = { start_date: start, end_date: end, is_open: "1" };
      return { kind: "calendar", path: "/api/v1/calendar", query, expected: { is: "json", value: open, pick: shown } };
    },
  ],
  [
    4,
    () => {
      const rows = ({ entities }: { entities: Record<string, { rows?: number }> }) =>
        byName(Object.entries(entities).flatMap(([name, { rows: n }]) => (n ? [[name, n] as const] : [])));
      const held = ({ counts }: Model) => byName(Object.entries(counts).filter(([, n]) => n > 0));
      return { kind: "meta", path: "/api/v1/meta", query: {}, expected: { is: "json", value: held, pick: rows } };
    },
  ],
  [
    4,
    () => {
      const shown = ({ gaps }: { gaps: readonly object[] }) => gaps.map((gap) => JSON.stringify(gap)).sort();
      const expected = { is: "json", value: ({ gaps }: Model) => gaps, pick: shown } as const;
      return { kind: "gaps", path: "/api/v1/entities/daily/gaps", query: {}, expected };
    },
  ],
  [7, (random) => ({ kind: "bad", ...pick(random, BAD) })],
];

const TOTAL = MAKERS.reduce((sum, [weight]) => sum + weight, 0);

export function makeQuestion(random: Random, model: Model): Question {
  let left = random() * TOTAL;
  const [, make] = MAKERS.find(([weight]) => (left -= weight) < 0)!;
  return make(random, model);
}
