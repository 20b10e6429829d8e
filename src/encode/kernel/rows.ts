// The kernel: writes rows of typed columns as JSON or CSV text in one pass. AssemblyScript, compiled to WebAssembly.
// The formats differ in data only: the bytes before each value, the bytes after a row, the quoting, a missing value.
import * as abi from "./abi";
import { FIRST_DAY, LAST_DAY, putDate } from "./date";
import { putI64 } from "./digits";
import { POWERS, putDouble } from "./double";
import { isPlain, putBytes, putCsv, putJson, putMissing } from "./text";

export { POWERS };

/** The first byte that the host may use. */
export function arena(): usize {
  return __heap_base;
}

/**
 * Writes n rows to `out` and returns the end, or 0 if a date is outside the years 1 to 9999. `columns` is an array as
 * in `abi`, ended by a column of kind END; a missing value is up to four bytes. The host makes sure that the output fits.
 */
export function encode(
  n: u32,
  columns: usize,
  suffix: usize,
  suffixLength: usize,
  json: bool,
  missing: u32,
  missingLength: usize,
  out: usize,
): usize {
  const quote: usize = json ? 1 : 0;
  chooseText(n, columns, json);
  let p = out;
  for (let row: usize = 0; row < n; row++) {
    let c = columns;
    let kind: u32;
    while ((kind = load<u32>(c, abi.KIND)) != abi.END) {
      p = putPrefix(c, p);
      if (isMissing(c, row)) {
        p = putMissing(missing, missingLength, p);
      } else if (kind == abi.DOUBLE) {
        p = putDouble(load<f64>(load<u32>(c, abi.VALUES) + row * 8), missing, missingLength, p);
      } else if (kind == abi.DATE) {
        const days = load<i32>(load<u32>(c, abi.VALUES) + row * 4);
        if (days < FIRST_DAY || days > LAST_DAY) return 0;
        store<u8>(p, 0x22);
        putDate(days, p + quote);
        store<u8>(p + quote + 8, 0x22);
        p += 8 + 2 * quote;
      } else if (kind == abi.INTEGER) {
        p = putI64(load<i64>(load<u32>(c, abi.VALUES) + row * 8), p);
      } else {
        const offset = load<u32>(c, abi.OFFSETS) + row * 4;
        const from = load<u32>(c, abi.VALUES) + load<u32>(offset);
        const to = load<u32>(c, abi.VALUES) + load<u32>(offset, 4);
        p = putText(kind, from, to, quote, p);
      }
      c += abi.COLUMN_SIZE;
    }
    p = putBytes(suffix, suffixLength, p);
  }
  return p;
}

/** Determines for each text column whether its bytes can be copied unchanged. */
function chooseText(n: u32, columns: usize, json: bool): void {
  for (let c = columns; load<u32>(c, abi.KIND) != abi.END; c += abi.COLUMN_SIZE) {
    if (load<u32>(c, abi.KIND) != abi.TEXT) continue;
    const values = load<u32>(c, abi.VALUES);
    const offsets = load<u32>(c, abi.OFFSETS);
    const plain = isPlain(values + load<u32>(offsets), values + load<u32>(offsets + n * 4), json);
    store<u32>(c, plain ? abi.TEXT_AS_IS : json ? abi.TEXT_JSON : abi.TEXT_CSV, abi.KIND);
  }
}

function putPrefix(c: usize, p: usize): usize {
  return putBytes(load<u32>(c, abi.PREFIX), load<u32>(c, abi.PREFIX_LENGTH), p);
}

function isMissing(c: usize, row: usize): bool {
  const validity = load<u32>(c, abi.VALIDITY);
  if (!validity) return false;
  const bit = row + load<u32>(c, abi.FIRST_BIT);
  return ((load<u8>(validity + (bit >> 3)) >> <u8>(bit & 7)) & 1) == 0;
}

function putText(kind: u32, from: usize, to: usize, quote: usize, p: usize): usize {
  if (from == to) {
    store<u16>(p, 0x2222); // empty text is `""` in CSV too, to distinguish it from a missing value
    return p + 2;
  }
  store<u8>(p, 0x22);
  p += quote;
  if (kind == abi.TEXT_AS_IS) p = putBytes(from, to - from, p);
  else if (kind == abi.TEXT_JSON) p = putJson(from, to, p);
  else p = putCsv(from, to, p);
  store<u8>(p, 0x22);
  return p + quote;
}
