// Doubles as the shortest decimal text that reads back to the same double, laid out as JavaScript's String(v) does.
import { putFraction, putU32, putU64 } from "./digits";
import { putMissing } from "./text";
import { MAX_POWER, MIN_POWER } from "./abi";

/** Filled by the host before the first row. */
export const POWERS: usize = memory.data((MAX_POWER - MIN_POWER + 1) * 16, 16);
const DIGITS: usize = memory.data(64, 16);

/** Adding 2^52 leaves the nearest whole number in the low bits of a double. */
const WHOLE: f64 = 4503599627370496.0;
const LOW_BITS: u64 = 0xfffffffffffff;

/** Writes v and returns the position after it. NaN and the infinities are written as missing. */
@inline
export function putDouble(v: f64, missing: u32, missingLength: usize, start: usize): usize {
  store<u8>(start, 0x2d);
  const p = start + usize(v < 0);
  v = Math.abs(v);
  // Up to four decimals and 15 digits in total: at most one such number reads back to v, so it is the shortest.
  const shifted = v * 10000 + WHOLE;
  if (v < 1e11 && (shifted - WHOLE) / 10000 == v) return putScaled(reinterpret<u64>(shifted) & LOW_BITS, p);
  return v < Infinity ? putShortest(reinterpret<u64>(v), p) : putMissing(missing, missingLength, start);
}

/** Writes n / 10,000. */
@inline
function putScaled(n: u64, p: usize): usize {
  if (n <= 0xffffffff) {
    const small = <u32>n;
    const whole = small / 10000;
    return putFraction(small - whole * 10000, putU32(whole, p));
  }
  const whole = n / 10000;
  return putFraction(<u32>(n - whole * 10000), putU64(whole, p));
}

/**
 * The bits of a positive finite double. Method: R. Giulietti, "The Schubfach way to render doubles", 2020. Scale v, and
 * the bounds of the interval that reads back to it, by a power of ten, so that one or two of the candidates around v
 * are within; prefer the one with one digit less, otherwise the nearer one.
 */
function putShortest(bits: u64, p: usize): usize {
  const fraction = bits & LOW_BITS;
  const biased = <i32>(bits >> 52);
  const c: u64 = biased ? fraction | 0x10000000000000 : fraction;
  const q: i32 = biased ? biased - 1075 : -1074;
  const uneven = fraction == 0 && biased > 1; // the neighbour below is nearer than the one above
  const k: i32 = (q * 1262611 - (uneven ? 524031 : 0)) >> 22; // floor(log10(2^q)), or of 3/4 of it
  const shift = <u64>(q + ((-k * 1741647) >> 19) + 1); // q + floor(log2(10^-k)) + 1
  const power = POWERS + <usize>(-k - MIN_POWER) * 16;
  const high = load<u64>(power);
  const low = load<u64>(power, 8);
  const open = c & 1; // the bounds themselves read back to v only if c is even
  const from = scale(high, low, ((c << 2) - (uneven ? 1 : 2)) << shift) + open;
  const at = scale(high, low, (c << 2) << shift);
  const to = scale(high, low, ((c << 2) + 2) << shift) - open;
  const s = at >> 2;
  if (s >= 10) {
    const t = s / 10;
    const below = from <= t * 40;
    const above = t * 40 + 40 <= to;
    if (below != above) return layOut(t + u64(above), k + 1, p);
  }
  const below = from <= s * 4;
  const above = s * 4 + 4 <= to;
  if (below != above) return layOut(s + u64(above), k, p);
  const middle = s * 4 + 2;
  return layOut(s + u64(at > middle || (at == middle && (s & 1) == 1)), k, p);
}

/** The top 64 of the 192 bits of n × (high, low), with the last bit set if any nonzero bit was cut off. */
function scale(high: u64, low: u64, n: u64): u64 {
  const middle = high * n;
  const sum = middle + highProduct(low, n);
  return (highProduct(high, n) + u64(sum < middle)) | u64(sum > 1);
}

/** The high 64 bits of a × b. */
function highProduct(a: u64, b: u64): u64 {
  const a0 = a & 0xffffffff;
  const a1 = a >> 32;
  const b0 = b & 0xffffffff;
  const b1 = b >> 32;
  const cross = a1 * b0 + ((a0 * b0) >> 32);
  const carry = a0 * b1 + (cross & 0xffffffff);
  return a1 * b1 + (cross >> 32) + (carry >> 32);
}

/** Writes digits × 10^exponent. */
function layOut(digits: u64, exponent: i32, p: usize): usize {
  let end = putU64(digits, DIGITS);
  const point = exponent + <i32>(end - DIGITS); // digits before the decimal point
  while (load<u8>(end - 1) == 0x30) end--;
  const length = <i32>(end - DIGITS);
  if (point > 21 || point < -5) return layOutExponent(length, point - 1, p);
  if (point <= 0) {
    store<u64>(p, 0x3030303030302e30); // 0.000000
    copyDigits(p + 2 - point, 0);
    return p + 2 - point + length;
  }
  copyDigits(p, 0);
  if (point < length) {
    store<u8>(p + point, 0x2e);
    copyDigits(p + point + 1, point);
    return p + length + 1;
  }
  memory.fill(p + length, 0x30, point - length);
  return p + point;
}

function layOutExponent(length: i32, exponent: i32, p: usize): usize {
  store<u8>(p, load<u8>(DIGITS));
  store<u8>(p, 0x2e, 1);
  copyDigits(p + 2, 1);
  p += length > 1 ? length + 1 : 1;
  store<u8>(p, 0x65);
  store<u8>(p, exponent < 0 ? 0x2d : 0x2b, 1);
  return putU32(<u32>abs(exponent), p + 2);
}

/** Copies the digits from `skip` on, and some bytes more. */
function copyDigits(p: usize, skip: usize): void {
  v128.store(p, v128.load(DIGITS + skip));
  store<u64>(p + 16, load<u64>(DIGITS + skip + 16));
}
