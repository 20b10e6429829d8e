// Shared parts of the demo: options, helper tables, randomness in SQL, and SELECTs that fit the catalog.
import { entityNamed } from "../catalog/index.js";
import { SQL_TYPES } from "../catalog/types.js";
import type { Writer } from "../engine/writer.js";
import { quoteText } from "../sql-text.js";

export interface DemoOptions {
  /** Number of stocks, including delisted ones. */
  readonly stocks: number;
  /** Number of trading days. */
  readonly days: number;
  readonly seed: number;
  /** Last calendar day, `YYYYMMDD`. */
  readonly until: string;
}

export interface DemoEntity {
  readonly entity: string;
  /** Exactly the entity's columns, in the order and the SQL types of the catalog. The rows have no defined order. */
  readonly sql: string;
}

interface Random {
  /** 64 random bits (UBIGINT) for these keys: at most three integers from 0 to 2^20 - 1. */
  bits(salt: string, ...keys: readonly string[]): string;
  /** A DOUBLE in [0, 1). */
  uniform(salt: string, ...keys: readonly string[]): string;
  /** An INTEGER in [0, n). */
  below(n: number | string, salt: string, ...keys: readonly string[]): string;
  /** One of these texts. */
  pick(texts: readonly string[], salt: string, ...keys: readonly string[]): string;
}

export interface Demo {
  readonly options: DemoOptions;
  readonly random: Random;
  /** Runs `CREATE TEMP TABLE demo_<name> AS <select>`. */
  table(name: string, select: string, values?: readonly string[]): Promise<void>;
  drop(): Promise<void>;
}

/** Helper tables of one demo in one writer, dropped together. */
export function openDemo(writer: Writer, options: DemoOptions): Demo {
  const tables: string[] = [];
  return {
    options,
    random: randomOf(options.seed),
    async table(name, select, values = []) {
      await writer.run(`CREATE TEMP TABLE demo_${name} AS ${select}`, values);
      tables.push(`demo_${name}`);
    },
    async drop() {
      for (const table of tables.reverse()) await writer.run(`DROP TABLE ${table}`);
      tables.length = 0;
    },
  };
}

/**
 * `SELECT ... <from>` with the entity's columns in the order and types of the catalog. A column without an expression
 * is null. Throws for an expression of a column that the catalog does not have.
 */
export function selectOf(name: string, expressions: Readonly<Record<string, string>>, from: string): string {
  const entity = entityNamed(name);
  if (!entity) throw new Error(`no entity ${name}`);
  const strangers = Object.keys(expressions).filter((key) => !entity.columns.some((column) => column.name === key));
  if (strangers.length > 0) throw new Error(`${name} has no column ${strangers.join(", ")}`);
  const columns = entity.columns.map(
    (column) => `CAST(${expressions[column.name] ?? "NULL"} AS ${SQL_TYPES[column.type]}) AS "${column.name}"`,
  );
  return `SELECT ${columns.join(", ")} ${from}`;
}

/** SQL expressions that depend only on seed, salt and keys, not on the order of rows or the number of threads. */
function randomOf(seed: number): Random {
  const bits: Random["bits"] = (salt, ...keys) => {
    const packed = keys.map((key, i) => (i === 0 ? `(${key})::BIGINT` : `((${key})::BIGINT << ${20 * i})`)).join(" + ");
    return `hash(xor(${packed}, ${saltNumber(`${seed}/${salt}`)}))`;
  };
  const uniform: Random["uniform"] = (salt, ...keys) => `((${bits(salt, ...keys)} >> 11) * ${2 ** -53})`;
  const below: Random["below"] = (n, salt, ...keys) => `floor(${uniform(salt, ...keys)} * (${n}))::INTEGER`;
  return {
    bits,
    uniform,
    below,
    pick: (texts, salt, ...keys) => `${textList(texts)}[1 + ${below(texts.length, salt, ...keys)}]`,
  };
}

/** An SQL list of texts. */
export function textList(texts: readonly string[]): string {
  return `[${texts.map(quoteText).join(", ")}]`;
}

/** Hashes a text to an integer below 2^62, with two rounds of FNV-1a. */
function saltNumber(text: string): bigint {
  return (BigInt(fnv(text)) << 30n) ^ BigInt(fnv(`${text}.`));
}

function fnv(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
