// Which versions stay: all of the last minutes, the newest ones, then the last one of each hour and of each day.
import type { Version } from "../manifest.js";

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
  return versions.slice(0, -Math.max(1, newest)).filter((version, i) => {
    const next = versions[i + 1]!.data_version;
    const age = now.getTime() - Date.parse(next);
    const endsIts = (length: number): boolean => version.data_version.slice(0, length) !== next.slice(0, length);
    return age > grace && !(age <= HOURLY_FOR && endsIts(HOUR)) && !(age <= retention && endsIts(DAY));
  });
}
