// The functions and operators that give the same on a cluster as in DuckDB, with how Spark writes them.
import { entryOf, nodesIn, quoted, refuse, textIn, wholeNumberOf, type Node } from "./tree.js";
import { backToInteger, exactly, name, toFloat, unify, value, type Type, type Value } from "./values.js";

/** `node` is the call, for what has to be a literal. */
type Scalar = (node: Node, args: readonly Value[]) => Value;

const need = (node: Node, { type, sql }: Value, ...types: readonly Type[]): string =>
  types.includes(type) ? sql : refuse(node, `${name(type)} in ${quoted(textIn(node, "function_name"))}`);

const arity =
  (...counts: readonly number[]) =>
  (scalar: Scalar): Scalar =>
  (node, args) =>
    counts.includes(args.length)
      ? scalar(node, args)
      : refuse(node, `${quoted(textIn(node, "function_name"))} with ${args.length} arguments`);
const one = arity(1);
const two = arity(2);

/** A function of DOUBLEs. */
const float = (write: (sql: string) => string) => one((node, [x]) => value("float64", write(toFloat(node, x!))));
/** A part of a date as a number. */
const part = (write: (date: string) => string) =>
  one((node, [date]) => backToInteger(write(need(node, date!, "date"))));
const predicate = (spark: string) =>
  two((node, [x, y]) => value("boolean", `${spark}(${need(node, x!, "text")}, ${need(node, y!, "text")})`));
/** The largest or smallest value that is not null. */
const extreme =
  (spark: string): Scalar =>
  (node, args) => {
    if (args.length < 2) return refuse(node, `${spark} with one argument`);
    const { type, sql } = unify(node, args);
    return value(type, `${spark}(${sql.join(", ")})`);
  };

const arithmetic =
  (operator: string): Scalar =>
  (node, args) => {
    const [x, y] = args as readonly [Value, Value];
    if (x.type === "int64" && y.type === "int64")
      return backToInteger(`${exactly(x.sql)} ${operator} ${exactly(y.sql)}`);
    const { type, sql } = unify(node, args);
    return type === "float64"
      ? value(type, `(${sql.join(` ${operator} `)})`)
      : refuse(node, `${name(type)} in ${operator}`, "convert it to DOUBLE or BIGINT with CAST");
  };

/** Days more or fewer. */
const shift = (date: Value, days: Value, sign: string): Value =>
  value("date", `date_add(${date.sql}, ${sign}CAST(${days.sql} AS INT))`);

const plus: Scalar = (node, args) => {
  const [x, y] = args;
  if (y === undefined) return x!;
  if (x!.type === "date" && y.type === "int64") return shift(x!, y, "");
  if (x!.type === "int64" && y.type === "date") return shift(y, x!, "");
  return arithmetic("+")(node, args);
};

const minus: Scalar = (node, args) => {
  const [x, y] = args;
  if (y === undefined) {
    if (x!.type === "int64") return backToInteger(`-${exactly(x!.sql)}`);
    if (x!.type === "decimal") return value("decimal", `(-${x!.sql})`);
    return value("float64", `(-${toFloat(node, x!)})`);
  }
  if (x!.type === "date" && y.type === "int64") return shift(x!, y, "-");
  if (x!.type === "date" && y.type === "date") return backToInteger(`datediff(${x!.sql}, ${y.sql})`);
  return arithmetic("-")(node, args);
};

const remainder = two((node, args) => {
  const { type, sql } = unify(node, args);
  return type === "int64" || type === "float64"
    ? value(type, `(${sql.join(" % ")})`)
    : refuse(node, `${name(type)} in %`);
});

const integers = (operator: string) =>
  two((node, args) => value("int64", `(${args.map((each) => need(node, each, "int64")).join(` ${operator} `)})`));

/** Without wildcards escaped: DuckDB has no escape character, Spark has one. */
const like = (negated: string) =>
  two((node, [x, pattern]) => {
    if (pattern!.literal === undefined || pattern!.literal.includes("\\")) {
      return refuse(node, "LIKE with a backslash, or with a pattern that is not a literal");
    }
    return value("boolean", `(${need(node, x!, "text")} ${negated}LIKE ${pattern!.sql})`);
  });

/** Whole numbers beyond this are DOUBLEs without a fraction. */
const WHOLE = "9e15D";
const whole = (spark: string): Scalar =>
  one((node, [number]) => {
    const x = toFloat(node, number!);
    const sql = `CASE WHEN abs(${x}) < ${WHOLE} THEN CAST(${spark}(${x}) AS DOUBLE) ELSE ${x} END`;
    return { ...value("float64", sql), isWhole: true };
  });

/** DuckDB reports numbers for which a function is not defined; Spark gives null or NaN. */
const defined = (spark: string, isUndefined: string, what: string) =>
  float((x) => `CASE WHEN ${x} ${isUndefined} THEN CAST(raise_error('${what}') AS DOUBLE) ELSE ${spark}(${x}) END`);
const logarithm = (spark: string) => defined(spark, "<= 0D", "the logarithm of a number that is not positive");

const TRUNCATED: Readonly<Record<string, string>> = { year: "YEAR", quarter: "QUARTER", month: "MM", week: "WEEK" };

const literalOf = (node: Node, { literal }: Value): string =>
  literal?.toLowerCase() ?? refuse(node, `${quoted(textIn(node, "function_name"))} of a unit that is not a literal`);

const PARTS: Readonly<Record<string, Scalar>> = {
  year: part((date) => `year(${date})`),
  quarter: part((date) => `quarter(${date})`),
  month: part((date) => `month(${date})`),
  day: part((date) => `day(${date})`),
  dayofyear: part((date) => `dayofyear(${date})`),
  /** From Sunday, 0. */
  dayofweek: part((date) => `(dayofweek(${date}) - 1)`),
  /** From Monday, 1. */
  isodow: part((date) => `((dayofweek(${date}) + 5) % 7 + 1)`),
  week: part((date) => `weekofyear(${date})`),
};

/** Of text, the first or last characters. */
const side = (write: (text: string, length: number) => string) =>
  two((node, [text]) => {
    const length = wholeNumberOf(nodesIn(node, "children")[1]!, "a length");
    return value("text", write(need(node, text!, "text"), length));
  });

const substring = arity(
  2,
  3,
)((node, [text]) => {
  const [, from, length] = nodesIn(node, "children");
  const start = wholeNumberOf(from!, "a position");
  if (start === 0) return refuse(node, "a position before the first character");
  const rest = length === undefined ? "" : `, ${wholeNumberOf(length, "a length")}`;
  return value("text", `substring(${need(node, text!, "text")}, ${start}${rest})`);
});

const power = two((node, [x, y]) => value("float64", `power(${toFloat(node, x!)}, ${toFloat(node, y!)})`));

export const SCALARS: Readonly<Record<string, Scalar>> = {
  ...PARTS,
  dayofmonth: PARTS["day"]!,
  weekofyear: PARTS["week"]!,
  date_part: two((node, [unit, date]) => {
    const known = entryOf(PARTS, literalOf(node, unit!)) ?? refuse(node, "this part of a date");
    return known(node, [date!]);
  }),
  date_trunc: two((node, [unit, date]) => {
    const known = entryOf(TRUNCATED, literalOf(node, unit!)) ?? refuse(node, "date_trunc to this unit");
    return value("midnight", `trunc(${need(node, date!, "date")}, '${known}')`);
  }),
  date_diff: arity(3)((node, [unit, from, to]) =>
    literalOf(node, unit!) === "day"
      ? backToInteger(`datediff(${need(node, to!, "date")}, ${need(node, from!, "date")})`)
      : refuse(node, "date_diff in another unit than days"),
  ),
  last_day: one((node, [date]) => value("date", `last_day(${need(node, date!, "date")})`)),

  "+": arity(1, 2)(plus),
  "-": arity(1, 2)(minus),
  "*": two(arithmetic("*")),
  "/": two((node, [x, y]) => value("float64", `(${toFloat(node, x!)} / ${toFloat(node, y!)})`)),
  "//": integers("div"),
  "%": remainder,
  mod: remainder,
  "**": power,
  pow: power,
  power,
  abs: one((node, [x]) =>
    x!.type === "int64"
      ? backToInteger(`abs(${exactly(x!.sql)})`)
      : value("float64", `abs(${need(node, x!, "float64")})`),
  ),
  round: one((node, [x]) => ({ ...value("float64", `round(${need(node, x!, "float64")})`), isWhole: true })),
  floor: whole("floor"),
  ceil: whole("ceil"),
  ceiling: whole("ceil"),
  sqrt: defined("sqrt", "< 0D", "the square root of a negative number"),
  ln: logarithm("ln"),
  log10: logarithm("log10"),
  exp: float((x) => `exp(${x})`),
  greatest: extreme("greatest"),
  least: extreme("least"),
  nullif: two((node, args) => {
    const { type, sql } = unify(node, args);
    return type === args[0]!.type ? value(type, `nullif(${sql.join(", ")})`) : refuse(node, "nullif of two types");
  }),

  "||": two((node, args) => value("text", `concat(${args.map((each) => need(node, each, "text")).join(", ")})`)),
  "~~": like(""),
  "!~~": like("NOT "),
  length: one((node, [text]) => backToInteger(`length(${need(node, text!, "text")})`)),
  substring,
  substr: substring,
  left: side((text, length) => `substring(${text}, 1, ${length})`),
  right: side((text, length) => `CAST(right(${text}, ${length}) AS STRING)`),
  starts_with: predicate("startswith"),
  ends_with: predicate("endswith"),
  suffix: predicate("endswith"),
  prefix: predicate("startswith"),
  contains: predicate("contains"),
};
