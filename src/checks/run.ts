// Runs the checks of an entity over rows: counts the faults of each check, by day and by file, with a few examples.
import { checksOf } from "../catalog/checks.js";
import {
  TOLERANCE,
  type Check,
  type Counterpart,
  type DayCheck,
  type RowCheck,
  type GroupCheck,
} from "../catalog/check-types.js";
import type { Entity } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import type { Scalar } from "../engine/statements.js";
import { EXAMPLES, joinDays, type Example, type Finding } from "../lake/findings.js";
import { quoteName, quoteText } from "../sql-text.js";
import { daysOf, onDaysOf, sourceOf, type Subject } from "./sources.js";

/** Instead of the number of a file: faults of whole days, and those of rows that were stored before. */
const NO_FILE = -1;
export const STORED = -2;

/** The findings of all rows, those of rows that were not stored before, and those of each file by its number. */
export interface Judgement {
  readonly findings: readonly Finding[];
  readonly ofFresh: readonly Finding[];
  readonly byFile: ReadonlyMap<number, readonly Finding[]>;
}

type Row = Readonly<Record<string, Scalar>>;

/** One fault, or several of a day and file. */
interface Hit {
  readonly file: number;
  readonly date: string | null;
  readonly count: number;
}

interface Shown extends Example {
  readonly file: number;
}

interface Tally {
  readonly hits: Hit[];
  readonly examples: Shown[];
}

/** Checks the rows of a subject. */
export async function judge(
  writer: Writer,
  subject: Subject,
  checks: readonly Check[] = checksOf(subject.entity.name),
): Promise<Judgement> {
  const tallies = new Map<Check, Tally>();
  const ofRows = checks.filter((check) => check.of === "rows");
  for (const group of groupedBy(ofRows, ({ against, onlyCodes }) => `${against} ${onlyCodes}`).values()) {
    const { against, onlyCodes } = group[0]!;
    const some = onlyCodes === undefined ? subject : await withOnlyCodes(writer, subject, onlyCodes);
    if (some === null) continue;
    for (const [check, tally] of await judgeRows(writer, some, group, against)) tallies.set(check, tally);
  }
  if (subject.first !== null) {
    for (const check of checks.filter((one) => one.of === "groups")) {
      tallies.set(check, await judgeGroups(writer, subject, check));
    }
    const ofDays = checks.filter((check) => check.of === "days");
    for (const [check, tally] of await judgeDays(writer, subject, ofDays)) tallies.set(check, tally);
  }
  const found = [...tallies].filter(([, { hits }]) => hits.length > 0);
  const byFile = new Map<number, Finding[]>();
  for (const [check, { hits, examples }] of found) {
    const shown = groupedBy(examples, ({ file }) => file);
    for (const [file, own] of groupedBy(hits, ({ file }) => file)) {
      const finding = findingOf(check, own, shown.get(file) ?? []);
      byFile.set(file, [...(byFile.get(file) ?? []), finding]);
    }
  }
  const isFresh = ({ file }: { readonly file: number }): boolean => file !== STORED;
  return {
    findings: found.map(([check, { hits, examples }]) => findingOf(check, hits, examples)),
    ofFresh: found.flatMap(([check, { hits, examples }]) =>
      hits.some(isFresh) ? [findingOf(check, hits.filter(isFresh), examples.filter(isFresh))] : [],
    ),
    byFile,
  };
}

function groupedBy<T, K>(all: readonly T[], keyOf: (one: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const one of all) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return groups;
}

function findingOf({ id }: Check, hits: readonly Hit[], examples: readonly Shown[]): Finding {
  const days = new Map<string | null, number>();
  for (const { date, count } of hits) days.set(date, (days.get(date) ?? 0) + count);
  const latest = [...examples].sort((a, b) => ((a.date ?? "") < (b.date ?? "") ? 1 : a.date === b.date ? 0 : -1));
  return {
    check: id,
    count: hits.reduce((sum, { count }) => sum + count, 0),
    days: joinDays([...days].map(([date, count]) => [date, date, count] as const)),
    examples: latest.slice(0, EXAMPLES).map(({ code, date, values }) => ({ code, date, values })),
  };
}

/** The subject without codes that do not meet a condition; null if none does. */
async function withOnlyCodes(writer: Writer, subject: Subject, condition: string): Promise<Subject | null> {
  const { entity, rows, around } = subject;
  const code = quoteName(entity.code);
  const found = await writer.rows(`SELECT ${code} AS code FROM ${around} r GROUP BY 1 HAVING ${condition}`);
  if (found.length === 0) return null;
  const isOne = `${code} IN (${found.map((row) => quoteText(String(row["code"]))).join(", ")})`;
  const only = (relation: string): string => `(SELECT * FROM ${relation} WHERE ${isOne})`;
  return { ...subject, rows: only(rows), around: only(around) };
}

async function judgeRows(
  writer: Writer,
  subject: Subject,
  checks: readonly RowCheck[],
  against: Counterpart | undefined,
): Promise<readonly (readonly [Check, Tally])[]> {
  const source = sourceOf(subject, against);
  if (source === null) return [];
  await subject.ready();
  const counts = checks.map(({ fails }, i) => `count(*) FILTER (${fails}) AS c${i}`);
  const anyFails = checks.map(({ fails }) => `(${fails})`).join(" OR ");
  const rows = await writer.rows(
    `SELECT strftime(r.__date, '%Y%m%d') AS date, r.__file AS file, ${counts.join(", ")} FROM ${source} ` +
      `WHERE ${anyFails} GROUP BY ALL`,
  );
  const found: (readonly [Check, Tally])[] = [];
  for (const [i, check] of checks.entries()) {
    const hits = rows.map((row) => hitOf(row, Number(row[`c${i}`]))).filter(({ count }) => count > 0);
    if (hits.length > 0)
      found.push([check, { hits, examples: await examplesOf(writer, subject.entity, source, check) }]);
  }
  return found;
}

const hitOf = (row: Row, count: number): Hit => ({
  file: Number(row["file"] ?? NO_FILE),
  date: row["date"] as string | null,
  count,
});

async function examplesOf(
  writer: Writer,
  entity: Entity,
  source: string,
  { fails, shows, showsOther = [] }: RowCheck,
): Promise<Shown[]> {
  const labels = [...shows, ...showsOther.map((name) => (shows.includes(name) ? `${name} before` : name))];
  const values = [
    ...shows.map((name) => shownOf(entity, "r", name)),
    ...showsOther.map((name) => `o.${quoteName(name)}`),
  ];
  const rows = await writer.rows(
    `SELECT r.__file AS file, strftime(r.__date, '%Y%m%d') AS date, r.__code AS code` +
      `${values.map((value, i) => `, ${value} AS v${i}`).join("")} FROM ${source} WHERE ${fails} ` +
      `QUALIFY row_number() OVER (PARTITION BY r.__file ORDER BY r.__date DESC, r.__code) <= ${EXAMPLES} ` +
      `ORDER BY r.__date DESC, r.__code`,
  );
  return rows.map((row) => exampleOf(row, labels));
}

const shownOf = (entity: Entity, table: string, name: string): string =>
  entity.columns.some((column) => column.name === name) ? `${table}.${quoteName(name)}` : "NULL";

function exampleOf(row: Row, labels: readonly string[]): Shown {
  const values = labels.map((label, i) => [label, plain(row[`v${i}`] ?? null)] as const);
  return {
    file: Number(row["file"] ?? NO_FILE),
    code: row["code"] as string | null,
    date: row["date"] as string | null,
    values: Object.fromEntries(values),
  };
}

/** Dates as `YYYYMMDD`. */
const plain = (value: Scalar): string | number | null =>
  typeof value === "string"
    ? value.replace(/^(\d{4})-(\d\d)-(\d\d)$/, "$1$2$3")
    : value === null
      ? null
      : Number(value);

async function judgeGroups(
  writer: Writer,
  subject: Subject,
  { each, value, called, within }: GroupCheck,
): Promise<Tally> {
  const { entity, around } = subject;
  const [code, date] = [quoteName(entity.code), quoteName(entity.mainDate!)];
  const [name, by] = each === "day" ? ["NULL", date] : [code, `${date}, ${code}`];
  const rows = await writer.rows(
    `SELECT strftime(${date}, '%Y%m%d') AS date, ${name} AS code, round(${value}, 4) AS v0 FROM ${around} r ` +
      `WHERE ${onDaysOf(subject, date)} GROUP BY ${by} ` +
      `HAVING ${value} NOT BETWEEN ${within[0]} AND ${within[1]} ORDER BY ${date} DESC, code`,
  );
  return tallyOf(subject, rows, [called]);
}

/** Reads the days once for all checks. */
async function judgeDays(
  writer: Writer,
  subject: Subject,
  checks: readonly DayCheck[],
): Promise<readonly (readonly [Check, Tally])[]> {
  const { entity, around, mostOnADay } = subject;
  const { least, share, days } = TOLERANCE.fewRows;
  if (checks.length === 0 || mostOnADay < least) return [];
  const columns = entity.columns.filter(({ type }) => type === "float64").map(({ name }) => name);
  const lost = columns.map((name, i) => `CASE WHEN n${i} = 0 AND u${i} >= ${share} * usual THEN '${name}' END`);
  const rows = await writer.rows(
    `SELECT strftime(__date, '%Y%m%d') AS date, NULL AS code, rows, usual, lost, rows < ${share} * usual AS few FROM ` +
      `(SELECT *, concat_ws(' ', ${["NULL", ...lost].join(", ")}) AS lost FROM ${daysOf(entity, around, columns, days)}) ` +
      `WHERE usual >= ${least} AND (few OR lost <> '') AND ${onDaysOf(subject, "__date")} ORDER BY __date DESC`,
  );
  const few = rows.filter((row) => row["few"]).map((row) => ({ ...row, v0: row["rows"]!, v1: row["usual"]! }));
  const lacking = rows.filter((row) => row["lost"] !== "").map((row) => ({ ...row, v0: row["lost"]! }));
  const found: Readonly<Record<DayCheck["finds"], Tally>> = {
    "few-rows": tallyOf(subject, few, ["rows", "usual rows"]),
    "lost-column": tallyOf(subject, lacking, ["column"]),
  };
  return checks.map((check) => [check, found[check.finds]] as const);
}

/** One hit for each row, which is a day or a code on a day; a few examples for each file. */
function tallyOf({ fileOn = () => NO_FILE }: Subject, rows: readonly Row[], labels: readonly string[]): Tally {
  const placed = rows.map((row) => ({ ...row, file: fileOn(row["date"] as string | null) }));
  return {
    hits: placed.map((row) => hitOf(row, 1)),
    examples: [...groupedBy(placed, ({ file }) => file).values()].flatMap((own) =>
      own.slice(0, EXAMPLES).map((row) => exampleOf(row, labels)),
    ),
  };
}
