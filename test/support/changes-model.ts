// A plain model of changes: two lists of rows, compared in memory.
import type { Entity } from "../../src/catalog/types.js";
import type { Row } from "./traffic-model.js";

type Value = Row[number];

/** As the API spells a value in JSON, without quotes. */
const spelled = (value: Value): string | null => (value === null ? null : String(value));

/** A whole row as one JSON object. */
export const rowJson = (entity: Entity, row: Row): string =>
  JSON.stringify(Object.fromEntries(entity.columns.map(({ name }, i) => [name, row[i]!])));

/** The columns of the identity: indexes in a row, in the order of the entity. */
const identityOf = ({ columns, identity }: Entity): readonly number[] =>
  columns.flatMap(({ name }, i) => (identity.includes(name) ? [i] : []));

/** The rows of the response, in their order. */
export function expectedChanges(entity: Entity, older: readonly Row[], newer: readonly Row[]): readonly Row[] {
  const found = entity.identityIs === "row" ? rowChanges(entity, older, newer) : groupChanges(entity, older, newer);
  const identity = identityOf(entity).map((i) => entity.columns[i]!.name);
  const order = entity.order.filter((name) => identity.includes(name)).map((name) => 1 + identity.indexOf(name));
  return found
    .map((row, place) => ({ row, place }))
    .sort((a, b) => {
      for (const i of order) if (a.row[i] !== b.row[i]) return compare(a.row[i]!, b.row[i]!);
      if (a.row[0] !== b.row[0]) return -compare(a.row[0]!, b.row[0]!);
      if (entity.identityIs === "row") return a.place - b.place;
      return compare(wholeRow(a.row), wholeRow(b.row));
    })
    .map(({ row }) => row);
}

/** What an added or removed row holds. */
const wholeRow = (change: Row): Value => change.at(-2) ?? change.at(-1)!;

function compare(a: Value, b: Value): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function rowChanges(entity: Entity, older: readonly Row[], newer: readonly Row[]): readonly Row[] {
  const keys = identityOf(entity);
  const keyOf = (row: Row): string => JSON.stringify(keys.map((i) => row[i]!));
  const [before, after] = [older, newer].map((rows) => new Map(rows.map((row) => [keyOf(row), row])));
  return [...new Set([...before!.keys(), ...after!.keys()])].flatMap((key): readonly Row[] => {
    const [was, is] = [before!.get(key), after!.get(key)];
    const identity = JSON.parse(key) as Row;
    if (!was) return [["added", ...identity, null, null, rowJson(entity, is!)]];
    if (!is) return [["removed", ...identity, null, rowJson(entity, was), null]];
    return entity.columns.flatMap(({ name }, i) =>
      was[i] === is[i] ? [] : [["changed", ...identity, name, spelled(was[i]!), spelled(is[i]!)]],
    );
  });
}

function groupChanges(entity: Entity, older: readonly Row[], newer: readonly Row[]): readonly Row[] {
  const counts = new Map<string, { readonly row: Row; count: number }>();
  for (const [rows, sign] of [[older, -1] as const, [newer, 1] as const]) {
    for (const row of rows) {
      const json = rowJson(entity, row);
      const known = counts.get(json) ?? { row, count: 0 };
      known.count += sign;
      counts.set(json, known);
    }
  }
  return [...counts].flatMap(([json, { row, count }]) => {
    const identity = identityOf(entity).map((i) => row[i]!);
    const change: Row =
      count > 0 ? ["added", ...identity, null, null, json] : ["removed", ...identity, null, json, null];
    return Array.from({ length: Math.abs(count) }, () => change);
  });
}

/** Applies a response to the rows of the older version, as a client would. The order of the rows is lost. */
export function applyChanges(entity: Entity, older: readonly Row[], changes: readonly Row[]): readonly string[] {
  const keys = identityOf(entity);
  const rows = older.map((row) => JSON.parse(rowJson(entity, row)) as Record<string, Value>);
  for (const change of changes) {
    const [kind, ...rest] = change;
    const [column, before, after] = rest.slice(keys.length);
    if (kind === "added") rows.push(JSON.parse(String(after)) as Record<string, Value>);
    else if (kind === "removed") {
      rows.splice(
        rows.findIndex((row) => JSON.stringify(row) === before),
        1,
      );
    } else {
      const row = rows.find((one) => keys.every((i, k) => one[entity.columns[i]!.name] === rest[k]))!;
      const { type } = entity.columns.find(({ name }) => name === column)!;
      const isNumber = type === "float64" || type === "int64";
      row[String(column)] = after === null || !isNumber ? after! : Number(after);
    }
  }
  return rows.map((row) => JSON.stringify(row)).sort();
}
