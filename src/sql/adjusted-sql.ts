// Adjusted prices as SQL, computed in the order in which the engine multiplies them, so that they are the same numbers.
import type { EntityRequest } from "../query/request.js";
import { adjustedColumns } from "../query/request.js";
import { quoteName } from "../sql-text.js";

/**
 * The rows of a request with adjusted prices. `rows` is the SQL of its rows: of bars of weeks and months those that are
 * adjusted backward already. `tableSql` gives all rows of an entity.
 */
export function adjustedSql(request: EntityRequest, rows: string, tableSql: (entity: string) => string): string {
  const adjusted = adjustedColumns(request);
  const { entity, adjust, columns } = request;
  const { adjustment } = entity;
  if (adjusted.length === 0 || !adjustment || (adjustment.days && adjust === "backward")) return rows;
  const [code, date, factor] = [entity.code, entity.mainDate!, adjustment.factor].map(quoteName) as [
    string,
    string,
    string,
  ];
  const [factorScale, lastScale] = adjustment.days ? ["1", "1 / __last"] : ["__factor", "__factor / __last"];
  const scale = adjust === "forward" ? lastScale : factorScale;
  const replaced = adjusted.map(({ index, divided }) => {
    const name = quoteName(columns[index]!.name);
    const value = `${name} ${divided ? "/" : "*"} __scale`;
    return `CASE WHEN isfinite(${value}) THEN ${value} END AS ${name}`;
  });
  return (
    `WITH __rows AS (${rows}), ` +
    `__factors AS (SELECT ${code} AS __code, ${date} AS __date, ${factor} AS __factor FROM (${tableSql(adjustment.factors)}) WHERE ${factor} > 0), ` +
    `__ends AS (SELECT ${code} AS __code, max(${date}) AS __end FROM __rows GROUP BY 1), ` +
    "__lasts AS (SELECT __code, arg_max(__factor, __date) AS __last FROM __factors JOIN __ends USING (__code) WHERE __date <= __end GROUP BY 1), " +
    `__scaled AS (SELECT __rows.*, ${scale} AS __scale FROM __rows ` +
    `LEFT JOIN __factors ON __factors.__code = __rows.${code} AND __factors.__date = __rows.${date} ` +
    `LEFT JOIN __lasts ON __lasts.__code = __rows.${code}) ` +
    `SELECT * EXCLUDE (__scale) REPLACE (${replaced.join(", ")}) FROM __scaled`
  );
}
