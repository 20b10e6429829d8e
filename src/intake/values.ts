// Converts values of a file to values of the lake, as SQL for each column type and each kind of source. If an expression
// turns a value into null, the value is invalid.
import { codeOf, trimmed, type CodeValueRules } from "./code-values.js";
import type { ColumnType } from "../catalog/types.js";
import type { SourceKind } from "./source-types.js";

const AROUND = "[\\s\\x{a0}\\x{3000}\\x{feff}]*";

/** Words for "no value" that are not plausible as text. MySQL, Hive and ClickHouse write `\N`. */
const NULL_TEXT = "nan|NaN|NAN|None|null|NULL|NaT|<NA>|\\\\N";

/** Words for "no value" in upper or lower case, for columns without free text. */
const NULL_WORD = "nan|none|null|n/a|#n/a|na|nat|<na>|--?|\\\\n";

/** How data frames write numbers that are not finite. */
const NOT_FINITE = "[+-]?inf(inity)?";

const NO_VALUE: Readonly<Record<ColumnType, string>> = {
  text: `${AROUND}(${NULL_TEXT})?${AROUND}`,
  code: `(?i)${AROUND}(${NULL_WORD})?${AROUND}`,
  date: `(?i)${AROUND}(${NULL_WORD})?${AROUND}`,
  int64: `(?i)${AROUND}(${NULL_WORD}|${NOT_FINITE})?${AROUND}`,
  float64: `(?i)${AROUND}(${NULL_WORD}|${NOT_FINITE})?${AROUND}`,
};

/**
 * Whether `sql` holds no value for a column of this type. Uses a pattern instead of `IN (…)`: DuckDB turns a long list into
 * a join, which changes the order of the rows.
 */
export function isMissing(type: ColumnType, kind: SourceKind, sql: string): string {
  if (kind === "text") return `(${sql} IS NULL OR regexp_full_match(${sql}, '${NO_VALUE[type]}'))`;
  if (kind === "float32" || kind === "float64") return `(${sql} IS NULL OR NOT isfinite(${sql}))`;
  return `(${sql} IS NULL)`;
}

/** SQL conditions for values that are not finite numbers. */
export interface NotFinite {
  readonly nan: string;
  readonly infinite: string;
}

/** The conditions for a kind of source; null if its numbers are always finite. */
export function notFinite(kind: SourceKind, sql: string): NotFinite | null {
  const matches = (words: string): string => `regexp_full_match(${sql}, '(?i)${AROUND}${words}${AROUND}')`;
  if (kind === "text") return { nan: matches("nan"), infinite: matches(NOT_FINITE) };
  if (kind === "float32" || kind === "float64") return { nan: `isnan(${sql})`, infinite: `isinf(${sql})` };
  return null;
}

/** Rules that depend on the file and the entity. */
export interface ValueRules extends CodeValueRules {
  /** Integers above 10,000,000,000 in a date column are milliseconds since 1970, as data frames write them to JSON. */
  readonly epochDates: boolean;
}

type Expression = (sql: string, rules: ValueRules) => string;

/** No market has earlier dates than 1800, and years have at most four digits. */
const YEAR = "(1[89]|[2-9]\\d)\\d\\d";
const DAY = `${YEAR}(-\\d{1,2}-|/\\d{1,2}/)\\d{1,2}`;
const TIME = "[ T]+(\\d{1,2}:\\d{2})(:\\d{2}([.,]\\d+)?)?";
/** The offset of China, with which a day is what is written, also in years in which China moved its clocks. */
const CHINA = "\\+08(:?00)?";
const ZONE = "(Z|UTC|[+-]\\d{2}(:?\\d{2})?)";

const date: Expression = (sql, rules) => {
  const text = trimmed(sql);
  const day = `regexp_extract(translate(${text}, '/年月日', '---'), '^\\d{4}-\\d{1,2}-\\d{1,2}')`;
  // See dayOf.
  const isNoNumber = `NOT regexp_matches(${text}, '^1970.*[ T].*[1-9]')`;
  const branches = [
    `WHEN regexp_full_match(${text}, '${YEAR}\\d{4}(\\.0+)?') THEN try_strptime(left(${text}, 8), '%Y%m%d')::DATE`,
    `WHEN regexp_full_match(${text}, '${DAY}|${YEAR}年\\d{1,2}月\\d{1,2}日') THEN TRY_CAST(${day} AS DATE)`,
    `WHEN regexp_full_match(${text}, '${DAY}${TIME}(\\s*${CHINA})?') AND ${isNoNumber} THEN TRY_CAST(${day} AS DATE)`,
    `WHEN regexp_full_match(${text}, '${DAY}${TIME}\\s*${ZONE}') AND ${isNoNumber} ` +
      `THEN ${plausible(`${inChina(momentOf(text))}::DATE`)}`,
    ...(rules.epochDates
      ? [`WHEN regexp_full_match(${text}, '-?\\d{11,14}(\\.0)?') THEN ${plausible(epochDay(text))}`]
      : []),
  ];
  return `CASE ${branches.join(" ")} END`;
};

/** A text with a time and a zone as a timestamp. DuckDB requires seconds, a decimal point, and no blank before the zone. */
function momentOf(text: string): string {
  const plain = `regexp_replace(regexp_replace(translate(${text}, '/,', '-.'), 'UTC$', 'Z'), '\\s+(Z|[+-]\\d{2}(:?\\d{2})?)$', '\\1')`;
  return `TRY_CAST(regexp_replace(${plain}, '([ T]\\d{1,2}:\\d{2})(Z|[+-])', '\\1:00\\2') AS TIMESTAMPTZ)`;
}

const DAY_MS = 86_400_000;

/** The date of milliseconds since 1970; null unless they are midnight, since their day depends on an unknown time zone. */
function epochDay(text: string): string {
  const ms = `TRY_CAST(TRY_CAST(${text} AS DOUBLE) AS BIGINT)`;
  return `CASE WHEN ${ms} % ${DAY_MS} = 0 THEN DATE '1970-01-01' + CAST(${ms} // ${DAY_MS} AS INTEGER) END`;
}

/** Limits dates as YEAR does. */
const plausible = (day: string): string =>
  `CASE WHEN ${day} BETWEEN DATE '1800-01-01' AND DATE '9999-12-31' THEN ${day} END`;

/** The date of a timestamp, except for times within 1970-01-01: these are numbers such as 20240102 misread as nanoseconds. */
const dayOf: Expression = (sql) =>
  plausible(
    `CASE WHEN isfinite(${sql}) AND NOT (year(${sql}) = 1970 AND ${sql}::TIMESTAMP <> date_trunc('day', ${sql}::TIMESTAMP)) ` +
      `THEN ${sql}::DATE END`,
  );

/** A timestamp with a zone is stored in UTC, but its date is meant in China's time. */
export const inChina = (sql: string): string => `(${sql} AT TIME ZONE 'Asia/Shanghai')`;

const finite = (sql: string): string => `CASE WHEN isfinite(${sql}) THEN ${sql} END`;

/** Excludes 1_000, which DuckDB reads as a number. */
const number: Expression = (sql) =>
  `CASE WHEN isfinite(TRY_CAST(${sql} AS DOUBLE)) AND NOT contains(${sql}, '_') THEN TRY_CAST(${sql} AS DOUBLE) END`;

const isInteger = (sql: string): string => `isfinite(${sql}) AND ${sql} = trunc(${sql}) AND abs(${sql}) < 1e15`;

/** Writes a float that holds an integer without `.0`. Data frames turn columns of integers and nulls into floats. */
const integerText = (sql: string): string =>
  `CASE WHEN ${isInteger(sql)} THEN ${sql}::BIGINT::VARCHAR WHEN isfinite(${sql}) THEN ${sql}::VARCHAR END`;

/** Lines within a text end alike in every format: a text is often a part of the identity. */
const withPlainLines = (sql: string): string =>
  `CASE WHEN contains(${sql}, chr(13)) THEN regexp_replace(${sql}, '\\r\\n?', chr(10), 'g') ELSE ${sql} END`;

const text: Expression = (sql) =>
  `CASE WHEN NOT ${isMissing("text", "text", sql)} THEN ${withPlainLines(trimmed(sql))} END`;

const asText = (sql: string): string => `${sql}::VARCHAR`;

/** The expression for each column type and each kind of source; null if such a source column is refused. */
const EXPRESSIONS: Readonly<Record<ColumnType, Readonly<Record<SourceKind, Expression | null>>>> = {
  text: {
    text,
    integer: asText,
    float32: integerText,
    float64: integerText,
    decimal: asText,
    "wide decimal": null,
    boolean: asText,
    date: asText,
    timestamp: (sql) => `${sql}::TIMESTAMP::VARCHAR`,
    timestamptz: (sql) => `${inChina(sql)}::VARCHAR`,
    time: asText,
    other: null,
  },
  code: {
    text: codeOf,
    integer: (sql, rules) => codeOf(asText(sql), rules),
    float32: (sql, rules) => codeOf(integerText(sql), rules),
    float64: (sql, rules) => codeOf(integerText(sql), rules),
    decimal: null,
    "wide decimal": null,
    boolean: null,
    date: null,
    timestamp: null,
    timestamptz: null,
    time: null,
    other: null,
  },
  date: {
    text: date,
    integer: (sql, rules) => date(asText(sql), rules),
    float32: null,
    float64: (sql, rules) => date(integerText(sql), rules),
    decimal: (sql, rules) => date(asText(sql), rules),
    "wide decimal": null,
    boolean: null,
    date: (sql) => plausible(sql),
    timestamp: dayOf,
    timestamptz: (sql, rules) => dayOf(inChina(sql), rules),
    time: null,
    other: null,
  },
  float64: {
    text: number,
    integer: (sql) => `${sql}::DOUBLE`,
    // The shortest decimal of the float: 11.51, as it was meant, not 11.510000228881836.
    float32: (sql) => `CASE WHEN isfinite(${sql}) THEN ${sql}::VARCHAR::DOUBLE END`,
    float64: finite,
    // By its digits: the nearest double. DuckDB divides, which loses a digit of some.
    decimal: (sql) => `${sql}::VARCHAR::DOUBLE`,
    "wide decimal": null,
    boolean: null,
    date: null,
    timestamp: null,
    timestamptz: null,
    time: null,
    other: null,
  },
  int64: {
    text: (sql) =>
      `CASE WHEN regexp_full_match(${trimmed(sql)}, '[+-]?\\d+(\\.0*)?') ` +
      `THEN TRY_CAST(regexp_extract(${trimmed(sql)}, '^[+-]?\\d+') AS BIGINT) ` +
      `ELSE CASE lower(${trimmed(sql)}) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END END`,
    integer: (sql) => `TRY_CAST(${sql} AS BIGINT)`,
    float32: (sql) => `CASE WHEN ${isInteger(sql)} THEN ${sql}::BIGINT END`,
    float64: (sql) => `CASE WHEN ${isInteger(sql)} THEN ${sql}::BIGINT END`,
    decimal: (sql) => `CASE WHEN ${sql} = trunc(${sql}) THEN TRY_CAST(${sql} AS BIGINT) END`,
    "wide decimal": null,
    boolean: (sql) => `${sql}::BIGINT`,
    date: null,
    timestamp: null,
    timestamptz: null,
    time: null,
    other: null,
  },
};

/** The SQL that converts a source column to a column of the lake; null if such a source cannot fill it. */
export function valueOf(type: ColumnType, kind: SourceKind, sql: string, rules: ValueRules): string | null {
  return EXPRESSIONS[type][kind]?.(sql, rules) ?? null;
}
