// Calendar dates of the lake and the API: `YYYYMMDD` text or days since 1970-01-01. No time zones.

const DAY_MS = 86_400_000;

/** `YYYYMMDD` or `YYYY-MM-DD` of a real calendar day → `YYYYMMDD`; anything else → undefined. */
export function parseDate(text: string): string | undefined {
  const match = /^(\d{4})(?:(\d{2})(\d{2})|-(\d{2})-(\d{2}))$/.exec(text);
  if (!match) return undefined;
  const compact = `${match[1]}${match[2] ?? match[4]}${match[3] ?? match[5]}`;
  return formatDays(toDays(compact)) === compact ? compact : undefined;
}

/** `YYYYMMDD` → days since 1970-01-01. */
export function toDays(compact: string): number {
  const ms = Date.UTC(+compact.slice(0, 4), +compact.slice(4, 6) - 1, +compact.slice(6, 8));
  return Math.floor(ms / DAY_MS);
}

/** Days since 1970-01-01 → `YYYYMMDD`. */
export function formatDays(days: number): string {
  return new Date(days * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "");
}

/** `YYYYMMDD` → `YYYY-MM-DD`. */
export function isoDate(compact: string): string {
  return `${compact.slice(0, 4)}-${compact.slice(4, 6)}-${compact.slice(6, 8)}`;
}

/** A moment → ISO 8601 with milliseconds and China's offset, e.g. `2026-01-05T09:30:00.000+08:00`. */
export function chinaTime(moment: Date): string {
  return new Date(moment.getTime() + 8 * 3_600_000).toISOString().replace("Z", "+08:00");
}

/** A duration such as `90d` or `12h` → milliseconds; anything else → undefined. */
export function parseSpan(text: string): number | undefined {
  const match = /^(\d{1,5})([dh])$/.exec(text);
  return match ? Number(match[1]) * (match[2] === "d" ? DAY_MS : DAY_MS / 24) : undefined;
}

/** The date a number of days after another one, or before it if the number is negative. */
export const daysAfter = (date: string, days: number): string => formatDays(toDays(date) + days);

type Period = "week" | "month";

/** The first day of the week or month of a date; weeks begin on Monday. */
export function firstDayOf(date: string, period: Period): string {
  if (period === "month") return `${date.slice(0, 6)}01`;
  const days = toDays(date);
  // 1970-01-01 was a Thursday.
  return formatDays(days - ((days + 3) % 7));
}

/** The last day of the week or month of a date. */
export function lastDayOf(date: string, period: Period): string {
  const first = toDays(firstDayOf(date, period));
  return period === "week" ? formatDays(first + 6) : daysAfter(firstDayOf(formatDays(first + 31), period), -1);
}
