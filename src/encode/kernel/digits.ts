// Whole numbers as decimal text, four digits at a time, from tables filled when the module starts.

/** Entry n: the four digits of n with leading zeros. */
const FOUR: usize = memory.data(40000, 16);
/** Entry n of 8 bytes: the digits of n without leading zeros; the last byte is their number. */
const SHORT: usize = memory.data(80000, 16);
/**
 * Entry n of 8 bytes: `.dddd` for n ten-thousandths without trailing zeros; the last byte is the length, 0 for n = 0.
 */
const FRACTION: usize = memory.data(80000, 16);

for (let n: u32 = 0; n < 10000; n++) {
  const digits: u32 = 0x30303030 | (n / 1000) | ((n / 100) % 10 << 8) | ((n / 10) % 10 << 16) | (n % 10 << 24);
  const length: u32 = n < 10 ? 1 : n < 100 ? 2 : n < 1000 ? 3 : 4;
  const decimals: u32 = n == 0 ? 0 : n % 10 ? 5 : n % 100 ? 4 : n % 1000 ? 3 : 2;
  store<u32>(FOUR + n * 4, digits);
  store<u64>(SHORT + n * 8, <u64>(digits >> ((4 - length) * 8)) | (<u64>length << 56));
  store<u64>(FRACTION + n * 8, 0x2e | (<u64>digits << 8) | (<u64>decimals << 56));
}

/** Writes n < 10,000 and returns the position after it. */
@inline
function putShort(n: u32, p: usize): usize {
  const entry = load<u64>(SHORT + n * 8);
  store<u64>(p, entry);
  return p + <usize>(entry >> 56);
}

/** Writes n < 10,000 as four digits. */
@inline
export function putFour(n: u32, p: usize): void {
  store<u32>(p, load<u32>(FOUR + n * 4));
}

@inline
export function putU32(n: u32, p: usize): usize {
  return n < 10000 ? putShort(n, p) : putLong(n, p);
}

/** Writes n >= 10,000. */
function putLong(n: u32, p: usize): usize {
  const high = n / 10000;
  if (high < 10000) {
    p = putShort(high, p);
  } else {
    const top = high / 10000;
    p = putShort(top, p);
    putFour(high - top * 10000, p);
    p += 4;
  }
  putFour(n - high * 10000, p);
  return p + 4;
}

export function putU64(n: u64, p: usize): usize {
  if (n <= 0xffffffff) return putU32(<u32>n, p);
  const high = n / 100000000;
  const low = <u32>(n - high * 100000000);
  p = putU64(high, p);
  const middle = low / 10000;
  putFour(middle, p);
  putFour(low - middle * 10000, p + 4);
  return p + 8;
}

export function putI64(n: i64, p: usize): usize {
  if (n >= 0) return putU64(n, p);
  store<u8>(p, 0x2d);
  return putU64(0 - <u64>n, p + 1);
}

/** Writes n ten-thousandths, n < 10,000, as `.dddd` without trailing zeros; nothing for 0. */
@inline
export function putFraction(n: u32, p: usize): usize {
  const entry = load<u64>(FRACTION + n * 8);
  store<u64>(p, entry);
  return p + <usize>(entry >> 56);
}
