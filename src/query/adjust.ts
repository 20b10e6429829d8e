// Adjusted prices: which factors a request needs, read in the order of its rows, and the last factor of each code.
import { columnNamed, entityNamed } from "../catalog/index.js";
import type { Adjustment, Column, Entity } from "../catalog/types.js";
import type { FileList } from "../lake/manifest.js";
import { quoteName } from "../sql-text.js";
import { choosePieces, type Piece } from "./choose.js";
import type { Position } from "./cursor.js";
import { planRead, spanOf, windowOf, type Plan } from "./plan.js";
import { codeFilter, type EntityRequest } from "./request.js";
import { betweenSql, Bindings, filterSql } from "./sql.js";
import type { Read, ReadStep } from "./statement.js";

interface Factors {
  readonly entity: Entity;
  readonly date: Column;
  readonly code: Column;
  readonly factor: Column;
}

function factorsOf({ factors, factor }: Adjustment): Factors {
  const entity = entityNamed(factors)!;
  const [date, code, value] = [entity.mainDate!, entity.code, factor].map((name) => columnNamed(entity, name)!);
  return { entity, date: date!, code: code!, factor: value! };
}

/**
 * The factors of every row that the request may give, and of others: date, code and factor as the first columns, in the
 * order of the rows. `list` is that of the factors; `after` is where the page before ended.
 */
export function planFactors(request: EntityRequest, list: FileList, after: Position | null): Plan {
  const { entity, date, code, factor } = factorsOf(request.entity.adjustment!);
  const { order, start, end } = request;
  const from = after?.date ?? null;
  const bounds = order === "asc" ? { start: from ?? start, end } : { start, end: from ?? end };
  return planRead({ ...request, ...bounds, entity, columns: [date, code, factor], adjust: null }, list, null);
}

/**
 * The last factor of each code up to the request's `end_date`, the last one of all where it has none: code, its date,
 * factor. A code may come several times. What lies before the first row asked for is left out: no row can need it.
 */
export function lastFactorsRead(request: EntityRequest, list: FileList): Read {
  const factors = factorsOf(request.entity.adjustment!);
  const window = { start: windowOf(request).start, end: request.end };
  const codes = codeFilter(request);
  const pieces = choosePieces(list, window, codes?.values ?? null);
  const byDate = pieces.filter(({ clustering }) => clustering === "byDate").flatMap(({ files }) => files);
  const joined: Piece[] = byDate.length === 0 ? [] : [{ clustering: "byDate", files: byDate, span: null }];
  const steps = [...joined, ...pieces.filter(({ clustering }) => clustering === "byCode")].map((piece): ReadStep => {
    const bindings = new Bindings();
    const source = `read_parquet(${bindings.add(piece.files.map((file) => file.path))})`;
    const [date, code, factor] = [factors.date, factors.code, factors.factor].map(({ name }) => quoteName(name));
    const tests = [
      `${factor} > 0`,
      ...betweenSql(factors.date.name, ...spanOf(piece, window), bindings),
      ...(codes ? [filterSql(request, codes, bindings)] : []),
    ];
    const sql =
      `SELECT ${code}, max(${date}), arg_max(${factor}, ${date}) FROM ${source}` +
      ` WHERE ${tests.join(" AND ")} GROUP BY ${code}`;
    return { sql, values: bindings.values, files: piece.files };
  });
  return { columns: [factors.code, factors.date, factors.factor], steps };
}
