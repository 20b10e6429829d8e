// Decides which versions stay: all recent ones, the newest ones, and the last one of each hour and of each day.
import { chinaTime } from "../dates.js";
import type { Version } from "../lake/manifest.js";

export interface RetentionPolicy {
  /** Milliseconds that every version stays after it was replaced, since reads and pagers may still use it. */
  readonly grace: number;
  /** How many of the newest versions stay regardless of age. */
  readonly newest: number;
  /** Milliseconds that the last version of each calendar day in China stays; null keeps every version. */
  readonly retention: number | null;
}

/** How long the last version of each hour stays, in milliseconds. */
const HOURLY_FOR = 86_400_000;

/** Lengths of the prefixes of a data_version that name its day and its hour. */
const DAY = "1970-01-01".length;
const HOUR = "1970-01-01T00".length;

/** The versions that the policy does not keep. `versions` are the kept ones, oldest first; the last one is served. */
export function removableVersions(
  versions: readonly Version[],
  { grace, newest, retention }: RetentionPolicy,
  now: Date,
): readonly Version[] {
  if (retention === null) return [];
  const times = publishedAt(versions, now);
  const labels = times.map((time) => chinaTime(new Date(time)));
  return versions.slice(0, -Math.max(1, newest)).filter((_, i) => {
    const age = now.getTime() - times[i + 1]!;
    const endsIts = (length: number): boolean => labels[i]!.slice(0, length) !== labels[i + 1]!.slice(0, length);
    return age > grace && !(age <= HOURLY_FOR && endsIts(HOUR)) && !(age <= retention && endsIts(DAY));
  });
}

/**
 * When each version (oldest first) was published, in milliseconds, ascending. A `data_version` in the future comes from a
 * wrong clock, or follows one that does. Then `published` counts, and if that is wrong too, the next known time.
 */
export function publishedAt(versions: readonly Version[], now: Date): readonly number[] {
  let last = -Infinity;
  const known = versions.map(({ data_version, published }) => {
    const time = [data_version, published].map((text) => Date.parse(text ?? "")).find((ms) => ms <= now.getTime());
    if (time !== undefined) last = Math.max(last, time);
    return time === undefined ? undefined : last;
  });
  let next = now.getTime();
  return known.map((_, i) => (next = known.at(-1 - i) ?? next)).reverse();
}

/** If the clock is ahead by more than this, it was set, or the machine was suspended. In milliseconds. */
const JUMP = 60_000;
/** A jump is accepted after this many milliseconds. */
const BELIEVED_AFTER = 86_400_000;

/**
 * The clock by which versions are removed. It advances with `steady` (monotonic milliseconds) and accepts a jump of the
 * wall clock into the future only after a day, so that a clock that is wrong for a while makes no version look old.
 */
export function retentionClock(wall: () => Date, steady: () => number): () => Date {
  let offset = wall().getTime() - steady();
  let aheadSince: number | null = null;
  return () => {
    const at = steady();
    const ahead = wall().getTime() - at - offset;
    aheadSince = ahead > JUMP ? (aheadSince ?? at) : null;
    if (aheadSince === null || at - aheadSince >= BELIEVED_AFTER) {
      offset += ahead;
      aheadSince = null;
    }
    return new Date(at + offset);
  };
}
