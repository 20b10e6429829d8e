// What a file says against the lake about days that are settled, such as open days of the calendar: a few corrections are
// taken with a warning, but a file that contradicts many days is of something else.
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { OperatorError } from "../errors.js";
import { rowsOfFile, type Staged } from "../intake/normalise.js";
import { fetchMissing } from "../lake/integrity.js";
import type { Layout } from "../lake/layout.js";
import type { FileList } from "../lake/manifest.js";
import { quoteName } from "../sql-text.js";
import { plural } from "../words.js";
import { scan } from "./datafile.js";

/** Rows that a file may contradict without being asked for. */
const MOST = 5;

/**
 * The staged file with a warning of rows that contradict the lake. Throws an OperatorError if there are many, unless they
 * are allowed.
 */
export async function withContradictions(
  writer: Writer,
  layout: Layout,
  entity: Entity,
  before: FileList,
  staged: Staged,
  options: { readonly label: string; readonly allow: boolean },
): Promise<Staged> {
  const { settled } = entity;
  if (settled === undefined || before.byDate.length === 0) return staged;
  await fetchMissing(layout, before.byDate);
  const same = entity.identity.map((name) => `n.${quoteName(name)} IS NOT DISTINCT FROM o.${quoteName(name)}`);
  const [row] = await writer.rows(
    `SELECT count(*) AS rows, min(concat_ws(' ', ${entity.identity.map((name) => `n.${quoteName(name)}::VARCHAR`).join(", ")})) AS sample ` +
      `FROM ${rowsOfFile(staged)} n JOIN ${scan(layout, before.byDate)} o ON ${same.join(" AND ")} ` +
      `WHERE n.${quoteName(settled)} <> o.${quoteName(settled)}`,
  );
  const rows = Number(row!["rows"]);
  if (rows === 0) return staged;
  const what = `${plural(rows, "row")} with another ${settled} than the lake has, e.g. ${String(row!["sample"])}`;
  if (rows <= MOST || options.allow) return { ...staged, warnings: [...staged.warnings, what] };
  throw new OperatorError(
    `${options.label} contradicts the lake: it has ${what}. It may be of another exchange. ` +
      `If the lake is wrong, run tapehouse import ${entity.name} FILE --allow-contradictions`,
  );
}
