// Which drops are taken next, and which side by side.
import { describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import {
  nextStep,
  type LotSize,
  type FileHistory,
  type PendingDrop,
  type RunningLot,
  type Step,
} from "../../src/inbox/lots.js";

const LARGE = 100e6;

/** Files given as `entity/name`, or `entity/name` and their size. */
const waiting = (...files: readonly (string | readonly [string, number])[]): readonly PendingDrop[] =>
  files.map((given) => {
    const [path, size] = typeof given === "string" ? [given, 100] : given;
    return {
      file: { path, size, kind: "file", mtime: 0, isReplaced: false },
      entity: entityNamed(path.split("/")[0]!)!,
    };
  });

const NO_PAST: FileHistory = { failures: () => 0, isSuspect: () => false, isSlow: () => false };
const NOW = 100_000;

interface Given {
  readonly running?: Readonly<Record<string, LotSize | RunningLot>>;
  readonly turns?: Readonly<Record<string, number>>;
  readonly past?: FileHistory;
}

const step = (files: readonly PendingDrop[], given: Given = {}): Step => {
  const running = Object.entries(given.running ?? {}).map(
    ([name, lot]) => [name, typeof lot === "string" ? { size: lot, since: NOW, isStopping: false } : lot] as const,
  );
  const turns = new Map(Object.entries(given.turns ?? {}));
  return nextStep(files, new Map(running), turns, given.past ?? NO_PAST, NOW);
};

/** Each lot that begins as its size and the names of its files. */
const lots = (files: readonly PendingDrop[], given: Given = {}): readonly string[] =>
  step(files, given).begin.map(({ size, files: chosen }) => `${size} ${chosen.map(({ file }) => file.path).join(" ")}`);

describe("drops of one entity", () => {
  test("are imported together in order, small and large ones separately", () => {
    const files = waiting("daily/a", "daily/b", ["daily/c", LARGE], "daily/d");
    expect(lots(files)).toEqual(["small daily/a daily/b"]);
    expect(lots(files.slice(2))).toEqual(["large daily/c"]);
  });

  test("wait while others of the entity are imported", () => {
    expect(lots(waiting("daily/a", "weekly/a"), { running: { daily: "large" } })).toEqual(["small weekly/a"]);
  });

  test("are at most 5,000 files or 1 GiB at once", () => {
    const many = Array.from({ length: 6_000 }, (_, i) => `daily/${i}`);
    expect(lots(waiting(...many))[0]!.split(" ")).toHaveLength(5_001);
    const large = Array.from({ length: 12 }, (_, i) => [`daily/${i}`, LARGE] as const);
    expect(lots(waiting(...large))[0]!.split(" ")).toHaveLength(11);
  });

  test("are a large lot if many small ones are large together", () => {
    const of = (count: number) => waiting(...Array.from({ length: count }, (_, i) => [`daily/${i}`, 1e6] as const));
    expect(lots(of(100))[0]).toMatch(/^small /);
    expect(lots(of(200))[0]).toMatch(/^large /);
    expect(lots(of(200), { running: { weekly: "large" } })).toEqual([]);
    expect(lots([...of(200), ...waiting("weekly/a", "monthly/a")]).slice(1)).toEqual([
      "small weekly/a",
      "small monthly/a",
    ]);
  });
});

describe("entities in parallel", () => {
  test("small drops have slots that large ones cannot use", () => {
    const files = waiting(["daily/a", LARGE], ["weekly/a", LARGE], "monthly/a");
    expect(lots(files)).toEqual(["large daily/a", "small monthly/a"]);
    expect(lots(files.slice(1), { running: { daily: "large" } })).toEqual(["small monthly/a"]);
    expect(lots(files, { running: { adj_factor: "small", stk_limit: "small" } })).toEqual(["large daily/a"]);
  });

  test("the one whose last turn is longest ago comes first", () => {
    const files = waiting("daily/a", "weekly/a", "monthly/a", "adj_factor/a");
    expect(lots(files, { turns: { daily: 5, weekly: 3, monthly: 4 } })).toEqual([
      "small adj_factor/a",
      "small weekly/a",
    ]);
  });
});

describe("files that failed before", () => {
  const past = (failures: number, failed: (path: string) => boolean = (path) => path === "daily/b"): FileHistory => ({
    ...NO_PAST,
    failures: ({ path }) => (failed(path) ? failures : 0),
    isSuspect: ({ path }) => failures > 1 && failed(path),
  });

  test("are imported without others of their entity, with the memory of a large one", () => {
    const files = waiting("daily/a", "daily/b", "daily/c");
    expect(lots(files, { past: past(1) })).toEqual(["small daily/a"]);
    expect(lots(files.slice(1), { past: past(1) })).toEqual(["large daily/b"]);
  });

  test("are imported 70 at a time after the first failure, so that one of many is soon found", () => {
    const many = waiting(...Array.from({ length: 450 }, (_, i) => `daily/${i}`));
    const all = (): boolean => true;
    expect(lots(many, { past: past(1, all) })[0]!.split(" ")).toHaveLength(71);
    expect(lots(many, { past: past(2, all) })).toEqual(["alone daily/0"]);
  });

  test("are imported alone if they may crash the process", () => {
    const files = waiting("daily/b", "weekly/a");
    expect(lots(files, { past: past(2) })).toEqual(["alone daily/b"]);
    expect(lots(files, { past: past(2), running: { monthly: "small" } })).toEqual(["small weekly/a"]);
    expect(lots(waiting("weekly/a"), { running: { daily: "alone" } })).toEqual([]);
  });
});

describe("a small lot that has run for long", () => {
  /** A small lot that started this many milliseconds ago. */
  const small = (ago: number, isStopping = false): RunningLot => ({ size: "small", since: NOW - ago, isStopping });
  /** What becomes of the running lots, and who begins. */
  const outcome = (
    files: readonly PendingDrop[],
    running: Given["running"] = {},
  ): Record<string, readonly string[]> => {
    const { begin, demote, stop, held } = step(files, { running });
    const names = (some: Step["begin"]): readonly string[] => some.map(({ entity }) => entity.name);
    return { begin: names(begin), demote, stop, held: names(held) };
  };
  const one = waiting("adj_factor/a");

  test("keeps its slot while no other lot waits for it", () => {
    expect(outcome([], { daily: small(60_000), weekly: small(60_000) })).toEqual({
      ...{ begin: [], demote: [], stop: [], held: [] },
    });
    expect(outcome(one, { daily: small(60_000) })).toMatchObject({ begin: ["adj_factor"], demote: [], stop: [] });
  });

  test("becomes slow when another needs its slot and the slow slot is free", () => {
    expect(outcome(one, { daily: small(2_000), weekly: small(3_000) })).toEqual({
      ...{ begin: ["adj_factor"], demote: ["weekly"], stop: [], held: [] },
    });
  });

  test("stops when another needs its slot and the slow slot is in use", () => {
    const running = { daily: small(3_000), weekly: small(2_000), monthly: "slow" } as const;
    expect(outcome(one, running)).toEqual({ begin: [], demote: [], stop: ["daily"], held: ["adj_factor"] });
    const past: FileHistory = { ...NO_PAST, isSlow: ({ path }) => path.startsWith("monthly/") };
    const { begin, stop } = step(waiting("monthly/a", "adj_factor/a"), {
      running: { daily: small(3_000), weekly: small(2_000) },
      past,
    });
    expect([begin.map(({ entity, size }) => [entity.name, size]), stop]).toEqual([[["monthly", "slow"]], ["daily"]]);
  });

  test("stops only if no other slot will soon be free, and no more lots stop than wait", () => {
    const two = waiting("adj_factor/a", "stk_limit/a");
    const running = { daily: small(3_000, true), weekly: small(3_000), monthly: "slow" } as const;
    expect(outcome(one, running)).toMatchObject({ stop: [] });
    expect(outcome(two, running)).toMatchObject({ stop: ["weekly"] });
  });

  test("is not one that started less than two seconds ago, or one that is slow already", () => {
    const running = {
      daily: small(1_999),
      weekly: small(1_999),
      monthly: { ...small(60_000), size: "slow" },
    } as const;
    expect(outcome(one, running)).toEqual({ begin: [], demote: [], stop: [], held: ["adj_factor"] });
  });

  test("is slow from the start the next time, together with the slow files that follow", () => {
    const past: FileHistory = { ...NO_PAST, isSlow: ({ path }) => path !== "daily/c" };
    expect(lots(waiting("daily/a", "daily/b", "daily/c"), { past })).toEqual(["slow daily/a daily/b"]);
  });
});
