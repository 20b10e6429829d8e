// The retention policy: which versions stay.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chinaTime } from "../../src/dates.js";
import { openLake } from "../../src/lake/lake.js";
import type { Version } from "../../src/lake/manifest.js";
import {
  vacuum,
  retentionClock,
  publishedAt,
  removableVersions,
  type RetentionPolicy,
} from "../../src/store/vacuum.js";
import { newLake } from "../support/lakes.js";
import { publishRows } from "../support/lake.js";
import { dropFactors, servedRows } from "../support/upkeep.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const POLICY: RetentionPolicy = { grace: 15 * MINUTE, newest: 5, retention: 90 * DAY };
const START = Date.parse("2026-01-05T09:30:00+08:00");

const versionsAt = (times: readonly number[]): Version[] =>
  times.map((time, i) => ({ sequence: i + 1, data_version: chinaTime(new Date(time)), reason: "", lists: {} }));

const keptAt = (times: readonly number[], now: number, policy = POLICY): readonly string[] => {
  const versions = versionsAt(times);
  const gone = new Set(removableVersions(versions, policy, new Date(now)));
  return versions.filter((version) => !gone.has(version)).map(({ data_version }) => data_version.slice(0, 19));
};

describe("the policy of versions", () => {
  test("keeps everything that was replaced within the grace period, however many versions", () => {
    const times = Array.from({ length: 300 }, (_, i) => START + i * 2_000);
    expect(keptAt(times, START + 10 * MINUTE)).toHaveLength(300);
  });

  test("reduces a day of drops to the newest versions and the last one of each hour", () => {
    const times = Array.from({ length: 4 * 720 }, (_, i) => START + i * 5_000);
    expect(keptAt(times, times.at(-1)! + HOUR)).toEqual([
      ...["2026-01-05T09:59:55", "2026-01-05T10:59:55", "2026-01-05T11:59:55", "2026-01-05T12:59:55"],
      ...["2026-01-05T13:29:35", "2026-01-05T13:29:40", "2026-01-05T13:29:45", "2026-01-05T13:29:50"],
      "2026-01-05T13:29:55",
    ]);
  });

  test("keeps the last version of each day for the retention period", () => {
    const times = Array.from({ length: 120 * 24 }, (_, i) => START + i * HOUR);
    const kept = keptAt(times, times.at(-1)!);
    const days = kept.filter((version) => version.slice(11, 13) === "23");
    expect(days.length).toBeGreaterThanOrEqual(90);
    expect(days.length).toBeLessThanOrEqual(92);
    expect(kept.length).toBeLessThan(130);
  });

  test("keeps every version if retention is off", () => {
    const times = Array.from({ length: 50 }, (_, i) => START + i * 1_000);
    expect(keptAt(times, START + 1_000 * DAY, { ...POLICY, retention: null })).toHaveLength(50);
  });

  test("never removes the served version, nor one of the newest", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 2 * DAY }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 0, max: 400 * DAY }),
        fc.integer({ min: 1, max: 10 }),
        (steps, later, newest) => {
          let time = START;
          const versions = versionsAt(steps.map((step) => (time += step)));
          const policy = { ...POLICY, newest };
          const gone = removableVersions(versions, policy, new Date(time + later));
          const safe = versions.slice(-newest);
          expect(gone.filter((version) => safe.includes(version))).toEqual([]);
        },
      ),
    );
  });

  test("keeps the same versions in many small steps as in one, and hardly more", () => {
    const times = Array.from({ length: 200 }, (_, i) => START + i * 7 * MINUTE);
    const end = times.at(-1)! + 3 * HOUR;
    let left = versionsAt(times);
    for (let now = START; now <= end; now += 10 * MINUTE) {
      const here = left.filter(({ data_version }) => Date.parse(data_version) <= now);
      const gone = new Set(removableVersions(here, POLICY, new Date(now)));
      left = left.filter((version) => !gone.has(version));
    }
    const gone = new Set(removableVersions(left, POLICY, new Date(end)));
    const kept = left.filter((version) => !gone.has(version)).map(({ data_version }) => data_version.slice(0, 19));
    const atOnce = keptAt(times, end);
    expect(kept).toEqual(expect.arrayContaining([...atOnce]));
    expect(kept.length - atOnce.length).toBeLessThanOrEqual(1);
  });
});

describe("after a wrong clock", () => {
  const at = (text: string): number => Date.parse(`${text}+08:00`);
  /** Versions published one after another, each at the given time of the clock. */
  const published = (...clocks: readonly number[]): Version[] => {
    let last = -Infinity;
    return clocks.map((clock, i) => {
      const isBehind = clock <= last;
      last = Math.max(clock, last + 1);
      const stamp = isBehind ? { published: chinaTime(new Date(clock)) } : {};
      return { sequence: i + 1, data_version: chinaTime(new Date(last)), ...stamp, reason: "", lists: {} };
    });
  };

  test("versions stamped in the future are thinned by the day and hour of their publication", () => {
    const days = Array.from({ length: 40 }, (_, i) => START + i * DAY);
    const hours = days.flatMap((day) => [0, 1, 2, 3].map((hour) => day + hour * HOUR));
    const versions = published(START - DAY, at("2099-01-01T00:00:00"), ...hours);
    const now = new Date(hours.at(-1)! + HOUR);
    const gone = new Set(removableVersions(versions, { ...POLICY, newest: 1 }, now));
    const kept = versions.filter((version) => !gone.has(version));
    expect(kept.map(({ sequence }) => sequence)).toEqual(
      [1, ...days.map((_, i) => 6 + 4 * i).slice(0, -1), 159, 160, 161, 162].sort((a, b) => a - b),
    );
  });

  test("a version published after the clock was set back is as old as the one before it", () => {
    const versions = published(START, at("1970-01-02T00:00:00"), START + DAY, START + 2 * DAY);
    expect(publishedAt(versions, new Date(START + 3 * DAY))).toEqual([START, START + 1, START + DAY, START + 2 * DAY]);
    const back = published(at("2099-01-01T00:00:00"), at("1970-01-02T00:00:00"), START);
    expect(publishedAt(back, new Date(START + DAY)).at(-1)).toBe(START);
  });

  test("no version is removed after the clock was set back", () => {
    const versions = published(...Array.from({ length: 60 }, (_, i) => START + i * HOUR));
    expect(removableVersions(versions, POLICY, new Date(at("1970-01-02T00:00:00")))).toEqual([]);
  });

  test("a vacuum removes versions stamped in the future once their successors are old", async () => {
    const root = await newLake();
    const clocks = [START, at("2099-01-01T00:00:00"), START + HOUR, START + 2 * HOUR];
    for (const [i, clock] of clocks.entries()) await dropFactors(root, [`000001.SZ,20240102,${i}`], new Date(clock));
    const versions = await (await openLake(root)).versions();
    expect(versions.map(({ data_version }) => data_version)).toEqual([
      ...["2026-01-05T09:30:00.000+08:00", "2099-01-01T00:00:00.000+08:00"],
      ...["2099-01-01T00:00:00.001+08:00", "2099-01-01T00:00:00.002+08:00"],
    ]);
    const early = await vacuum(root, { olderThan: 2 * HOUR, keep: 1, now: new Date(START + 2 * HOUR) });
    expect(early.removed).toEqual([]);
    const late = await vacuum(root, { olderThan: 2 * HOUR, keep: 1, now: new Date(START + 3 * HOUR) });
    expect(late.removed).toEqual(versions.slice(0, 2).map(({ data_version }) => data_version));
    expect(await servedRows(root)).toEqual(['["000001.SZ","2024-01-02",3]']);
  });
});

describe("the clock of retention", () => {
  test("follows a clock that is set back at once, and one that jumps ahead after a day", () => {
    let [wall, steady] = [START, 0];
    const clock = retentionClock(
      () => new Date(wall),
      () => steady,
    );
    const after = (ms: number): number => {
      wall += ms;
      steady += ms;
      return clock().getTime();
    };
    expect(after(HOUR)).toBe(START + HOUR);
    wall += 73 * 365 * DAY;
    expect(after(HOUR)).toBe(START + 2 * HOUR);
    wall -= 73 * 365 * DAY;
    expect(after(HOUR)).toBe(START + 3 * HOUR);
    wall -= DAY;
    expect(after(HOUR)).toBe(START + 4 * HOUR - DAY);
    wall += 3 * DAY;
    expect(after(HOUR)).toBe(START + 5 * HOUR - DAY);
    expect(after(DAY)).toBe(wall);
  });
});

test("a vacuum by policy removes versions from the middle for good, and leaves the others intact", async () => {
  const root = await newLake();
  for (let i = 1; i <= 6; i++) {
    await publishRows(root, {
      adj_factor: `SELECT '000001.SZ' AS ts_code, DATE '2024-01-02' AS trade_date, ${i} AS adj_factor`,
    });
  }
  const before = await (await openLake(root)).versions();
  const now = new Date(Date.parse(before.at(-1)!.data_version) + DAY / 2);
  const policy = { grace: 0, newest: 2, retention: DAY };
  const last = before.map(({ data_version }) => data_version);
  const expected = removableVersions(before, policy, now).map(({ data_version }) => data_version);
  const first = await vacuum(root, { policy, now });
  expect(first.removed).toEqual(expected);
  const again = await vacuum(root, { policy: { ...policy, newest: 1 }, now: new Date(now.getTime() + 10 * DAY) });
  const removed = [...first.removed, ...again.removed];
  const lake = await openLake(root);
  for (const version of last) {
    const found = await lake.at(version);
    if (removed.includes(version)) expect(found).toBe("removed");
    else expect(found).toMatchObject({ version: { data_version: version } });
  }
  expect(removed).toHaveLength(5);
});
