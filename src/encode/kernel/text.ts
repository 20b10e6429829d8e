// Text: copied, escaped for JSON, or quoted for CSV. UTF-8 is not changed.

/** Bit i: byte i of the 16 at p must be escaped in JSON. */
function jsonMask(p: usize): i32 {
  const bytes = v128.load(p);
  const control = i8x16.lt_u(bytes, i8x16.splat(0x20));
  const quote = i8x16.eq(bytes, i8x16.splat(0x22));
  const backslash = i8x16.eq(bytes, i8x16.splat(0x5c));
  return i8x16.bitmask(v128.or(control, v128.or(quote, backslash)));
}

/** Bit i: byte i of the 16 at p requires quotes in CSV. */
function csvMask(p: usize): i32 {
  const bytes = v128.load(p);
  const quote = i8x16.eq(bytes, i8x16.splat(0x22));
  const comma = i8x16.eq(bytes, i8x16.splat(0x2c));
  const feed = i8x16.eq(bytes, i8x16.splat(0x0a));
  const carriage = i8x16.eq(bytes, i8x16.splat(0x0d));
  return i8x16.bitmask(v128.or(v128.or(quote, comma), v128.or(feed, carriage)));
}

/** Whether none of the bytes needs an escape (JSON) or quotes (CSV). */
export function isPlain(from: usize, to: usize, json: bool): bool {
  for (; from < to; from += 16) {
    let mask = json ? jsonMask(from) : csvMask(from);
    if (to - from < 16) mask &= (1 << <i32>(to - from)) - 1;
    if (mask) return false;
  }
  return true;
}

@inline
export function putBytes(from: usize, length: usize, p: usize): usize {
  v128.store(p, v128.load(from));
  if (length > 16) putMore(from + 16, length - 16, p + 16);
  return p + length;
}

function putMore(from: usize, length: usize, p: usize): void {
  if (length > 256) {
    memory.copy(p, from, length);
  } else {
    for (let i: usize = 0; i < length; i += 16) v128.store(p + i, v128.load(from + i));
  }
}

/** Writes the content of a JSON string. */
export function putJson(from: usize, to: usize, p: usize): usize {
  while (from < to) {
    const mask = jsonMask(from);
    const left = to - from;
    const clean = min<usize>(left, mask ? ctz(mask) : 16);
    v128.store(p, v128.load(from));
    p += clean;
    from += clean;
    if (mask && clean < left) p = putEscape(load<u8>(from++), p);
  }
  return p;
}

function putEscape(byte: u8, p: usize): usize {
  const letter = letterOf(byte);
  store<u8>(p, 0x5c);
  store<u8>(p, letter, 1);
  if (letter != 0x75) return p + 2;
  store<u16>(p, 0x3030, 2);
  store<u8>(p, 0x30 + (byte >> 4), 4);
  const low = byte & 15;
  store<u8>(p, low < 10 ? 0x30 + low : 0x57 + low, 5);
  return p + 6;
}

/** The letter after the backslash; `u` if there is no short form. */
function letterOf(byte: u8): u8 {
  if (byte == 0x22 || byte == 0x5c) return byte;
  if (byte == 0x08) return 0x62;
  if (byte == 0x09) return 0x74;
  if (byte == 0x0a) return 0x6e;
  if (byte == 0x0c) return 0x66;
  if (byte == 0x0d) return 0x72;
  return 0x75;
}

/** Writes a CSV field that is not empty, in quotes if needed. */
export function putCsv(from: usize, to: usize, p: usize): usize {
  if (isPlain(from, to, false)) return putBytes(from, to - from, p);
  store<u8>(p++, 0x22);
  for (; from < to; from++) {
    const byte = load<u8>(from);
    store<u8>(p++, byte);
    if (byte == 0x22) store<u8>(p++, 0x22);
  }
  store<u8>(p++, 0x22);
  return p;
}

/** Writes a missing value: the first `length` bytes of `missing`. */
export function putMissing(missing: u32, length: usize, p: usize): usize {
  store<u32>(p, missing);
  return p + length;
}
