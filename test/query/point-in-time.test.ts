// What was known on a day, and what was newest: SQL over files, compared with a model that is written from the rules in
// the catalog alone.
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { ENTITIES } from "../../src/catalog/index.js";
import { SQL_TYPES, type Entity } from "../../src/catalog/types.js";
import { fromDuck, toDuck } from "../../src/engine/statements.js";
import { fileList, type DataFile, type FileList } from "../../src/lake/manifest.js";
import { planRead } from "../../src/query/plan.js";
import { parseRequest, type EntityRequest } from "../../src/query/request.js";
import { render } from "../../src/query/sql.js";
import { duckdbInMemory } from "../support/duckdb.js";
import { temporaryFolder } from "../support/folders.js";
import { size } from "../support/size.js";

type Row = Readonly<Record<string, string | number | null>>;

const TESTED = ENTITIES.filter(({ pointInTime, revisions }) => pointInTime !== null || revisions !== null);
const DAYS = ["20231231", "20240102", "20240103", "20240105", "20240108", "20240110"];
const duckdb = duckdbInMemory({ threads: "1" });
let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
});

const day = fc.constantFrom(...DAYS);

/** A row of small domains, so that many rows revise one another. */
const rowOf = (entity: Entity): fc.Arbitrary<Row> =>
  fc.record(
    Object.fromEntries(
      entity.columns.map(({ name, type, nullable, only }) => {
        const values: fc.Arbitrary<string | number | null> =
          only !== undefined
            ? fc.constantFrom(...only)
            : type === "date"
              ? day
              : name === entity.revisions?.flag
                ? fc.constantFrom("0", "1")
                : type === "code" || entity.identity.includes(name)
                  ? fc.constantFrom("000001.SZ", "600519.SH")
                  : fc.nat(3).map((n) => (type === "text" ? `t${n}` : n));
        return [name, nullable && name !== entity.revisions?.flag ? fc.option(values, { freq: 4 }) : values];
      }),
    ),
  );

const compare = (a: string | number | null = null, b: string | number | null = null): number =>
  a === b ? 0 : a === null ? 1 : b === null ? -1 : a < b ? -1 : 1;

const by =
  (names: readonly string[]) =>
  (a: Row, b: Row): number =>
    names.reduce((order, name) => order || compare(a[name], b[name]), 0);

const keyOf = (row: Row, names: readonly string[]): string => JSON.stringify(names.map((name) => row[name]));

function groups(rows: readonly Row[], names: readonly string[]): readonly (readonly Row[])[] {
  const found = new Map<string, Row[]>();
  for (const row of rows) found.set(keyOf(row, names), [...(found.get(keyOf(row, names)) ?? []), row]);
  return [...found.values()];
}

/** A missing date of an announcement is that of the next column. */
function dated(entity: Entity, row: Row): Row {
  const dates = entity.revisions?.date ?? [];
  return { ...row, ...Object.fromEntries(dates.map((name, i) => [name, firstOf(row, dates.slice(i)) || null])) };
}

const firstOf = (row: Row, names: readonly string[]): string =>
  String(names.map((name) => row[name]).find((value) => value !== null) ?? "");

/** The rules of the catalog, in plain words. */
function model(
  entity: Entity,
  all: readonly Row[],
  { asOf, latest, start, end, filters }: EntityRequest,
): readonly Row[] {
  const { pointInTime: rule, revisions, mainDate, identity } = entity;
  const date = mainDate!;
  const inRange = (row: Row): boolean =>
    (start === null && end === null) ||
    (row[date] !== null && (start ?? "0") <= String(row[date]) && String(row[date]) <= (end ?? "9"));
  let rows = asOf === null && latest ? all.filter(inRange) : all;
  if (asOf !== null && rule?.rule === "announced") {
    const { columns, periodEnd } = rule;
    rows = rows.filter((row) => {
      const known = firstOf(row, columns);
      return known !== "" && known <= asOf && (periodEnd === undefined || String(row[periodEnd]) <= asOf);
    });
  }
  if (rule?.rule === "snapshot" && start === null && end === null) {
    const last = rows.map((row) => String(row[date])).filter((one) => asOf === null || one <= asOf);
    rows = rows.filter((row) => row[date] === last.sort().at(-1));
  }
  const flag = revisions?.flag;
  if (asOf !== null && flag !== undefined) {
    const others = identity.filter((name) => name !== flag);
    const first = new Map<string, Row>();
    for (const row of rows.toSorted(by([flag]))) {
      const key = keyOf(dated(entity, row), others);
      if (!first.has(key)) first.set(key, row);
    }
    rows = [...first.values()];
  }
  if (revisions && (latest || (asOf !== null && flag !== undefined))) {
    const ties = identity.filter((name) => !revisions.of.includes(name) && name !== flag);
    const isOlder = (a: Row, b: Row): number =>
      compare(firstOf(a, revisions.date), firstOf(b, revisions.date)) ||
      by([...ties, ...(flag ? [flag] : [])])(dated(entity, a), dated(entity, b));
    const newest = new Set(groups(rows, revisions.of).map((same) => same.toSorted(isOlder).at(-1)!));
    if (asOf !== null && flag !== undefined) {
      rows = rows.map((row) => {
        const shown = { ...row, [flag]: newest.has(row) ? "1" : "0" };
        if (newest.has(row)) newest.add(shown);
        return shown;
      });
    }
    if (latest) rows = rows.filter((row) => newest.has(row));
  }
  if (asOf !== null) {
    rows = rows.map((row) => ({
      ...row,
      ...Object.fromEntries(
        (rule?.hides ?? [])
          .filter(({ knownFrom }) => row[knownFrom] !== null && String(row[knownFrom]) > asOf)
          .map(({ column, before }) => [column, before]),
      ),
    }));
  }
  return rows
    .filter(inRange)
    .filter((row) => filters.every(({ column, values }) => values.includes(row[column.name]!)))
    .toSorted(by(entity.order));
}

/** Writes rows as files of the lake, two dates to a file. */
async function write(entity: Entity, rows: readonly Row[]): Promise<FileList> {
  const date = entity.mainDate!;
  const files: DataFile[] = [];
  for (const dates of [DAYS.slice(0, 2), DAYS.slice(2, 4), DAYS.slice(4), [null]]) {
    const own = rows.filter((row) => (dates as unknown[]).includes(row[date])).toSorted(by(entity.order));
    if (own.length === 0) continue;
    const [first, last] = [own[0]![date] as string | null, own.at(-1)![date] as string | null];
    const path = join(folder, `${entity.name}-${files.length}.parquet`);
    const columns = entity.columns.map(({ name, type }) => {
      const value = `j->>'$.${name}'`;
      return `${type === "date" ? `strptime(${value}, '%Y%m%d')::DATE` : `(${value})::${SQL_TYPES[type]}`} AS "${name}"`;
    });
    await duckdb.connection.run(
      `COPY (SELECT ${columns.join(", ")} FROM (SELECT unnest(from_json($1, '["JSON"]')) AS j)) TO '${path}'`,
      [JSON.stringify(own)],
    );
    files.push({
      ...{ path, sha256: "", bytes: 1, rows: own.length, first, last },
      ...{ firstCode: "000001.SZ", lastCode: "600519.SH" },
    });
  }
  return fileList(entity.name, files, [], []);
}

/** The rows of a request, page by page if it has a limit. */
async function read(request: EntityRequest, list: FileList): Promise<readonly (readonly unknown[])[]> {
  const rows: unknown[][] = [];
  for (const scan of planRead(request, list, null).scans) {
    const { sql, values } = render(scan, ({ path }) => path);
    const reader = await duckdb.connection.runAndReadAll(sql, values.map(toDuck));
    rows.push(...reader.getRows().map((row) => row.map(fromDuck)));
  }
  return rows;
}

describe.each(TESTED)("$name", (entity) => {
  test("shows what was known on a day, and the newest of it, as the catalog says", async () => {
    const sampled = fc.sample(rowOf(entity), { numRuns: 60, seed: 42 });
    const rows = groups(sampled, entity.identity).map(([row]) => row!);
    const list = await write(entity, rows);
    const isSnapshot = entity.pointInTime?.rule === "snapshot";
    const hides = (entity.pointInTime?.hides ?? []).map(({ column }) => column);
    const shown = entity.columns.filter(({ name }, i) => i < 6 || [...entity.identity, ...hides].includes(name));
    const text = entity.columns.find(({ type, name }) => type === "text" && name !== entity.revisions?.flag);
    const question = fc.record({
      as_of: entity.pointInTime === null ? fc.constant(null) : fc.option(day),
      latest: entity.revisions === null ? fc.constant(null) : fc.option(fc.constant("true")),
      start_date: fc.option(day, { freq: 1, nil: null }),
      end_date: fc.option(day, { freq: 1, nil: null }),
      order: fc.constantFrom("asc", "desc"),
      [entity.code]: fc.option(fc.constantFrom("000001.SZ", "600519.SH")),
      ...(entity.revisions?.flag ? { [entity.revisions.flag]: fc.option(fc.constantFrom("0", "1")) } : {}),
      ...(text && !text.only ? { [text.name]: fc.option(fc.constantFrom("t1", "000001.SZ")) } : {}),
    });
    await fc.assert(
      fc.asyncProperty(question, async (given) => {
        const asked = Object.entries(given).flatMap(([name, value]): [string, string][] =>
          value === null || value === undefined ? [] : [[name, value]],
        );
        const { start_date: start = null, end_date: end = null, as_of: asOf } = given;
        fc.pre(start === null || end === null || start <= end);
        fc.pre(!isSnapshot || asOf === null || (start === null && end === null));
        const limits = { defaultLimit: null, maxLimit: null };
        const fields: [string, string] = ["fields", shown.map(({ name }) => name).join()];
        const request = parseRequest(entity, new URLSearchParams([fields, ...asked]), limits);
        const expected = model(entity, rows, request).map((row) =>
          shown.map(({ name, type }) => {
            const value = row[name]!;
            return type === "date" && value !== null ? String(value).replace(/(....)(..)(..)/, "$1-$2-$3") : value;
          }),
        );
        const found = await read(request, list);
        expect(found).toEqual(request.order === "desc" ? expected.toReversed() : expected);
      }),
      { numRuns: size("POINTS", 40, 200) },
    );
  }, 60_000);
});
