// Where the values of a JSON text stand, without making objects of them: a table of millions of values stays bytes.
// Values are only told apart, not checked: who reads them later does that.

export interface Member {
  readonly key: string;
  /** The value is the bytes from `start` to before `end`. */
  readonly start: number;
  readonly end: number;
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The members of the object at `at`; null where they are more than `most`. A SyntaxError says where it is malformed. */
export function membersOf(bytes: Buffer, at: number, most: number): readonly Member[] | null {
  const offsets = offsetsOf(bytes, at, most + 1);
  if (offsets.length > 4 * most) return null;
  const members: Member[] = [];
  for (let i = 0; i < offsets.length; i += 4) {
    const key = JSON.parse(bytes.toString("utf8", offsets[i], offsets[i + 1])) as string;
    members.push({ key, start: offsets[i + 2]!, end: offsets[i + 3]! });
  }
  return members;
}

/**
 * For each member of the object at `at` four numbers: start and end of its key, quotes included, and of its value. The
 * members after the first `most` are left out.
 */
export function offsetsOf(bytes: Buffer, at: number, most = Infinity): Uint32Array {
  let offsets = new Uint32Array(64);
  let count = 0;
  let position = skipBlanks(bytes, expect(bytes, at, OPEN_BRACE));
  while (bytes[position] !== CLOSE_BRACE && count < 4 * most) {
    if (count > 0) position = skipBlanks(bytes, expect(bytes, position, COMMA));
    const keyEnd = skipString(bytes, position);
    const start = skipBlanks(bytes, expect(bytes, skipBlanks(bytes, keyEnd), COLON));
    const end = skipValue(bytes, start);
    if (count + 4 > offsets.length) {
      const larger = new Uint32Array(offsets.length * 2);
      larger.set(offsets);
      offsets = larger;
    }
    offsets.set([position, keyEnd, start, end], count);
    count += 4;
    position = skipBlanks(bytes, end);
  }
  return offsets.subarray(0, count);
}

/** The first byte at or after `at` that is no blank. */
export function skipBlanks(bytes: Buffer, at: number): number {
  let position = at;
  while (bytes[position]! <= 0x20) position++;
  return position;
}

/** The end of the value that begins at `at`. */
export function skipValue(bytes: Buffer, at: number): number {
  const first = bytes[at];
  if (first === QUOTE) return skipString(bytes, at);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(bytes, at);
  let position = at;
  while (position < bytes.length && !endsScalar(bytes[position]!)) position++;
  return position > at ? position : malformed(at);
}

const endsScalar = (byte: number): boolean =>
  byte <= 0x20 || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET;

function skipNested(bytes: Buffer, at: number): number {
  let depth = 0;
  for (let position = at; position < bytes.length; position++) {
    const byte = bytes[position];
    if (byte === QUOTE) position = skipString(bytes, position) - 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return position + 1;
  }
  return malformed(bytes.length);
}

function skipString(bytes: Buffer, at: number): number {
  for (let position = expect(bytes, at, QUOTE); position < bytes.length; position++) {
    if (bytes[position] === BACKSLASH) position++;
    else if (bytes[position] === QUOTE) return position + 1;
  }
  return malformed(bytes.length);
}

const expect = (bytes: Buffer, at: number, byte: number): number => (bytes[at] === byte ? at + 1 : malformed(at));

function malformed(at: number): never {
  throw new SyntaxError(`malformed at byte ${at + 1}`);
}
