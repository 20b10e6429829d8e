// A lake and the requests of its users, made up but the same in every run: which data files does each request read?

/** Pseudo-random numbers from 0 to 1, the same ones for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface File {
  readonly name: string;
  /** In MB. */
  readonly size: number;
}

export interface Request {
  readonly entity: number;
  /** Six digits. */
  readonly code?: string;
  /** `YYYYMMDD`, of one day or of the first day of a range. */
  readonly day: string;
  readonly reads: readonly File[];
}

const ENTITIES = 16;
const YEARS = Array.from({ length: 10 }, (_, i) => 2016 + i);

/** Numbers of the boards' codes: the first, the last, and which share of them is in use. */
const BOARDS = [
  [1, 999, 0.4],
  [1_201, 3_043, 0.55],
  [300_001, 301_600, 0.88],
  [600_000, 605_599, 0.31],
  [688_001, 688_981, 0.6],
  [830_001, 839_999, 0.03],
] as const;

/** Codes in a file of the code copy, and its size; files by date hold half a year. As measured for `daily`. */
const CODES_PER_FILE = 30;
const CODE_FILE = 2.5;
const DATE_FILE = 22;

function codesOf(random: () => number): readonly string[] {
  const all = BOARDS.flatMap(([first, last, share]) =>
    Array.from({ length: last - first + 1 }, (_, i) => first + i).filter(() => random() < share),
  );
  return all.map((code) => String(code).padStart(6, "0"));
}

const codes = codesOf(randomFrom(1));

/** Some stocks are asked for far more often than others: the n-th has a weight of n^-0.8. */
const lots = codes.map((code) => randomFrom(Number(code))());
/** Indices of codes, the most popular first, and the sums of their weights. */
const popular = codes.map((_, i) => i).toSorted((a, b) => lots[a]! - lots[b]!);
const sums = popular.map(
  (
    (sum) => (_: number, i: number) =>
      (sum += (i + 1) ** -0.8)
  )(0),
);

/** The index of a code. */
function someCode(random: () => number): number {
  const at = random() * sums.at(-1)!;
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return popular[low]!;
}

const codeFiles = entityFiles(Math.ceil(codes.length / CODES_PER_FILE), CODE_FILE, "code");
const dateFiles = entityFiles(YEARS.length * 2, DATE_FILE, "date");

function entityFiles(count: number, size: number, kind: string): readonly (readonly File[])[] {
  return Array.from({ length: ENTITIES }, (_, entity) =>
    Array.from({ length: count }, (_, i) => ({ name: `${entity}/${kind}/${i}`, size })),
  );
}

/** All files of the lake, in MB. */
export const LAKE_SIZE = [...codeFiles, ...dateFiles].flat().reduce((sum, { size }) => sum + size, 0);

const dayOf = (year: number, random: () => number): string =>
  `${year}${String(1 + Math.floor(random() * 12)).padStart(2, "0")}${String(1 + Math.floor(random() * 28)).padStart(2, "0")}`;

const halfOf = (day: string): number => (Number(day.slice(0, 4)) - YEARS[0]!) * 2 + (day.slice(4, 6) < "07" ? 0 : 1);

/** One stock in all years, one day of all stocks, or a year of all stocks; half of the days are in the last half-year. */
export function requestsOf(seed: number, shares: { readonly stock: number; readonly day: number }): () => Request {
  const random = randomFrom(seed);
  return () => {
    const entity = Math.floor(random() ** 2 * ENTITIES);
    const kind = random();
    const year = YEARS[Math.floor(random() * YEARS.length)]!;
    if (kind < shares.stock) {
      const at = someCode(random);
      return { entity, code: codes[at]!, day: "", reads: [codeFiles[entity]![Math.floor(at / CODES_PER_FILE)]!] };
    }
    const isRecent = random() < 0.5;
    if (kind < shares.stock + shares.day) {
      const day = isRecent ? `2025${dayOf(2025, () => 0.5 + random() / 2).slice(4)}` : dayOf(year, random);
      return { entity, day, reads: [dateFiles[entity]![halfOf(day)]!] };
    }
    const first = halfOf(`${year}0101`);
    return { entity, day: `${year}0101`, reads: dateFiles[entity]!.slice(first, first + 2) };
  };
}
