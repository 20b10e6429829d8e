// Which drops are taken next, and which side by side.
import { describe, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { nextLots, type LotSize, type Past, type Readable } from "../../src/inbox/lots.js";

const LARGE = 100e6;

/** Files given as `entity/name`, or `entity/name` and their size. */
const waiting = (...files: readonly (string | readonly [string, number])[]): readonly Readable[] =>
  files.map((given) => {
    const [path, size] = typeof given === "string" ? [given, 100] : given;
    return {
      file: { path, size, kind: "file", mtime: 0, isReplaced: false },
      entity: entityNamed(path.split("/")[0]!)!,
    };
  });

const NO_PAST: Past = { isSingle: () => false, isSuspect: () => false };

interface Given {
  readonly running?: Readonly<Record<string, LotSize>>;
  readonly turns?: Readonly<Record<string, number>>;
  readonly past?: Past;
}

/** Each lot as its size and the names of its files. */
const lots = (files: readonly Readable[], given: Given = {}): readonly string[] => {
  const [running, turns] = [new Map(Object.entries(given.running ?? {})), new Map(Object.entries(given.turns ?? {}))];
  return nextLots(files, running, turns, given.past ?? NO_PAST).map(
    ({ size, files: chosen }) => `${size} ${chosen.map(({ file }) => file.path).join(" ")}`,
  );
};

describe("drops of one entity", () => {
  test("go together in order, small ones and large ones apart", () => {
    const files = waiting("daily/a", "daily/b", ["daily/c", LARGE], "daily/d");
    expect(lots(files)).toEqual(["small daily/a daily/b"]);
    expect(lots(files.slice(2))).toEqual(["large daily/c"]);
  });

  test("wait while others of it are taken", () => {
    expect(lots(waiting("daily/a", "weekly/a"), { running: { daily: "large" } })).toEqual(["small weekly/a"]);
  });

  test("are no more at once than 200 files or 512 MiB", () => {
    const many = Array.from({ length: 450 }, (_, i) => `daily/${i}`);
    expect(lots(waiting(...many))[0]!.split(" ")).toHaveLength(201);
    const large = Array.from({ length: 9 }, (_, i) => [`daily/${i}`, LARGE] as const);
    expect(lots(waiting(...large))[0]!.split(" ")).toHaveLength(6);
  });
});

describe("entities side by side", () => {
  test("small drops have places that large ones cannot take", () => {
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

describe("a file that was tried before", () => {
  const past = (suspect: boolean): Past => ({
    isSingle: ({ path }) => path === "daily/b",
    isSuspect: ({ path }) => suspect && path === "daily/b",
  });

  test("goes without others of its entity, with the memory of a large one", () => {
    const files = waiting("daily/a", "daily/b", "daily/c");
    expect(lots(files, { past: past(false) })).toEqual(["small daily/a"]);
    expect(lots(files.slice(1), { past: past(false) })).toEqual(["large daily/b"]);
  });

  test("goes while nothing else does where it may kill the process", () => {
    const files = waiting("daily/b", "weekly/a");
    expect(lots(files, { past: past(true) })).toEqual(["alone daily/b"]);
    expect(lots(files, { past: past(true), running: { monthly: "small" } })).toEqual(["small weekly/a"]);
    expect(lots(waiting("weekly/a"), { running: { daily: "alone" } })).toEqual([]);
  });
});
