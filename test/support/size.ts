// How much a run does: `npm test` has to be quick, the long run of CI and `npm run test:long` leaves nothing out.
import { test } from "vitest";

const { env } = process;

/** Whether this is the long run. */
export const isLong = env["TAPEHOUSE_LONG"] === "1";

/** A test that only the long run needs. */
export const longTest = test.runIf(isLong);

/** Of the variants of a test, the first ones; in the long run all of them. */
export const someOf = <T>(variants: readonly T[], quick = 1): readonly T[] =>
  isLong ? variants : variants.slice(0, quick);

/** A number of a suite: what the variable `TAPEHOUSE_<name>` says, otherwise that of the quick or of the long run. */
export const size = (name: string, quick: number, long = quick): number =>
  Number(env[`TAPEHOUSE_${name}`] ?? (isLong ? long : quick));

const EVERY = size("STEPS", 25, 1);

/** Of all steps at which work may end, those to look at: every twenty-fifth, or as given, and the last, or in the long run all of them. */
export const someSteps = <T>(steps: readonly T[], every = EVERY): readonly T[] =>
  steps.filter((_, i) => i % every === 0 || i === steps.length - 1);
