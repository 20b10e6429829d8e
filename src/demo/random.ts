// Randomness for the demo: a hash of keys and salt in SQL, a small generator in TypeScript. Equal seeds give equal numbers.
import { quoteText } from "../sql-text.js";

export interface Random {
  /** 64 random bits (UBIGINT) for these keys: at most three integers from 0 to 2^20 - 1. */
  bits(salt: string, ...keys: readonly string[]): string;
  /** A DOUBLE in [0, 1). */
  uniform(salt: string, ...keys: readonly string[]): string;
  /** An INTEGER in [0, n). */
  below(n: number | string, salt: string, ...keys: readonly string[]): string;
  /** One of these texts. */
  pick(texts: readonly string[], salt: string, ...keys: readonly string[]): string;
}

/** SQL expressions that depend only on seed, salt and keys, not on the order of rows or the number of threads. */
export function randomOf(seed: number): Random {
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

/** A generator of numbers in [0, 1): a multiply-with-xorshift counter over 32 bits. */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let x = state ^ (state >>> 16);
    x = Math.imul(x, 0x21f0aaad);
    x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
    return ((x ^ (x >>> 15)) >>> 0) / 2 ** 32;
  };
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
