// The units, read by systemd itself.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SETTINGS } from "../../src/settings.js";
import { temporaryFolder } from "../support/folders.js";

const ROOT = join(import.meta.dirname, "../..");
const UNITS = ["tapehouse.service", "tapehouse-replica.service"];
const unit = (name: string): string => readFileSync(join(ROOT, "deploy", name), "utf8");
const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

test.each(UNITS)("%s gives answers under way the time that the server gives them", (name) => {
  const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit(name))![1]);
  expect(seconds).toBeGreaterThan(Number(SETTINGS.grace.fallback) + 10);
  expect(unit(name)).toMatch(/^KillMode=mixed$/m);
});

const title = hasSystemd ? "systemd" : "systemd (skipped: systemd-analyze is not installed)";

describe.skipIf(!hasSystemd)(title, () => {
  test.each(UNITS)("understands every line of %s, and counts what it may do as little", async (name) => {
    const path = join(await temporaryFolder(), name);
    const here = unit(name).replace("/usr/bin/node", process.execPath);
    writeFileSync(path, here);
    const verified = spawnSync("systemd-analyze", ["verify", "--man=no", path], { encoding: "utf8" });
    const told = verified.stderr.split("\n").filter((line) => line.includes(name));
    expect([verified.status, told]).toEqual([0, []]);
    const rated = spawnSync("systemd-analyze", ["security", "--offline=true", "--threshold=25", path], {
      encoding: "utf8",
    });
    expect([rated.status, rated.stdout.split("\n").at(-2)]).toEqual([0, expect.stringContaining("exposure level")]);
  });
});
