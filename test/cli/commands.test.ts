// What holds for every command.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createProgram, run } from "../../src/cli/program.js";
import { flagOf, settingsOf } from "../../src/settings.js";
import { temporaryFolder } from "../support/folders.js";
import { COMMAND } from "../support/processes.js";

let out = "";
let err = "";

beforeEach(() => {
  out = err = "";
  vi.spyOn(process.stdout, "write").mockImplementation((told) => ((out += String(told)), true));
  vi.spyOn(process.stderr, "write").mockImplementation((told) => ((err += String(told)), true));
});
afterEach(() => void vi.restoreAllMocks());

const leaves = (command: Command, path: readonly string[]): (readonly [readonly string[], Command])[] =>
  command.commands.length === 0
    ? [[path, command]]
    : command.commands.flatMap((sub) => leaves(sub, [...path, sub.name()]));

const COMMANDS = leaves(await createProgram(), []).map(([path, command]) => [path.join(" "), path, command] as const);

test.each(["serve", "ingest", "import", "doctor"] as const)(
  "%s has an option for each of its settings",
  async (name) => {
    const command = (await createProgram(name)).commands.find((one) => one.name() === name)!;
    expect(command.options.map(({ long }) => long)).toEqual(expect.arrayContaining(settingsOf(name).map(flagOf)));
  },
);

/** What only serves, or prints JSON in any case. */
const WITHOUT_JSON = ["serve", "ingest", "follow", "sql", "openapi", "completion"];

describe.each(COMMANDS)("tapehouse %s", (name, path, command) => {
  const mandatory = command.options.filter((option) => option.mandatory);
  const needed = [...command.registeredArguments.map(() => "daily"), ...mandatory.flatMap(({ long }) => [long!, "x"])];

  test("has a help with an example", async () => {
    expect(await run([...path, "--help"])).toBe(0);
    expect(out).toMatch(new RegExp(`Examples?:\n  \\$ tapehouse ${name}`));
    expect(err).toBe("");
  });

  test("refuses an option that it does not know, and one without its value, with exit code 2", async () => {
    expect(await run([...path, ...needed, "--no-such-option"])).toBe(2);
    expect(err).toMatch(/^error: unknown option '--no-such-option'/);
    expect(err).not.toMatch(/\n\s+at /);
    if (!command.options.some(({ long }) => long === "--data")) return;
    err = "";
    expect(await run([...path, ...needed, "--data"])).toBe(2);
    expect(err).toMatch(/^error: option '--data <[a-z]+>' argument missing/);
  });

  test("refuses arguments beyond its own with exit code 2", async () => {
    const takesAny = command.registeredArguments.some(({ variadic }) => variadic);
    expect(takesAny).toBe(name === "import" || name === "check");
    if (takesAny) return;
    expect(await run([...path, ...needed, "one", "more"])).toBe(2);
    expect(err).toMatch(/too many arguments/);
  });

  test("prints JSON if asked for it", () => {
    const hasJson = command.options.some(({ long }) => long === "--json");
    expect(hasJson).toBe(!WITHOUT_JSON.includes(name));
  });
});

test("an unknown command is reported with the nearest one, and exit code 2", async () => {
  expect(await run(["stats"])).toBe(2);
  expect(err).toMatch(/unknown command 'stats'\n\(Did you mean status\?\)/);
});

test("a reader that stops before the end, as `head` does, causes no error", async () => {
  const child = spawn(process.execPath, [...COMMAND, "openapi"], { stdio: "pipe" });
  child.stdout.destroy();
  const [complaint, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect({ complaint, code: code as unknown }).toEqual({ complaint: "", code: 0 });
}, 120_000);

const hasTerminal = spawnSync("script", ["--version"]).status === 0;

describe.skipIf(!hasTerminal)(hasTerminal ? "on a terminal" : "on a terminal (skipped: needs `script`)", () => {
  test("work shows a bar on stderr, tables fit its width, and JSON is never cut", async () => {
    const data = join(await temporaryFolder(), "lake");
    const inTerminal = (args: string): string => {
      const line = `stty cols 55; ${[process.execPath, ...COMMAND].join(" ")} ${args} --data ${data}`;
      return execFileSync("script", ["-qec", line, "/dev/null"], { encoding: "utf8", timeout: 120_000 });
    };
    expect(inTerminal("demo --stocks 10 --days 30")).toMatch(/\r\x1b\[2K[█░]{20} \d+ %.* writing daily/u);
    const versions = inTerminal("versions").trimEnd().split("\r\n");
    expect(versions.map((line) => line.length).every((length) => length <= 55)).toBe(true);
    expect(versions[1]).toMatch(/^ *1 .*…$/);
    expect(inTerminal("versions --json")).toContain("demo 10 stocks, 30 days, seed 1");
  });
});
