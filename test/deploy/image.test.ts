// The container image itself, where this machine can build and run containers.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect } from "vitest";
import { longTest } from "../support/size.js";

const ROOT = join(import.meta.dirname, "../..");

/** The exit code of the script where containers cannot be built or run. */
const UNABLE = 3;

longTest(
  "the image is built, serves within its limits, and ends without cutting a pull",
  (context) => {
    const script = join(ROOT, "scripts/image.mjs");
    const tag = `tapehouse-test-${process.pid}`;
    const { status, stderr } = spawnSync(process.execPath, [script, "--tag", tag, "--remove"], { encoding: "utf8" });
    if (status === UNABLE) return context.skip(stderr.trim().split("\n").at(-1));
    expect([status, stderr]).toEqual([0, expect.stringMatching(/all checks passed$/m)]);
  },
  1_800_000,
);
