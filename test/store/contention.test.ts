// Work that others are faster with begins again, with pauses, and gives up after a while.
import { expect, test } from "vitest";
import { OperatorError } from "../../src/errors.js";
import { openLake } from "../../src/lake/lake.js";
import { readTokens } from "../../src/lake/tokens.js";
import { layoutOf } from "../../src/lake/layout.js";
import { LostRaceError, untilWon, type Timing } from "../../src/store/contention.js";
import { createToken } from "../../src/store/tokens.js";
import { mirrorAt, newAddress, newMirror, pull } from "../support/mirrors.js";
import { dropFactors, servedRows } from "../support/upkeep.js";

/** A clock that only pauses and attempts move on. */
function testClock(random = 0.5): Timing & { now: number; readonly pauses: number[] } {
  const timing = {
    now: 0,
    pauses: [] as number[],
    clock: () => timing.now,
    random: () => random,
    pause: (ms: number) => {
      timing.pauses.push(ms);
      timing.now += ms;
      return Promise.resolve();
    },
  };
  return timing;
}

/** Loses the first `losses` times, and takes `takes` milliseconds each time. */
function losing(losses: number, timing: ReturnType<typeof testClock>, takes = 0) {
  const tried = { count: 0 };
  const attempt = (): Promise<string> => {
    timing.now += takes;
    return ++tried.count > losses ? Promise.resolve("won") : Promise.reject(new LostRaceError());
  };
  return { attempt, tried };
}

test("what loses a hundred races in a row still wins, after random pauses that double up to two seconds", async () => {
  const timing = testClock();
  const { attempt, tried } = losing(100, timing);
  expect(await untilWon("the rows", attempt, timing)).toBe("won");
  expect(tried.count).toBe(101);
  expect(timing.pauses.slice(0, 8)).toEqual([12.5, 25, 50, 100, 200, 400, 800, 1_000]);
  expect(Math.max(...timing.pauses)).toBe(1_000);
  const lucky = testClock(0);
  await untilWon("the rows", losing(5, lucky).attempt, lucky);
  expect(lucky.pauses).toEqual([0, 0, 0, 0, 0]);
});

test("what loses for ten minutes gives up, and says what to do", async () => {
  const timing = testClock();
  const { attempt, tried } = losing(Infinity, timing);
  const error = await untilWon("state/tokens.json", attempt, timing).catch((reason: unknown) => reason as Error);
  expect(error).toBeInstanceOf(OperatorError);
  expect((error as Error).message).toBe(
    `other writers keep changing state/tokens.json: each of ${tried.count} tries came too late, and nothing was changed; ` +
      "stop the others, such as tapehouse serve without --no-watch on another machine, or try again when they have less to do",
  );
  expect(timing.now).toBeGreaterThan(600_000);
  expect(timing.now).toBeLessThan(602_000);
});

test("what takes an hour is tried five times", async () => {
  const timing = testClock();
  const { attempt, tried } = losing(Infinity, timing, 3_600_000);
  await expect(untilWon("the rows", attempt, timing)).rejects.toThrow("each of 5 tries");
  expect(tried.count).toBe(5);
});

test("other errors are not tried again", async () => {
  let tries = 0;
  const attempt = (): Promise<never> => {
    tries++;
    return Promise.reject(new OperatorError("no"));
  };
  await expect(untilWon("the rows", attempt, testClock())).rejects.toThrow("no");
  expect(tries).toBe(1);
});

const NO_LIMITS = { entities: null, expires: null };

/** How many races in a row are lost, each to a rival that really writes. */
const LOSSES = 5;

test("an import that loses its version to another writer again and again adds its rows to those of the others", async () => {
  const address = await newAddress("folder");
  const [root, rival] = [await newMirror(address), await newMirror(address)];
  const { objects } = await mirrorAt(root);
  const create = objects.create.bind(objects);
  let lost = 0;
  objects.create = async (key, content) => {
    if (key.startsWith("state/versions/") && lost < LOSSES) {
      lost++;
      await dropFactors(rival, [`00000${lost}.SZ,20240102,${lost}`]);
    }
    return create(key, content);
  };
  const { version } = await dropFactors(root, ["000009.SZ,20240102,9"]);
  expect([lost, version!.sequence]).toEqual([LOSSES, LOSSES + 1]);
  expect(await servedRows(root)).toHaveLength(LOSSES + 1);
  await pull(rival);
  expect((await openLake(rival)).current().version).toEqual(version);
});

test("a token that is created while others create theirs loses none of them", async () => {
  const address = await newAddress("folder");
  const [root, rival] = [await newMirror(address), await newMirror(address)];
  const now = new Date();
  await createToken(root, "first", NO_LIMITS, now);
  const { objects } = await mirrorAt(root);
  const replaceIf = objects.replaceIf.bind(objects);
  let lost = 0;
  objects.replaceIf = async (key, content, tag) => {
    if (key === "state/tokens.json" && lost < LOSSES) await createToken(rival, `rival${++lost}`, NO_LIMITS, now);
    return replaceIf(key, content, tag);
  };
  await createToken(root, "last", NO_LIMITS, now);
  expect(lost).toBe(LOSSES);
  const { tokens } = await readTokens(layoutOf(root).tokens);
  expect(tokens).toHaveLength(LOSSES + 2);
});
