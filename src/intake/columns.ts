// Decides which column of a file fills which column of an entity, and which are unused, missing or contradictory.
import type { Column, Entity } from "../catalog/types.js";
import { OperatorError, nearest } from "../errors.js";
import { fold, list, ownNames, requireFit, type Binding } from "./fit.js";
import { requireShortNames, type FileLimits } from "./limits.js";
import { AS_IS, isFrameIndex, meaningsOf, NEARNESS, type Meaning, type Scale } from "./aliases.js";

export interface ImportOptions {
  /** Source column → entity column, optionally with a factor: `vol/100`, `amount*10`. Empty: the column is not used. */
  readonly map: Readonly<Record<string, string>>;
  /** Entity column → its value in every row. */
  readonly set: Readonly<Record<string, string>>;
  /** Stocks' numbers without an exchange get the one that they tell. */
  readonly completeCodes?: boolean;
  /** The name of the file in messages; by default its path as given. */
  readonly label?: string;
  /** The path whose `name=value` folders fill missing columns; by default that of the file. */
  readonly below?: string;
  /** By default there are none. */
  readonly limits?: FileLimits;
  /** Called before each of several files is read; it throws if the import must end. */
  readonly proceed?: () => void;
}

export interface ColumnPlan {
  /** One for each column of the entity, in its order. */
  readonly bindings: readonly Binding[];
  /** Indices of source columns that --set overrules. All of their values must be null. */
  readonly overruled: readonly number[];
  readonly ignored: readonly string[];
  readonly missing: readonly string[];
  /** Values that the names of folders state for columns that the file has. */
  readonly stated: readonly Stated[];
  readonly warnings: readonly string[];
}

interface Stated {
  readonly column: Column;
  readonly value: string;
}

interface Claim {
  readonly source: number;
  readonly scale: Scale;
}

/**
 * Plans the columns of an import. `folders` are the names and values of the `name=value` folders above the file, which
 * fill columns that the file lacks. Throws an OperatorError for contradictions, or if the file does not fit the entity.
 */
export function planColumns(
  entity: Entity,
  names: readonly string[],
  options: ImportOptions,
  folders: readonly (readonly [string, string])[],
  label: string,
): ColumnPlan {
  requireShortNames(names, label);
  const { mapped, aside } = mappedClaims(entity, names, options.map, label);
  const bare = withoutPrefix(entity, names);
  const found = foundClaims(entity, bare, mapped, aside, label);
  const claims = new Map([...found.claims, ...mapped]);
  const given = constants(entity, options.set, folders, claims);
  const overruled = [...claims].filter(([column]) => column.name in options.set).map(([, { source }]) => source);
  const bindings = entity.columns.map((column): Binding => {
    const constant = given.get(column);
    if (constant) return { from: "constant", column, ...constant };
    const claim = claims.get(column);
    if (claim) return { from: "column", column, ...claim };
    if (column.assumed !== undefined) return { from: "constant", column, value: column.assumed, origin: "assumed" };
    return { from: "nowhere", column };
  });
  requireFit(entity, bare, bindings, names, label);
  const used = new Set(bindings.flatMap((binding) => (binding.from === "column" ? [binding.source] : [])));
  const ignored = names.filter((_name, i) => !used.has(i));
  return {
    bindings,
    overruled,
    ignored,
    missing: bindings.filter(({ from }) => from === "nowhere").map(({ column }) => column.name),
    stated: folders.flatMap(([name, value]): Stated[] => {
      const binding = bindings.find(({ column }) => column.name === fold(name));
      return binding?.from === "column" ? [{ column: binding.column, value }] : [];
    }),
    warnings: [
      ...found.warnings.filter(([column]) => claims.get(column) === found.claims.get(column)).map(([, text]) => text),
      ...bindings.flatMap((b) => (b.from === "constant" && b.origin !== "set" ? [originWarning(b)] : [])),
      ...identityWarning(entity, bindings),
      ...leftoverWarnings(entity, ignored),
    ],
  };
}

/** The plan of files that are read together: each may be given other values. */
export function planOfAll(plans: readonly ColumnPlan[]): ColumnPlan {
  const [first] = plans as readonly [ColumnPlan];
  if (plans.length === 1) return first;
  const bindings = first.bindings.map((binding, i): Binding => {
    if (binding.from !== "constant") return binding;
    const given = plans.map((plan) => plan.bindings[i]!);
    return { ...binding, values: given.flatMap((one) => (one.from === "constant" ? [one.value] : [])) };
  });
  return { ...first, bindings };
}

/** How data frames rename columns that both sides of a merge have. */
const LEFTOVER = /^(.+)_(x|y|left|right)$/;

/** Unused columns such as `close_x` and `close_y`, by the column that they were before a merge. */
function leftoverWarnings(entity: Entity, ignored: readonly string[]): readonly string[] {
  return entity.columns.flatMap(({ name }) => {
    const left = ignored.filter((one) => LEFTOVER.exec(fold(one))?.[1] === name);
    if (left.length === 0) return [];
    return [
      `${list(left)} not used: left over from a merge of two tables that both have ${name}; rename one to ${name}`,
    ];
  });
}

const originWarning = ({ column, value, origin }: Extract<Binding, { readonly from: "constant" }>): string =>
  `${column.name} is not in the file: ${value} was ${origin === "folder" ? "taken from the name of its folder" : "assumed"}`;

/** Rows without a value that tells them apart are other rows than those that have one. */
function identityWarning(entity: Entity, bindings: readonly Binding[]): readonly string[] {
  const lacking = bindings.filter(({ from, column }) => from === "nowhere" && entity.identity.includes(column.name));
  if (lacking.length === 0 || entity.identityIs === "group") return [];
  const names = list(lacking.map(({ column }) => column.name));
  const [tell, it] = lacking.length > 1 ? ["tell", "them"] : ["tells", "it"];
  return [
    `without ${names}, which ${tell} rows apart: a later file that has ${it} adds its rows beside these and replaces none of them`,
  ];
}

/** Names of a column with the exchange of each code. */
const EXCHANGE_COLUMNS = ["exchange", "exchange_id", "exchangeid", "交易所", "market", "市场"];

/**
 * The plan with the exchange column of the file, if it has one, for the codes of stocks, or for the only code of the
 * entity. Null if it has none or uses it otherwise.
 */
export function withExchangeColumn(entity: Entity, plan: ColumnPlan, names: readonly string[]): ColumnPlan | null {
  const used = new Set(plan.bindings.flatMap((binding) => (binding.from === "column" ? [binding.source] : [])));
  const folded = names.map(fold);
  const exchange = EXCHANGE_COLUMNS.map((name) => folded.indexOf(name)).find((at) => at >= 0 && !used.has(at));
  const codes = entity.columns.filter(({ type }) => type === "code");
  const target = codes.find(({ codesOf }) => codesOf === "stocks") ?? (codes.length === 1 ? codes[0] : undefined);
  if (exchange === undefined || target === undefined) return null;
  return {
    ...plan,
    bindings: plan.bindings.map((binding) =>
      binding.from === "column" && binding.column === target ? { ...binding, exchange } : binding,
    ),
    ignored: plan.ignored.filter((name) => name !== names[exchange]),
  };
}

const FACTOR = /^(.*?)\s*([*/])\s*(\d+)$/;

const LARGEST_FACTOR = 1_000_000_000_000;

function mappedClaims(
  entity: Entity,
  names: readonly string[],
  map: ImportOptions["map"],
  label: string,
): { readonly mapped: ReadonlyMap<Column, Claim>; readonly aside: ReadonlySet<number> } {
  const claims = new Map<Column, Claim>();
  const aside = new Set<number>();
  for (const [from, to] of Object.entries(map)) {
    const exact = names.findIndex((name) => name.trim() === from.trim());
    const source = exact < 0 ? names.findIndex((name) => fold(name) === fold(from)) : exact;
    if (source < 0) throw new OperatorError(`${label} has no column ${from} to map${orNearest(from, names)}`, 2);
    if (to.trim() === "") {
      aside.add(source);
      continue;
    }
    const [, target = to, sign, factor = "1"] = FACTOR.exec(to) ?? [];
    const column = targetColumn(entity, target, "--map");
    const scale = sign === undefined ? AS_IS : { times: 1, over: 1, [sign === "*" ? "times" : "over"]: Number(factor) };
    if (Number(factor) < 1 || Number(factor) > LARGEST_FACTOR) {
      throw new OperatorError(`--map ${from}=${to}: a factor is a whole number from 1 to ${LARGEST_FACTOR}`, 2);
    }
    if (claims.has(column)) throw new OperatorError(`--map names ${column.name} twice`, 2);
    if ((scale.times !== 1 || scale.over !== 1) && column.type !== "float64") {
      throw new OperatorError(
        `--map ${from}=${to}: ${column.name} cannot be scaled, since it is not a measured number`,
        2,
      );
    }
    claims.set(column, { source, scale });
  }
  return { mapped: claims, aside };
}

function targetColumn(entity: Entity, name: string, option: string): Column {
  const column = entity.columns.find((candidate) => candidate.name === fold(name));
  if (column) return column;
  const near = orNearest(
    name,
    entity.columns.map((candidate) => candidate.name),
  );
  throw new OperatorError(`${option}: ${entity.name} has no column ${name}${near}`, 2);
}

function orNearest(name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  return near === undefined ? `; there are ${list(names)}` : `; did you mean ${near}?`;
}

interface Found {
  readonly claims: ReadonlyMap<Column, Claim>;
  readonly warnings: readonly (readonly [Column, string])[];
}

/** Finds the nearest source column for each entity column. Two equally near ones are a contradiction. */
function foundClaims(
  entity: Entity,
  names: readonly string[],
  mapped: ReadonlyMap<Column, Claim>,
  aside: ReadonlySet<number>,
  label: string,
): Found {
  const taken = new Set([...aside, ...[...mapped.values()].map(({ source }) => source)]);
  const meanings = names.flatMap((name, source) =>
    taken.has(source) || isFrameIndex(name) ? [] : meaningsOf(name, entity).map((meaning) => ({ source, ...meaning })),
  );
  const claims = new Map<Column, Claim>();
  const warnings: [Column, string][] = [];
  for (const nearness of NEARNESS) {
    for (const column of entity.columns) {
      const rivals = meanings.filter(
        (meaning) => meaning.column === column && meaning.nearness === nearness && !isClaimed(meaning, claims),
      );
      if (rivals.length === 0 || claims.has(column) || mapped.has(column)) continue;
      if (rivals.length > 1) {
        const both = list(rivals.map(({ source }) => names[source]!));
        throw new OperatorError(
          `${label}: the columns ${both} all match ${column.name}; choose one with --map, or put one aside with --map NAME=`,
        );
      }
      const [{ source, scale, unitKnown }] = rivals as [Meaning & { source: number }];
      claims.set(column, { source, scale });
      if (!unitKnown) warnings.push([column, `${names[source]} has no unit; it is read as ${column.unit}`]);
    }
  }
  return { claims, warnings };
}

/** Whether a source column already fills a nearer column. None is used twice. */
const isClaimed = ({ source }: { readonly source: number }, claims: ReadonlyMap<Column, Claim>): boolean =>
  [...claims.values()].some((claim) => claim.source === source);

/** Removes a prefix that all names share, if they match the entity only without it. */
function withoutPrefix(entity: Entity, names: readonly string[]): readonly string[] {
  const real = names.filter((name) => !isFrameIndex(name)).map((name) => name.trim());
  const first = real[0] ?? "";
  let length = 0;
  while (length < first.length && real.every((name) => name[length] === first[length])) length++;
  const prefix = /^.*[_.]/.exec(first.slice(0, length))?.[0] ?? "";
  if (real.length < 2 || prefix === "") return names;
  const bare = names.map((name) => (isFrameIndex(name) ? name : name.trim().slice(prefix.length)));
  return ownNames(entity, names) === 0 && ownNames(entity, bare) > 1 ? bare : names;
}

interface Constant {
  readonly value: string;
  readonly origin: "set" | "folder";
}

function constants(
  entity: Entity,
  set: ImportOptions["set"],
  folders: readonly (readonly [string, string])[],
  claims: ReadonlyMap<Column, Claim>,
): ReadonlyMap<Column, Constant> {
  const given = new Map<Column, Constant>();
  for (const [name, value] of folders) {
    const column = entity.columns.find((candidate) => candidate.name === fold(name));
    if (column && !claims.has(column)) given.set(column, { value, origin: "folder" });
  }
  for (const [name, value] of Object.entries(set)) {
    given.set(targetColumn(entity, name, "--set"), { value, origin: "set" });
  }
  return given;
}
