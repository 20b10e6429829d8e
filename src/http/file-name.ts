// What tells the file of one request from those of others of the same entity, briefly.
import { createHash } from "node:crypto";
import type { Column } from "../catalog/types.js";
import { AS_OF, isSchedule } from "../query/as-of.js";
import { fingerprint } from "../query/cursor.js";
import { codeFilter, type EntityRequest } from "../query/request.js";

/**
 * The requested code, if it is one, the requested days, and what changes the rows. Other filters, columns and pages are too
 * long for a name; a few digits distinguish them.
 */
export function fileParts(asked: EntityRequest): readonly string[] {
  const { start, end, adjust, adjustVolume, latest, order } = asked;
  const codes = codeFilter(asked)?.values ?? [];
  const code = codes.length === 1 && codes[0] !== null ? [String(codes[0])] : [];
  return [
    ...code,
    ...(start === null && end === null ? [] : [`${start ?? ""}-${end ?? ""}`]),
    ...(adjust === null ? [] : [adjustVolume === null ? adjust : `${adjust}-volume`]),
    ...asOfParts(asked),
    ...(latest === null ? [] : ["latest"]),
    ...(order === "desc" ? ["desc"] : []),
    ...(hasMore(asked, code.length) ? [digestOf(asked)] : []),
  ];
}

function asOfParts({ asOf, asOfDays }: EntityRequest): readonly string[] {
  if (asOf !== null) return [`as-of-${asOf}`];
  if (asOfDays === null) return [];
  if (isSchedule(asOfDays)) return [`as-of-${asOfDays.rule}-${asOfDays.start}-${asOfDays.end}`];
  return [`as-of-${asOfDays.length}-days-${asOfDays[0]}-${asOfDays.at(-1)}`];
}

const hasMore = ({ filters, columns, entity, limit, cursor, asOfDays }: EntityRequest, named: number): boolean =>
  filters.length > named ||
  namesOf(columns.filter((column) => column !== AS_OF)) !== namesOf(entity.columns) ||
  limit !== null ||
  cursor !== null ||
  (asOfDays !== null && !isSchedule(asOfDays) && asOfDays.length > 2);

const namesOf = (columns: readonly Column[]): string => columns.map(({ name }) => name).join();

const digestOf = (asked: EntityRequest): string =>
  createHash("sha256")
    .update(JSON.stringify([fingerprint(asked), asked.limit, asked.cursor]))
    .digest("hex")
    .slice(0, 8);
