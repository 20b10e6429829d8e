// Makes a plan of a panel: a scan for each span of days, short enough to be joined and sorted in little memory.
import { columnNamed, entityNamed } from "../catalog/index.js";
import { formatDays, toDays } from "../dates.js";
import type { DataFile, FileList } from "../lake/manifest.js";
import { afterTests, announcedTests, numberingOf, requestedDates, shown } from "./conditions.js";
import type { Position } from "./cursor.js";
import { chooseFiles, dateGroup, mostRows, rowsIn } from "./files.js";
import { fieldColumn, nameOf, type PanelField, type PanelRequest } from "./panel.js";
import { columnsOf, keysOf, partsOf, type Plan } from "./plan.js";
import { codeFilter, type EntityRequest } from "./request.js";
import { costOf, type Panel, type Member, type Newest, scanOf, type Scan } from "./scan.js";

type ListsOf = (entity: string) => FileList;

/** The days of one scan, `YYYYMMDD`, inclusive. */
interface Span {
  readonly start: string;
  readonly end: string;
}

/** `listsOf` holds the files of each entity in the version that is read; `after` is the end of the previous page. */
export function planPanel(request: PanelRequest, listsOf: ListsOf, after: Position | null): Plan {
  const { entity, columns, layout, order, limit } = request;
  // A plan that only looks for the end of a page needs no fields, unless each of them has a row.
  const fields = columns.length === 0 && layout === "wide" ? [] : request.fields;
  const position = limit === null ? null : keysOf(entity);
  const scans = spansOf(request, listsOf(entity.name), after).flatMap((span): readonly Scan[] => {
    const [first, ...others] = membersOf(request, fields, listsOf, span);
    if (first === undefined || first.parts.length === 0) return [];
    const derived: Panel = { how: "panel", layout, members: [first, ...others], fields: fields.map(fieldColumn) };
    const files = new Set(derived.members.flatMap(({ parts }) => parts.flatMap((part) => part.files)));
    const codes = codeFilter(request)?.values ?? null;
    const most = first.parts.map((part) => mostRows(dateGroup(part.files), entity, [span.start, span.end], codes));
    const rows = most.reduce((sum, one) => sum + one, 0);
    const select = { what: "rows", columns: columns.map((column) => ({ column })), position } as const;
    return [
      scanOf([...files], select, {
        derived,
        tests: afterTests(request, after),
        order: { columns: keysOf(entity), descending: order === "desc" },
        bounds: { atMost: rows * (layout === "long" ? fields.length : 1), exact: false },
      }),
    ];
  });
  // A page seldom needs more than the first scan.
  const needed = limit === null ? scans : scans.slice(0, 1);
  const read = needed.reduce((sum, scan) => sum + rowsToRead(scan), 0);
  return { ...columnsOf(request, position), scans, cost: costOf(read) };
}

/** About how many rows are read: those of each day, and all that the files of reports have. */
function rowsToRead({ derived, bounds }: Scan): number {
  const members = derived?.how === "panel" ? derived.members : [];
  return members.reduce(
    (sum, { newest, parts }) =>
      sum + (newest === null ? bounds.atMost : parts.reduce((rows, part) => rows + rowsIn(part.files), 0)),
    0,
  );
}

/** The entities of the fields in their order. The first one belongs to the panel even if no field of it is needed. */
function membersOf(
  request: PanelRequest,
  fields: readonly PanelField[],
  listsOf: ListsOf,
  span: Span,
): readonly Member[] {
  const names = new Set([request.entity.name, ...fields.map((field) => field.entity)]);
  return [...names].map((name): Member => {
    const entity = entityNamed(name)!;
    const own = fields.filter((field) => field.entity === name);
    const known: EntityRequest = { ...request, entity, asOf: span.end, start: null, end: null };
    const { panel } = entity;
    const isNewest = panel?.by === "newest";
    const dates = isNewest ? requestedDates(known) : span;
    const only = isNewest && panel.only !== null ? [panel.only] : [];
    const tests = [
      ...(isNewest ? announcedTests(known) : []),
      ...only.map((one) => {
        const column = columnNamed(entity, one.column)!;
        return { is: "in", value: { column }, values: [one.value] } as const;
      }),
    ];
    return {
      code: entity.code,
      date: entity.mainDate!,
      parts: partsOf(entity, listsOf(name), dates, request).map((part) => ({
        ...part,
        tests: [...part.tests, ...tests],
      })),
      fields: own.map((field) => ({
        value: shown(isNewest ? known : request, columnNamed(entity, field.column)!),
        name: nameOf(field),
      })),
      newest: isNewest ? newestOf(known, span.start) : null,
    };
  });
}

/** How the newest row of a code is found among those that a request as of a day knows. */
function newestOf(known: EntityRequest, from: string): Newest {
  const { pointInTime, revisions, code } = known.entity;
  if (pointInTime?.rule !== "announced" || pointInTime.periodEnd === undefined || revisions === null) {
    throw new Error(`${known.entity.name} has no periods`);
  }
  const { columns, periodEnd } = pointInTime;
  const { date, others, flag } = numberingOf({ ...known, latest: true })!;
  // Of several kinds of a report, the one that was announced last.
  const kinds = revisions.of.filter((name) => name !== code && name !== periodEnd);
  return { known: columns, period: periodEnd, revisions: { date, others: [...others, ...kinds], flag }, from };
}

/** Rows of one scan: about as many as two row groups have, which are joined and sorted in memory. */
const ROWS_PER_SCAN = 250_000;

/** The days of the requested range that are left, cut into spans. Those of a page become longer from the first one on. */
function spansOf(request: PanelRequest, list: FileList, after: Position | null): readonly Span[] {
  const { order, limit, start, end } = request;
  const reached = after?.date ?? null;
  const starts = [start, order === "asc" ? reached : null, list.first].filter((date) => date !== null);
  const ends = [end, order === "asc" ? null : reached, list.last].filter((date) => date !== null);
  const [first, last] = [starts.sort().at(-1), ends.sort()[0]];
  if (first === undefined || last === undefined || first > last) return [];
  const codes = codeFilter(request)?.values ?? null;
  const rowsADay = mostOnADay(chooseFiles(list, { start: first, end: last }, null).flatMap(({ files }) => files));
  const each =
    Math.max(1, Math.min(rowsADay, codes?.length ?? Infinity)) *
    (request.layout === "long" ? request.fields.length : 1);
  const most = Math.max(1, Math.floor((ROWS_PER_SCAN / each) * CALENDAR_DAYS));
  return cut({ start: first, end: last }, order, limit === null ? most : Math.ceil((limit + 1) / each), most);
}

/** Calendar days for each trading day. */
const CALENDAR_DAYS = 7 / 5;

function cut({ start, end }: Span, order: "asc" | "desc", first: number, most: number): readonly Span[] {
  const [from, to] = [toDays(start), toDays(end)];
  const spans: Span[] = [];
  for (let done = 0, days = Math.min(first, most); from + done <= to; days = Math.min(days * 2, most)) {
    const length = Math.min(days, to - from + 1 - done);
    const begin = order === "asc" ? from + done : to - done - length + 1;
    spans.push({ start: formatDays(begin), end: formatDays(begin + length - 1) });
    done += length;
  }
  return spans;
}

/** The most rows that a day has, where the files tell; otherwise about as many as it has on average. */
const mostOnADay = (files: readonly DataFile[]): number =>
  files.reduce((greatest, { mostOnADay: most, rows, first, last }) => {
    const days = first === null || last === null ? 1 : (toDays(last) - toDays(first) + 1) / CALENDAR_DAYS;
    return Math.max(greatest, most ?? Math.ceil(rows / days));
  }, 1);
