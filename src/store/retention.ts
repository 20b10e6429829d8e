// Which versions stay: all of the last minutes, the newest ones, then the last one of each hour and of each day.
import { chinaTime } from "../dates.js";
import type { Version } from "../lake/manifest.js";

export interface RetentionPolicy {
  /** Milliseconds since a version was replaced for which it stays, come what may: a read or a pager may be on it. */
  readonly grace: number;
  /** So many of the newest versions stay however old they are. */
  readonly newest: number;
  /** Milliseconds for which the last version of each calendar day of China stays; null keeps every version. */
  readonly retention: number | null;
}

/** For so long the last version of each hour stays, in milliseconds. */
const HOURLY_FOR = 86_400_000;

/** Characters of a data_version that name its day and its hour. */
const DAY = "1970-01-01".length;
const HOUR = "1970-01-01T00".length;

/** The versions (oldest first, the last one is served) that the policy does not keep. */
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
 * When each version (oldest first) was published, in milliseconds, ascending. A `data_version` in the future was given by
 * a wrong clock, and those after it follow from it: there the clock of the moment counts, and the next known time where
 * that was wrong too.
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

/** A clock that runs ahead by more than this was set, or the machine was asleep. In milliseconds. */
const JUMP = 60_000;
/** A jump is believed when it has lasted so long. */
const BELIEVED_AFTER = 86_400_000;

/**
 * The time by which versions are removed: it goes on with `steady` (milliseconds that only go forward), and follows a wall
 * clock that jumps ahead only after a day. A clock that is wrong for a while makes no version look old.
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
