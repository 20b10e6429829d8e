// On which trading days no row of a stock is expected, by the rules of the exchanges. Each rule may excuse too little,
// never a whole period: what it does not know stays a gap until an operator excuses it.
import type { GapRule } from "./types.js";

/** Whether a row is expected of each stock. */
export const isByStock = (rule: GapRule): boolean => rule === "every_stock" || rule === "every_limit";

/** A part of the market with rules of its own. */
interface Board {
  readonly name: string;
  readonly codes: RegExp;
  /** The first trading day of its exchange if stocks were listed elsewhere before, `YYYYMMDD`; else null. */
  readonly opened: string | null;
  /** How many trading days from its listing on a stock has no price limit, by the day of listing; newest first. */
  readonly freeDays: readonly { readonly listedFrom: string; readonly days: number }[];
}

/** The first board whose codes match is that of a stock. */
const BOARDS: readonly Board[] = [
  {
    name: "STAR market",
    codes: /^68[89]\d{3}\.SH$/,
    opened: null,
    freeDays: [{ listedFrom: "20190722", days: 5 }],
  },
  {
    name: "ChiNext",
    codes: /^30\d{4}\.SZ$/,
    opened: null,
    freeDays: [
      { listedFrom: "20200824", days: 5 },
      { listedFrom: "20091030", days: 1 },
    ],
  },
  {
    name: "Beijing",
    codes: /\.BJ$/,
    // Its first stocks have the listing date of the market on which they were traded before.
    opened: "20211115",
    freeDays: [{ listedFrom: "20200727", days: 1 }],
  },
  {
    name: "main boards",
    codes: /\.(?:SH|SZ)$/,
    opened: null,
    freeDays: [
      { listedFrom: "20230410", days: 5 },
      { listedFrom: "19901219", days: 1 },
    ],
  },
];

/** What `namechange` calls a stock from the first day of its delisting period on, which has no price limit. */
export const isDelistingName = (name: string): boolean => name.includes("退");

/** A stock is delisted at most this many trading days after its last one. */
export const DAYS_TO_DELISTING = 5;

const boardOf = (code: string): Board | undefined => BOARDS.find(({ codes }) => codes.test(code));

/** The day from which rows of a stock are expected, given its day of listing, `YYYYMMDD`. */
export function firstExpected(code: string, listed: string): string {
  const opened = boardOf(code)?.opened ?? listed;
  return opened > listed ? opened : listed;
}

/** How many trading days a stock that was listed on a day, `YYYYMMDD`, has no price limit. */
export const freeDaysOf = (code: string, listed: string): number =>
  boardOf(code)?.freeDays.find(({ listedFrom }) => listedFrom <= listed)?.days ?? 0;
