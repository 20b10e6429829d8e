// Decides which column of a file fills which column of an entity, and which are unused, missing or contradictory.
import { ENTITIES } from "../catalog/index.js";
import type { Column, Entity } from "../catalog/types.js";
import { OperatorError, nearest } from "../errors.js";
import { shown } from "../words.js";
import { requireShortNames, type FileLimits } from "./limits.js";
import { AS_IS, isFrameIndex, meaningsOf, NEARNESS, type Meaning, type Scale } from "./aliases.js";

export interface ImportOptions {
  /** Source column → entity column, optionally with a factor: `vol/100`, `amount*10`. */
  readonly map: Readonly<Record<string, string>>;
  /** Entity column → its value in every row. */
  readonly set: Readonly<Record<string, string>>;
  /** The name of the file in messages; by default its path as given. */
  readonly label?: string;
  /** The path whose `name=value` folders fill missing columns; by default that of the file. */
  readonly below?: string;
  /** By default there are none. */
  readonly limits?: FileLimits;
}

/** Where the values of an entity column come from. */
export type Binding =
  | { readonly from: "column"; readonly column: Column; readonly source: number; readonly scale: Scale }
  | { readonly from: "constant"; readonly column: Column; readonly value: string; readonly origin: string }
  | { readonly from: "nowhere"; readonly column: Column };

export interface ColumnPlan {
  /** One for each column of the entity, in its order. */
  readonly bindings: readonly Binding[];
  /** Indices of source columns that --set overrules. All of their values must be null. */
  readonly overruled: readonly number[];
  readonly ignored: readonly string[];
  readonly missing: readonly string[];
  readonly warnings: readonly string[];
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
  const mapped = mappedClaims(entity, names, options.map, label);
  const bare = withoutPrefix(entity, names);
  const found = foundClaims(entity, bare, mapped, label);
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
  return {
    bindings,
    overruled,
    ignored: names.filter((_name, i) => !used.has(i)),
    missing: bindings.filter(({ from }) => from === "nowhere").map(({ column }) => column.name),
    warnings: [
      ...found.warnings.filter(([column]) => claims.get(column) === found.claims.get(column)).map(([, text]) => text),
      ...bindings.flatMap((b) => (b.from === "constant" && b.origin === "folder" ? [folderWarning(b)] : [])),
    ],
  };
}

const folderWarning = (binding: { readonly column: Column; readonly value: string }): string =>
  `${binding.column.name} is not in the file: ${binding.value} was taken from the name of its folder`;

const FACTOR = /^(.*?)\s*([*/])\s*(\d+)$/;

const LARGEST_FACTOR = 1_000_000_000_000;

function mappedClaims(
  entity: Entity,
  names: readonly string[],
  map: ImportOptions["map"],
  label: string,
): ReadonlyMap<Column, Claim> {
  const claims = new Map<Column, Claim>();
  for (const [from, to] of Object.entries(map)) {
    const exact = names.findIndex((name) => name.trim() === from.trim());
    const source = exact < 0 ? names.findIndex((name) => fold(name) === fold(from)) : exact;
    if (source < 0) throw new OperatorError(`${label} has no column ${from} to map${orNearest(from, names)}`, 2);
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
  return claims;
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
  label: string,
): Found {
  const taken = new Set([...mapped.values()].map(({ source }) => source));
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
        throw new OperatorError(`${label}: the columns ${both} all match ${column.name}; choose one with --map`);
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

/** The number of names that are columns of the entity. */
function ownNames(entity: Entity, names: readonly string[]): number {
  const folded = new Set(names.map(fold));
  return entity.columns.filter(({ name }) => folded.has(name)).length;
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

/** Refuses a file that lacks required columns, that has only keys, or that belongs to another entity. */
function requireFit(
  entity: Entity,
  bare: readonly string[],
  bindings: readonly Binding[],
  names: readonly string[],
  label: string,
): void {
  const has = `The file has ${names.length === 0 ? "no columns" : list(names)}`;
  const absent = bindings.filter(({ from, column }) => from === "nowhere" && !column.nullable);
  if (absent.length > 0) {
    const headless = names.some((name) => LOOKS_LIKE_DATA.test(name.trim())) ? " (is its header line missing?)" : "";
    const [example] = absent.map(({ column }) => column.name);
    throw new OperatorError(
      `${label} does not fit ${entity.name}: it has no ${list(absent.map(({ column }) => column.name))}. ${has}${headless}. ` +
        `Rename a column with --map NAME=${example}, or give every row the same value with --set ${example}=VALUE, ` +
        `or for a drop with a folder, inbox/${entity.name}/${example}=VALUE/`,
    );
  }
  const values = bindings.filter(({ column }) => column.name !== entity.mainDate && column.type !== "code");
  if (!values.some(({ from }) => from !== "nowhere")) {
    throw new OperatorError(
      `${label} does not fit ${entity.name}: it has none of ${list(values.map(({ column }) => column.name))}. ${has}`,
    );
  }
  const filled = bindings.filter(({ from }) => from === "column").length;
  if (filled === 0)
    throw new OperatorError(`${label} does not fit ${entity.name}: none of its columns is used. ${has}`);
  const own = ownNames(entity, bare);
  const other = ENTITIES.find((candidate) => ownNames(candidate, bare) > Math.max(own, filled));
  if (other && filled < entity.columns.length / 2) {
    throw new OperatorError(
      `${label} looks like ${other.name}, not ${entity.name}: ` +
        `it has ${ownNames(other, bare)} columns of ${other.name} and ${filled} of ${entity.name}`,
    );
  }
}

/** A date, a number or a code instead of a name. */
const LOOKS_LIKE_DATA = /^\d{4,}(\.[A-Za-z]{2,4})?$|^-?\d+(\.\d+)?$/;

const fold = (name: string): string => name.trim().toLowerCase();

const SHOWN = 30;

const list = (names: readonly string[]): string =>
  names.slice(0, SHOWN).map(shown).join(", ") + (names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "");
