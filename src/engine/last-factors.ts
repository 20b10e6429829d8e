// The last factor of each code, as a sorted table.
import type { Value } from "./columns.js";
import { compareCodes, type Codes } from "./keys.js";

export interface LastFactors {
  /** That of a row's code, NaN where it has none. Quick where rows come in the order of their codes, up or down. */
  of(rows: Codes, row: number): number;
}

/** From columns of code, date and factor; of several rows of a code the latest counts. */
export function createLastFactors([codes, dates, factors]: readonly (readonly Value[])[]): LastFactors {
  const latest = new Map<string, number>();
  for (const [i, code] of codes!.entries()) {
    const known = latest.get(code as string);
    if (known === undefined || dates![i]! > dates![known]!) latest.set(code as string, i);
  }
  const sorted = [...latest].map(([code, i]) => ({ code: Buffer.from(code), factor: Number(factors![i]) }));
  sorted.sort((a, b) => Buffer.compare(a.code, b.code));
  const table: Codes = {
    codes: Buffer.concat(sorted.map(({ code }) => code)),
    offsets: new Int32Array(sorted.length + 1),
  };
  for (const [i, { code }] of sorted.entries()) table.offsets[i + 1] = table.offsets[i]! + code.length;
  const values = Float64Array.from(sorted, ({ factor }) => factor);
  let found = 0;

  return {
    of(rows, row) {
      for (let i = Math.max(0, found - 1); i < values.length && i <= found + 1; i++) {
        if (compareCodes(table, i, rows, row) === 0) return values[(found = i)]!;
      }
      let low = 0;
      let high = values.length - 1;
      while (low <= high) {
        const middle = (low + high) >> 1;
        const order = compareCodes(table, middle, rows, row);
        if (order === 0) return values[(found = middle)]!;
        if (order < 0) low = middle + 1;
        else high = middle - 1;
      }
      return Number.NaN;
    },
  };
}
